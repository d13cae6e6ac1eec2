#!/usr/bin/env bash
# Drives the protocol's own TypeScript client against a host: connections that are lost at
# any byte, hosts that are killed, chats with a question and a tool's terminal, files,
# comments, rights, a race for a claim. What the client makes of actions must be what a
# fresh client is told, and what was typed must have arrived once and in order. PACKAGE is
# the folder of an installed @microsoft/agent-host-protocol, outside of this repository.
# Wants node 20.10 or newer, and leaves nothing behind. RUN chooses scenarios that have it
# in their names.
#
#	scripts/interop.sh PACKAGE [HOST-BINARY]
#	ROUNDS=20 RUN=race scripts/interop.sh PACKAGE
set -eu
package=$(cd "${1:?usage: [ROUNDS=200] [RUN=NAME] interop.sh PACKAGE [HOST-BINARY]}" && pwd)
binary=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
go=${GO:-go}
$go test -c -o "$dir/agent" ./host/agent/acp
[ -n "$binary" ] || { binary=$dir/tandemux; $go build -o "$binary" ./cmd/tandemux; }
export HOME=$dir XDG_RUNTIME_DIR=$dir/r XDG_CONFIG_HOME=$dir/config SHELL=/bin/sh
unset XDG_STATE_HOME TANDEMUX_HOST TANDEMUX_TOKEN
trap '"$binary" stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
mkdir -m 700 "$dir/r"
socket=$(node -p 'globalThis.WebSocket ? "" : "--experimental-websocket"')
node $socket --no-warnings scripts/interop/main.mjs "$package" "$binary" "$dir/agent" "$dir"
