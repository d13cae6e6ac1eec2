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
		Description: "List all terminals: id, directory, owner (user or agent), whether visible, whether yours (mine), the last command. One with ended has ended, says why, and can be read for some minutes. Call it before spawning: what you need may run already.",
	}, listTerminals),
	row(mcp.Tool{
		Name: "read_terminal", Title: "Read a terminal's output", Annotations: looks,
		Description: "Read a terminal's output: the newest 64 KiB, cut at a line, as plain text. To spend less give tail (lines) or maxBytes, and since: the cursor of your last read, for what is new. view: screen is what the person sees, for full-screen programs.",
	}, readTerminal),
	row(mcp.Tool{
		Name: "spawn_background_terminal", Title: "Start a background terminal", Annotations: acts,
		Description: fmt.Sprintf("Start a program that keeps running (a development server, a watcher). An argument vector, not a shell line; blocked are what run_command blocks. At most %d a minute and %d at once. It is ended after %.0f minutes without input and output, unless a call waits for it, and when you have been gone for as long. Next: wait_for text, then promote_terminal or kill_terminal. A shell (bash, zsh, fish) is one that run_command can work in. For a command that ends use run_command.", limits.Spawns, limits.Terminals, limits.Idle.Minutes()),
	}, spawnTerminal),
	row(mcp.Tool{
		Name: "promote_terminal", Title: "Hand a terminal to the person", Annotations: shapes,
		Description: "Give a background terminal of yours to the person, who sees it from then on. Do it when it is stable and useful to them, such as a server that is ready. It is final: you can no longer type into it or kill it.",
	}, promoteTerminal),
	row(mcp.Tool{
		Name: "kill_terminal", Title: "End a terminal", Annotations: ends,
		Description: "End a background terminal of yours and remove it, with its output. Clean up what you no longer need. Killing one that is gone already succeeds; one that is visible or the person's is theirs to end.",
	}, killTerminal),
	row(mcp.Tool{
		Name: "run_command", Title: "Run a command", Annotations: acts,
		Description: fmt.Sprintf("Run a command; the answer is its exit code and duration, then its output. Give command (an argument vector) or line (a shell line). Without terminalId it gets a terminal of its own; with one it runs in the shell of a terminal that you hold. Refused: sudo, rm, chmod, kill and their like, and lines with eval, backticks, $(…) or a pipe into a shell; ask the person instead of trying another spelling. After %.0f seconds, or as soon as it waits for input, the answer says running with the terminal's id and a cursor, and the command goes on: wait_for, then read_command since the cursor. Output beyond 16 KiB loses its middle: tail or maxBytes say what you want. Cancelling the call, or hanging up, interrupts the command; its output stays to be read.", patience.Seconds()),
	}, runCommand),
	row(mcp.Tool{
		Name: "send_input", Title: "Type into a terminal", Annotations: acts,
		Description: "Type into a terminal that you hold: text, then keys by name (enter, ctrl+c, up, esc, f5 …). Text alone presses no Enter: add it to keys. Next: wait_for or read_terminal.",
	}, sendInput),
	row(mcp.Tool{
		Name: "wait_for", Title: "Wait for a terminal", Annotations: looks,
		Description: fmt.Sprintf("Wait until a terminal's process exits, its running command ends, a line of its output matches a pattern (RE2), or it has been quiet for a while. The answer's reason is met, timeout (at most %.0f seconds: call it again), input (it waits for input: hint says who may answer), exited or finished (the process or command ended first) or overrun (too much output to match). Nothing that you wait for is ended for being quiet, and cancelling ends the wait alone.", patience.Seconds()),
	}, waitFor),
	row(mcp.Tool{
		Name: "read_command", Title: "Read one command's output", Annotations: looks,
		Description: "Read exactly the output of one command of a terminal, with exit code and duration: the last one, the one before (back: 2), the last that failed, or by commandId; 16 KiB of it unless tail or maxBytes say otherwise, or what is new since a cursor.",
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
