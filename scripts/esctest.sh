#!/bin/sh
# Runs esctest, a checkout of which is in FOLDER (https://github.com/ThomasDickey/esctest2),
# in a terminal of tandemux as it is built now, and prints which of its cases failed and
# how many passed:
#
#	scripts/esctest.sh FOLDER [ARGUMENT...]
#
# Arguments are esctest's own, such as --include=DECRQM. A run of all fails where fewer
# than 480 pass. It needs python3; the host and its home are its own, and end with it.
set -eu
[ -f "${1:-}/esctest/esctest.py" ] || { echo "usage: $0 FOLDER [ARGUMENT...]: FOLDER has esctest/esctest.py" >&2; exit 2; }
folder=$(cd "$1/esctest" && pwd)
shift
least=480
[ $# -eq 0 ] || least=0
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap '"$dir/bin" stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM
go build -trimpath -o "$dir/bin" ./cmd/tandemux
mkdir -m 700 "$dir/run"
mkdir -p "$dir/.config/tandemux"
printf 'program-checksums = true\nprogram-resize = true\n' >"$dir/.config/tandemux/config.toml"
unset XDG_CONFIG_HOME XDG_STATE_HOME
export HOME="$dir" XDG_RUNTIME_DIR="$dir/run" PYTHONDONTWRITEBYTECODE=1
id=$("$dir/bin" new --background --size 80x25 --cwd "$folder" -- python3 esctest.py \
	--expected-terminal=xterm --max-vt-level=4 --xterm-reverse-wrap=390 --timeout=3 --logfile="$dir/log" "$@")
"$dir/bin" wait --exit "$id" >/dev/null || true
sed -n '/^Failing tests:/,$p' "$dir/log"
cp "$dir/log" "${ESCTEST_LOG:-/dev/null}"
summary=$(grep '^\*\*\* [0-9]* test' "$dir/log") || { echo "esctest did not end" >&2; exit 1; }
echo "$summary"
passed=${summary#\*\*\* }
[ "${passed%% *}" -ge $least ] || { echo "fewer than $least passed" >&2; exit 1; }
