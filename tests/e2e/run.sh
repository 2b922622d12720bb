#!/bin/bash
# The end-to-end run with everything a real desktop has: a display, a session bus, an unlocked throw-away keychain.
# Needs: xvfb dbus dbus-x11 gnome-keyring webkit2gtk-driver fonts-noto-cjk python3-xlib, tauri-driver, Node.
set -euo pipefail
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund
# The system's Python has the system's packages, whichever other one comes first in the path.
for python in python3 /usr/bin/python3; do
  if "$python" -c "import Xlib" 2>/dev/null; then
    export ZHIKU_PYTHON=$python
    break
  fi
done
[ -n "${ZHIKU_PYTHON:-}" ] || { echo "missing: python3-xlib (drops files on the window)" >&2; exit 1; }
world=$(mktemp -d)
trap 'rm -rf "$world" || true' EXIT
export XDG_RUNTIME_DIR="$world/run" XDG_DATA_HOME="$world/keychain"
mkdir -p "$XDG_RUNTIME_DIR" "$XDG_DATA_HOME/keyrings"
chmod 700 "$XDG_RUNTIME_DIR"
# shellcheck disable=SC2016 # expanded by the inner shell
xvfb-run --auto-servernum --server-args="-screen 0 1600x1200x24" dbus-run-session -- bash -c '
  printf "test\n" | gnome-keyring-daemon --unlock --components=secrets --daemonize >/dev/null 2>&1 || true
  exec node "${@:-run.mjs}"
' _ "$@"
