#!/bin/sh
# Runs real agents against a model without a mind on this machine: each is asked to
# run a command and to report what it said, through `tandemux prompt`, and to build a
# program by the tool run_command of `tandemux mcp`, below tandemux and on its own; Claude
# Code makes a team in panes (`-args -record` writes what it sends for that anew). Nothing
# leaves the machine but npm's downloads. The agents go into the folder named by the first
# argument, outside of this repository; Node 20 or later is needed.
#
#	scripts/real-agents.sh /tmp/agents [-run TestRealAgents/gemini]
set -eu
folder=${1:?usage: real-agents.sh FOLDER [go test arguments]}
shift
cd "$(dirname "$0")/.."
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
case $folder in "$PWD"*) echo "choose a folder outside of the repository" >&2; exit 2 ;; esac
[ -f "$folder/package.json" ] || echo '{"private": true}' >"$folder/package.json"
npm install --no-audit --no-fund --prefix "$folder" \
	@zed-industries/claude-code-acp@0.16.2 \
	@agentclientprotocol/claude-agent-acp@0.49.0 \
	@google/gemini-cli@0.61.0 \
	@zed-industries/codex-acp@0.16.0 \
	opencode-ai@1.18.33 \
	@anthropic-ai/claude-code@2.1.332
TANDEMUX_REAL_AGENTS=$folder exec "${GO:-go}" test ./cmd/tandemux -count=1 -v -run TestRealAgents -timeout 20m "$@"
