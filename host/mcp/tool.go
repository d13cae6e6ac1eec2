package mcp

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/host/guard"
	"tandemux/host/pool"
	"tandemux/internal/plaintext"
)

// limits are what agents are told of; a person may have set others.
var limits = guard.DefaultLimits()

// RunCommand is the tool that agents are given in place of a shell of their own.
const RunCommand = "run_command"

// tools is everything that can be called: the five of the Terminal Tools Reference, and those that
// agents need and hang without.
var tools = []tool{
	row(mcp.Tool{
		Name: "list_terminals", Title: "List terminals", Annotations: looks,
		Description: "List all terminals: id, directory, owner (user or agent), visible, mine, last command. One that has ended says why, and can be read for some minutes. Call it before spawning: what you need may run already.",
	}, listTerminals),
	row(mcp.Tool{
		Name: "read_terminal", Title: "Read a terminal's output", Annotations: looks,
		Description: "Read a terminal's output: the newest 64 KiB as plain text. Spend less with tail, maxBytes, or since: your last answer's cursor, for what is new. view: screen is what the person sees, for full-screen programs.",
	}, readTerminal),
	row(mcp.Tool{
		Name: "spawn_background_terminal", Title: "Start a background terminal", Annotations: acts,
		Description: fmt.Sprintf("Start a program that keeps running (a development server, a watcher); for a command that ends use run_command, which asks about the same. At most %d a minute and %d at once; it ends after %.0f minutes without input and output unless a call waits for it, and when you have been gone for as long. Next: wait_for text; promote_terminal or kill_terminal when done. In a shell (bash, zsh, fish) run_command can work.", limits.Spawns, limits.Terminals, limits.Idle.Minutes()),
	}, spawnTerminal),
	row(mcp.Tool{
		Name: "show_terminal", Title: "Show a terminal", Annotations: shapes,
		Description: "Show a terminal of yours to the person, in a pane beside yours. It stays yours; neither their focus nor their keys move. While it shows, only the person ends it.",
	}, showTerminal),
	row(mcp.Tool{
		Name: "promote_terminal", Title: "Hand a terminal to the person", Annotations: shapes,
		Description: "Give a background terminal of yours to the person, who sees it from then on, when it is stable and useful to them, such as a server that is ready. It is final: you can no longer type into it or kill it.",
	}, promoteTerminal),
	row(mcp.Tool{
		Name: "kill_terminal", Title: "End a terminal", Annotations: ends,
		Description: "End a background terminal of yours and remove it, with its output. Clean up what you no longer need. Killing one that is gone already succeeds; one that is visible or the person's is refused.",
	}, killTerminal),
	row(mcp.Tool{
		Name: RunCommand, Title: "Run a command", Annotations: acts,
		Description: fmt.Sprintf("Run a command: exit code and duration, then its output. Give command (an argument vector) or line (a shell line); with terminalId it runs in the shell of a terminal that you hold, else in one of its own. The person is asked about dangerous uses of %s, of find -delete, eval, devices and pipes into a shell; where nobody answers they are refused: do not respell. After %.0f s, or when it waits for input, the answer says running and gives terminalId and cursor, and the command goes on: wait_for, then read_command. Beyond 16 KiB the middle is left out: tail, maxBytes. Cancelling or hanging up interrupts it; its output stays to be read.", strings.Join(limits.Policy.Commands, ", "), patience.Seconds()),
	}, runCommand),
	row(mcp.Tool{
		Name: "send_input", Title: "Type into a terminal", Annotations: acts,
		Description: "Type into a terminal that you hold: text, then keys by name (enter, ctrl+c, up, esc, f5 …). Text alone presses no Enter. A line for a shell is asked about as by run_command. Next: wait_for or read_terminal.",
	}, sendInput),
	row(mcp.Tool{
		Name: "wait_for", Title: "Wait for a terminal", Annotations: looks,
		Description: fmt.Sprintf("Wait until a terminal's process exits, its running command ends, a line of output matches, or it is quiet. reason: met; timeout (at most %.0f s: call again); input (it waits for input, hint says who may answer); exited, finished (that ended first); overrun (too much output to match). What you wait for is not ended for being quiet; cancelling ends only the wait.", patience.Seconds()),
	}, waitFor),
	row(mcp.Tool{
		Name: "read_command", Title: "Read one command's output", Annotations: looks,
		Description: "Read exactly the output of one command of a terminal, with exit code and duration: the last, the one before (back: 2), the last that failed, or by commandId; up to 16 KiB, or as tail, maxBytes and since (a cursor) say.",
	}, readCommand),
	row(mcp.Tool{
		Name: "claim_terminal", Title: "Ask for a terminal", Annotations: shapes,
		Description: "Take a terminal to type into it. When it is the person's they are asked, with your reason, and may refuse or not answer.",
	}, claimTerminal),
	row(mcp.Tool{
		Name: "release_terminal", Title: "Give a terminal back", Annotations: shapes,
		Description: "Give a terminal that you claimed back to the person.",
	}, promoteTerminal),
}

// Names are those of all tools.
func Names() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return names
}

// outputBytes bounds a command's output in an answer that no bound was given for.
const outputBytes = 16 << 10

// sizes are how much of an output is wanted.
type sizes struct {
	Tail     int `json:"tail,omitempty" jsonschema:"only so many last lines"`
	MaxBytes int `json:"maxBytes,omitempty" jsonschema:"of output, up to 65536"`
}

func (z sizes) check() error {
	if z.Tail < 0 || z.MaxBytes < 0 || z.MaxBytes > pool.HistoryBytes {
		return fmt.Errorf("tail and maxBytes are not negative, and maxBytes is at most %d", pool.HistoryBytes)
	}
	return nil
}

// end is what is wanted of a text's end.
func (z sizes) end(text string, otherwise int) string {
	if z.Tail > 0 {
		from := len(strings.TrimSuffix(text, "\n"))
		for range z.Tail {
			from = strings.LastIndexByte(text[:max(from, 0)], '\n')
		}
		text = text[from+1:]
	}
	return plaintext.Tail(text, cmp.Or(z.MaxBytes, otherwise))
}

// shorten brings an output, of which omitted bytes between head and end are not kept, to what
// is wanted: its end where lines are; else a quarter of it the head, the rest the tail, with a
// line that says what is missing.
func (z sizes) shorten(head string, omitted int64, end string) (string, int64) {
	whole := int64(len(head)+len(end)) + omitted
	if omitted == 0 {
		head, end = head+end, head+end
	}
	if z.Tail > 0 {
		text := z.end(end, outputBytes)
		return text, whole - int64(len(text))
	}
	most := cmp.Or(z.MaxBytes, outputBytes)
	if omitted == 0 && len(head) <= most {
		return head, 0
	}
	head, end = plaintext.Head(head, most/4), plaintext.Tail(end, most-most/4)
	omitted = whole - int64(len(head)+len(end))
	return fmt.Sprintf("%s\n[… %d bytes left out …]\n%s", head, omitted, end), omitted
}
