#!/bin/bash
# The end-to-end run with everything a real desktop has: a display, a session bus, an unlocked throw-away keychain.
# Needs: xvfb dbus dbus-x11 gnome-keyring webkit2gtk-driver fonts-noto-cjk, tauri-driver, python3 with python-xlib, Node.
set -euo pipefail
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
export XDG_RUNTIME_DIR="$world/run" XDG_DATA_HOME="$world/keychain"
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_DATA_HOME/keyrings"
chmod 700 "$XDG_RUNTIME_DIR"
# shellcheck disable=SC2016 # expanded by the inner shell
xvfb-run --auto-servernum --server-args="-screen 0 1600x1200x24" dbus-run-session -- bash -c '
  printf "test\n" | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null 2>&1 || true
  exec node "${1:-run.mjs}"
' _ "$@"
