package ui_test

import (
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/emulator"
)

// Program is what runs in a terminal: it gets what is typed.
type Program func(t *Terminal, input string)

// Terminal is a terminal of the host.
type Terminal struct {
	URI    ahp.URI
	Input  []string // everything typed, in pieces as it came
	Prompt string   // printed when a command has ended

	Env   map[string]string // as it was created
	host  *Host
	state ahp.TerminalState
	parts ahp.TerminalState // whose content has the commands, once there are any
	ran   int
	em    emulator.Emulator
	meta  ahp.TerminalMeta
	title string // without the name
	run   Program
}

// Shell echoes what is typed and answers each line with a prompt.
func Shell(t *Terminal, input string) {
	for _, r := range input {
		switch r {
		case '\r':
			t.Print("\r\n$ ")
		case 0x7f:
			t.Print("\b \b")
		case 0x03:
			t.Print("^C\r\n$ ")
		default:
			t.Print(string(r))
		}
	}
}

// Print is output of the terminal's program.
func (t *Terminal) Print(s string) {
	t.em.Write([]byte(s))
	t.em.Events()
	t.tell(ahp.TerminalData{Data: s})
}

// tell sequences an action of the host's own about the terminal's content.
func (t *Terminal) tell(a ahp.Action) {
	t.parts = ahp.ReduceTerminal(t.parts, a)
	t.host.emit(t.URI, a, nil)
}

// Detect says that the terminal's shell marks its commands.
func (t *Terminal) Detect() {
	t.state.SupportsCommandDetection = true
	t.tell(ahp.TerminalCommandDetectionAvailable{})
}

// Begin starts a command at the prompt, as a shell would that echoes its line.
func (t *Terminal) Begin(line string) {
	t.Print(strings.ReplaceAll(line, "\n", "\r\n> ") + "\r\n")
	t.ran++
	t.state.SupportsCommandDetection = true
	t.tell(ahp.TerminalCommandExecuted{CommandID: fmt.Sprint("c", t.ran), CommandLine: line, Timestamp: t.host.Now})
	t.meta.LastCommand = &ahp.CommandInfo{ID: fmt.Sprint("c", t.ran), CommandLine: line, Timestamp: t.host.Now, Running: true}
	t.host.list()
}

// End finishes the command that runs and prompts; a negative code is an unknown
// one.
func (t *Terminal) End(code int, ms int64) {
	a := ahp.TerminalCommandFinished{CommandID: fmt.Sprint("c", t.ran), DurationMs: &ms}
	if code >= 0 {
		a.ExitCode = &code
	}
	t.tell(a)
	if last := t.meta.LastCommand; last != nil {
		done := *last
		done.Running, done.ExitCode, done.DurationMs = false, a.ExitCode, a.DurationMs
		t.meta.LastCommand = &done
		t.host.list()
	}
	t.Print(t.Prompt)
}

// Run is a whole command.
func (t *Terminal) Run(line, output string, code int) {
	t.Begin(line)
	t.Print(output)
	t.End(code, 1234)
}

// do carries an action out and lists the terminal anew.
func (t *Terminal) do(a ahp.Action) {
	t.state = ahp.ReduceTerminal(t.state, a)
	t.host.emit(t.URI, a, nil)
	t.host.list()
}

// Claim gives the terminal to somebody.
func (t *Terminal) Claim(c ahp.Claim) { t.do(ahp.TerminalClaimed{Claim: c}) }

// Holder gives the claim.
func (t *Terminal) Holder() ahp.Claim { return t.state.Claim }

// Size is the terminal's size.
func (t *Terminal) Size() (cols, rows int) { return t.state.Cols, t.state.Rows }

// Resize is another client's change of the size.
func (t *Terminal) Resize(cols, rows int) {
	t.em.Resize(cols, rows)
	a := ahp.TerminalResized{Cols: cols, Rows: rows}
	t.state = ahp.ReduceTerminal(t.state, a)
	t.host.emit(t.URI, a, &ahp.Origin{ClientID: "other", ClientSeq: 1})
}

// SetTitle is the program's change of its title.
func (t *Terminal) SetTitle(s string) { t.do(ahp.TerminalTitleChanged{Title: s}) }

// Name is what clients have named it.
func (t *Terminal) Name() string { return t.meta.Name }

// Person is who the holding client belongs to.
func (t *Terminal) Person(name string) {
	t.Describe(func(m *ahp.TerminalMeta) { m.Principal = name })
}

// Describe changes what the list says of a terminal.
func (t *Terminal) Describe(change func(*ahp.TerminalMeta)) {
	change(&t.meta)
	t.host.list()
}

// Exit ends the program with a code, or by a signal if one is named.
func (t *Terminal) Exit(code int, signal string) {
	a := ahp.TerminalExited{}
	if signal == "" {
		a.ExitCode = &code
	}
	t.meta.Signal = signal
	t.do(a)
}

// Typed is everything typed into the terminal.
func (t *Terminal) Typed() string { return strings.Join(t.Input, "") }

// Attend changes what a terminal has to tell.
func (t *Terminal) Attend(change func(*ahp.Attention)) {
	row := t.host.activity.Terminals[t.URI]
	change(&row)
	t.host.tell(ahp.AttentionChanged{Terminal: t.URI, Attention: &row}, nil)
}

// Attention is what a terminal has to tell.
func (t *Terminal) Attention() ahp.Attention { return t.host.activity.Terminals[t.URI] }
