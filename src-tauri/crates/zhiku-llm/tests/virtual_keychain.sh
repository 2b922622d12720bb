#!/bin/sh
# Runs a command in a D-Bus session of its own with an unlocked, empty secret service that is thrown away afterwards.
#
#   virtual_keychain.sh COMMAND [ARGUMENT...]
#
# The service's files are in $ZHIKU_KEYRING_DIR while the command runs. Exit status 77: a needed program is missing.
set -eu

for program in dbus-run-session gnome-keyring-daemon gdbus; do
    if ! command -v "$program" >/dev/null 2>&1; then
        echo "skipped: $program is not installed" >&2
        exit 77
    fi
done

if [ "${ZHIKU_INSIDE_SESSION:-}" != yes ]; then
    home=$(mktemp -d)
    trap 'rm -rf "$home"' EXIT INT TERM
    mkdir -m 700 "$home/runtime" "$home/data" "$home/data/keyrings"
    status=0
    ZHIKU_INSIDE_SESSION=yes ZHIKU_KEYRING_DIR="$home/data" XDG_RUNTIME_DIR="$home/runtime" XDG_DATA_HOME="$home/data" \
        dbus-run-session -- "$0" "$@" || status=$?
    exit "$status"
fi

# The password of the throw-away keyring comes on standard input; the daemon answers once it runs.
echo throw-away | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 &
gdbus wait --session --timeout 20 org.freedesktop.secrets
exec "$@"
