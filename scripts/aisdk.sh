#!/usr/bin/env bash
# Drives npm's ai and @ai-sdk/react against a task, as a page in a browser would: messages,
# approvals, a page that is loaded again. PACKAGES is the folder that they are installed in,
# outside of this repository: npm install --prefix PACKAGES ai @ai-sdk/react react react-dom jsdom
# Wants node 20 or newer and curl, and leaves nothing behind.
#
#	scripts/aisdk.sh PACKAGES [HOST-BINARY]
set -eu
packages=$(cd "${1:?usage: aisdk.sh PACKAGES [HOST-BINARY]}" && pwd)
binary=${2:+$(realpath "$2")}
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
go=${GO:-go}
$go test -c -o "$dir/agent" ./host/task/api
[ -n "$binary" ] || { binary=$dir/tandemux; $go build -o "$binary" ./cmd/tandemux; }
export HOME=$dir XDG_RUNTIME_DIR=$dir/r XDG_CONFIG_HOME=$dir/config SHELL=/bin/sh
unset XDG_STATE_HOME TANDEMUX_HOST TANDEMUX_TOKEN
trap '"$binary" stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
mkdir -p -m 700 "$dir/r" "$dir/config/tandemux"
cat >"$dir/asks" <<'END'
prompt
call p session/request_permission {"sessionId":"$SESSION","toolCall":{"toolCallId":"$ID","title":"Run make","kind":"execute","rawInput":{"command":"make test"}},"options":[{"optionId":"once","name":"Allow once","kind":"allow_once"},{"optionId":"not","name":"Reject","kind":"reject_once"}]}
update {"sessionUpdate":"tool_call_update","toolCallId":"$ID","status":"completed"}
show p
END
port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
echo "listen = [\"127.0.0.1:$port\"]" >"$dir/config/tandemux/config.toml"
for n in 1 2 3; do sed "s/\$ID/c$n/" "$dir/asks"; done >"$dir/script"
"$binary" task new --agent-command "$dir/agent agent $dir/script" --name web --workspace none --no-sandbox >/dev/null
key=$("$binary" token new --scope admin page 2>/dev/null)
node --no-warnings scripts/aisdk/main.mjs "$packages/node_modules" "http://127.0.0.1:$port/api/v1" web "$key"
