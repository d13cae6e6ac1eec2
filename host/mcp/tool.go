package mcp

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/host/guard"
)

// limits are what agents are told of; a person may have set others.
var limits = guard.DefaultLimits()

// tools is everything that can be called: the five of the Terminal Tools Reference, and those that
// agents need and hang without.
var tools = []tool{
	row(mcp.Tool{
		Name: "list_terminals", Title: "List terminals", Annotations: looks,
		Description: "List all terminals with id, directory, who owns them (user or agent), whether they are visible, and the last command with its exit code. Call it before spawning: what you need may run already.",
	}, listTerminals),
	row(mcp.Tool{
		Name: "read_terminal", Title: "Read a terminal's output", Annotations: looks,
		Description: "Read a terminal's output: the newest 64 KiB, cut at a line, as plain text. Use it to confirm that a server has started, or to see what the person sees (view: screen, for full-screen programs).",
	}, readTerminal),
	row(mcp.Tool{
		Name: "spawn_background_terminal", Title: "Start a background terminal", Annotations: acts,
		Description: fmt.Sprintf("Start a program that keeps running (a development server, a watcher) in a background terminal. It is an argument vector, not a shell line. At most %d a minute and %d at once; it is ended after %.0f minutes without input and output. For a command that ends use run_command. An interactive shell (bash, zsh, fish) is one that run_command can work in.", limits.Spawns, limits.Terminals, limits.Idle.Minutes()),
	}, spawnTerminal),
	row(mcp.Tool{
		Name: "promote_terminal", Title: "Hand a terminal to the person", Annotations: shapes,
		Description: "Give a background terminal of yours to the person, who sees it from then on. Do it when it is stable and useful to them, such as a server that is ready. It is final: you can no longer type into it or kill it.",
	}, promoteTerminal),
	row(mcp.Tool{
		Name: "kill_terminal", Title: "End a terminal", Annotations: ends,
		Description: "End a background terminal of yours and remove it. Clean up what you no longer need. Killing one that is gone already succeeds.",
	}, killTerminal),
	row(mcp.Tool{
		Name: "run_command", Title: "Run a command", Annotations: acts,
		Description: "Run a command and return its output, exit code and duration. Give command (an argument vector) or line (a shell line). Without terminalId it gets a terminal of its own; with one it runs in the shell of a terminal that you hold, with that shell's directory and environment. When timeoutMs is over the command is left running and the answer says so: wait_for and read_command go on from there.",
	}, runCommand),
	row(mcp.Tool{
		Name: "send_input", Title: "Type into a terminal", Annotations: acts,
		Description: "Type into a terminal that you hold: text, then keys by name (enter, ctrl+c, up, esc, f5 …). Text alone presses no Enter: add it to keys.",
	}, sendInput),
	row(mcp.Tool{
		Name: "wait_for", Title: "Wait for a terminal", Annotations: looks,
		Description: "Wait until a terminal's process exits, its running command ends, a line of its output matches a pattern (RE2), or it has been quiet for a while. Always bounded: the answer's reason says whether it was met or timed out.",
	}, waitFor),
	row(mcp.Tool{
		Name: "read_command", Title: "Read one command's output", Annotations: looks,
		Description: "Read exactly the output of one command that a terminal's shell ran, with exit code and duration: the last one, the one before (back: 2), the last that failed, or by commandId.",
	}, readCommand),
	row(mcp.Tool{
		Name: "claim_terminal", Title: "Ask for a terminal", Annotations: shapes,
		Description: "Take a terminal to type into it. When it is the person's they are asked, with your reason, and may refuse or not answer.",
	}, claimTerminal),
	row(mcp.Tool{
		Name: "release_terminal", Title: "Give a terminal back", Annotations: shapes,
		Description: "Give a terminal that you claimed back to the person.",
	}, releaseTerminal),
}

// Names are those of all tools.
func Names() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return names
}
