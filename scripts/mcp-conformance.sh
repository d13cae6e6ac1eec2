#!/usr/bin/env bash
# Runs what others wrote to test MCP servers against tandemux: the MCP inspector's
# command line over stdio and HTTP, and those scenarios of the conformance suite
# that need no fixtures of its own. Wants node 22 or newer, npm and the network;
# leaves nothing behind.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
go build -o "$dir/tandemux" ./cmd/tandemux
export HOME=$dir XDG_RUNTIME_DIR=$dir/r
trap '"$dir/tandemux" stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
mkdir -m 700 "$dir/r"
(cd "$dir" && npm install --silent --no-fund --no-audit @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.1.16 >/dev/null)
inspect() { "$dir/node_modules/.bin/mcp-inspector" --cli "$@"; }
fail=0
check() { # NAME WANTED COMMAND...
	local name=$1 want=$2
	shift 2
	if "$@" 2>&1 | grep -q -e "$want"; then echo "ok    $name"; else echo "FAIL  $name"; fail=1; fi
}
check "inspector, stdio, tools/list" spawn_background_terminal inspect -e "XDG_RUNTIME_DIR=$dir/r" "$dir/tandemux" mcp --method tools/list
check "inspector, stdio, run_command" '"text": "hi there' \
	inspect -e "XDG_RUNTIME_DIR=$dir/r" "$dir/tandemux" mcp --method tools/call --tool-name run_command --tool-arg 'command=["echo","hi there"]'
check "inspector, stdio, an error" 'blocked for security' \
	inspect -e "XDG_RUNTIME_DIR=$dir/r" "$dir/tandemux" mcp --method tools/call --tool-name run_command --tool-arg 'command=["rm","x"]'
"$dir/tandemux" stop >/dev/null 2>&1 || true
url=$("$dir/tandemux" host --listen 127.0.0.1:0 | grep -o '127\.0\.0\.1:[0-9]*' | head -1)
token=$("$dir/tandemux" token new 2>/dev/null | grep -o 'tandemux_[A-Za-z0-9_-]\{20,\}' | head -1)
check "inspector, http, list_terminals" '"text": "\[\]"' \
	inspect "http://$url/mcp" --transport http --header "Authorization: Bearer $token" --method tools/call --tool-name list_terminals
for s in server-initialize logging-set-level ping tools-list resources-list prompts-list server-sse-multiple-streams dns-rebinding-protection; do
	check "conformance, $s" ', 0 failed' \
		"$dir/node_modules/.bin/conformance" server --url "http://$url/mcp?tkn=$token" --scenario "$s"
done
exit $fail
