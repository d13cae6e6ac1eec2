package terminal

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/shell"
	"tandemux/host/terminal/output"
)

const (
	// maxCommands bounds the commands that a terminal remembers.
	maxCommands = 500
	// maxOutputs bounds the kept output of finished commands, in bytes. The oldest
	// command's is dropped first, as a whole.
	maxOutputs = 1 << 20
	// maxLines bounds the remembered command lines, in bytes.
	maxLines = 256 << 10
)

// command is a command that the shell ran, or that the terminal was started with.
type command struct {
	info  ahp.CommandInfo
	start time.Time // with the monotonic clock
	// begin and end are its marks in the emulator, 0 for none.
	begin, end uint64
	out        output.Command
}

// commands is the command model of a terminal. screen guards it.
type commands struct {
	tracker shell.Tracker
	list    []*command // oldest first
	running *command   // the last of list, or nil
	count   int        // commands so far; an id is made of it
	mark    uint64     // the last mark in the emulator
	marks   bool       // the engine keeps marks
	// hidden is the number of the last command before the content was cleared: the
	// content has nothing of commands up to it.
	hidden int

	available bool // detection was reported
	prompt    prompt
	// tellsInput says that the shell marks the ends of its prompts: it waits for a
	// command only after such a mark.
	tellsInput bool
	// wanted says that Ready is to be queued when the shell waits for a command.
	wanted bool
	named  naming
}

// naming says that the command of an id, if it is typed, is to be shown as line: the
// client's own line.
type naming struct{ id, typed, line string }

// Name has the command of an id shown as line, if its command line is typed.
func (t *Terminal) Name(id, typed, line string) {
	t.screen.Lock()
	defer t.screen.Unlock()
	t.cmds.named = naming{id, typed, line}
}

// name is the line to show for a command that begins.
func (c *commands) name(id, line string) string {
	n := c.named
	c.named = naming{}
	if n.id == id && strings.TrimSpace(n.typed) == strings.TrimSpace(line) {
		return n.line
	}
	return line
}

// ready reports whether the shell waits for a command.
func (c *commands) ready() bool {
	return c.prompt.shows && (c.prompt.input.ID > 0 || !c.tellsInput)
}

// prompt is what is known of the shell's prompt.
type prompt struct {
	shows bool  // the shell waits for a command
	input place // the end of the prompt; zero when the shell does not mark it
	// skip is the beginnings and ends of secondary prompts after input.
	skip []place
}

// place is a mark in the emulator, with its offset in what viewers were given, by which a
// restored terminal finds it.
type place struct {
	ID uint64
	At uint64 // counted as Terminal.passed
}

// maxSkip bounds prompt.skip. The text of a longer input then includes prompts.
const maxSkip = 2000

// number is the number in a command's id.
func number(id string) int {
	n, _ := strconv.Atoi(id[1:])
	return n
}

// setMark marks the cursor's place.
func (c *commands) setMark(e emulator.Emulator) uint64 {
	c.mark++
	e.Mark(c.mark)
	if c.mark == 1 {
		c.marks = len(e.Marks(nil)) > 0
	}
	return c.mark
}

// place marks the cursor's place. The caller holds screen.
func (t *Terminal) place() place { return place{t.cmds.setMark(t.emu), t.passed} }

// event handles what the shell's marks tell, at the stream's present place. The caller
// holds screen.
func (t *Terminal) event(e shell.Event) {
	c := &t.cmds
	switch e.Kind {
	case shell.Available: // reported once (R23)
		if !c.available {
			c.available = true
			t.push(ahp.TerminalCommandDetectionAvailable{})
			t.retitle()
		}
	case shell.PromptStart:
		c.prompt = prompt{shows: true, skip: c.prompt.skip[:0]}
		if e.Trusted {
			c.tellsInput = e.Ends // an exported PS1, for instance, has no mark
		}
	case shell.PromptEnd:
		c.prompt = prompt{shows: true, input: t.place(), skip: c.prompt.skip[:0]}
		c.tellsInput = true
	case shell.ContinuationStart, shell.ContinuationEnd:
		paired := len(c.prompt.skip)%2 == 1
		if paired == (e.Kind == shell.ContinuationEnd) && c.prompt.input.ID > 0 && len(c.prompt.skip) < maxSkip {
			c.prompt.skip = append(c.prompt.skip, t.place())
		}
	case shell.Executed:
		line := e.CommandLine
		if !e.Known {
			line = t.typedText()
		}
		t.executed(line)
	case shell.Finished:
		t.finished(e.ExitCode)
	case shell.Cwd:
		t.directory(e)
	}
}

func (t *Terminal) directory(e shell.Event) {
	cwd, ok := localDir(e.Dir, e.Host, t.cfg.Hostname)
	if !ok || cwd == t.cwd {
		return
	}
	t.cwd = cwd
	t.push(ahp.TerminalCwdChanged{Cwd: cwd})
	t.retitle()
}

// executed begins a command at the present place (R24).
func (t *Terminal) executed(line string) {
	c := &t.cmds
	c.prompt = prompt{skip: c.prompt.skip[:0]}
	c.available = true
	t.entered.set(false)
	c.count++
	id, now := "c"+strconv.Itoa(c.count), time.Now()
	a := ahp.TerminalCommandExecuted{CommandID: id, CommandLine: c.name(id, line), Timestamp: now.UnixMilli()}
	c.begin(a, now, t.cwd, t.emu, &t.kept)
	t.push(a)
	if t.titles.settled = false; t.cfg.Command == "" {
		t.titles.lookAfter(t.cfg.delays.title)
	}
}

// begin adds the command of an action.
func (c *commands) begin(a ahp.TerminalCommandExecuted, start time.Time, cwd string, e emulator.Emulator, k *kept) {
	c.running = &command{start: start, begin: c.setMark(e), info: ahp.CommandInfo{
		ID: a.CommandID, CommandLine: a.CommandLine, Timestamp: a.Timestamp, Running: true, Cwd: cwd,
	}}
	c.list = append(c.list, c.running)
	c.bound()
	k.cut(c.running)
}

// finished ends the running command at the present place (R25).
func (t *Terminal) finished(code *int) {
	cmd := t.cmds.running
	if cmd == nil {
		return
	}
	a := ahp.TerminalCommandFinished{CommandID: cmd.info.ID, ExitCode: code, DurationMs: new(max(0, time.Since(cmd.start).Milliseconds()))}
	t.cmds.end(a, t.emu, &t.kept)
	t.push(a)
	t.titleEnds()
}

// end ends the running command with what an action tells.
func (c *commands) end(a ahp.TerminalCommandFinished, e emulator.Emulator, k *kept) {
	cmd := c.running
	c.running = nil
	cmd.info.Running, cmd.info.ExitCode, cmd.info.DurationMs = false, a.ExitCode, a.DurationMs
	cmd.end = c.setMark(e)
	c.bound()
	k.cut(nil)
}

// bound enforces maxCommands, maxOutputs and maxLines: the oldest go first.
func (c *commands) bound() {
	lines := 0
	for _, cmd := range c.list {
		lines += len(cmd.info.CommandLine)
	}
	for len(c.list) > maxCommands || lines > maxLines && len(c.list) > 1 {
		lines -= len(c.list[0].info.CommandLine)
		c.list = slices.Delete(c.list, 0, 1)
	}
	held := 0
	for _, cmd := range slices.Backward(c.list) {
		if held += cmd.out.Held(); held > maxOutputs && cmd != c.running {
			cmd.out.Forget()
		}
	}
}

// push queues an action for publish. The caller holds screen.
func (t *Terminal) push(a ahp.Action) {
	t.learnt.Store(true)
	t.fresh.push(a)
}

// typedText is the command line on the screen: from the end of the prompt to the cursor,
// without secondary prompts. It is empty when the engine has no marks or the shell does
// not mark the end of its prompt.
func (t *Terminal) typedText() string {
	p := t.cmds.prompt
	if p.input.ID == 0 {
		return ""
	}
	at := map[uint64]emulator.Mark{}
	for _, m := range t.emu.Marks(nil) {
		at[m.ID] = m
	}
	from, ok := at[p.input.ID]
	if !ok || t.emu.Modes().AltScreen {
		return ""
	}
	cur := t.emu.Cursor()
	end := emulator.Mark{Line: cur.Y, Col: cur.X}
	var b []byte
	for i := 0; i+1 < len(p.skip); i += 2 {
		start, one := at[p.skip[i].ID]
		stop, two := at[p.skip[i+1].ID]
		if !one || !two || before(start, from) || before(stop, start) {
			continue
		}
		b = t.between(b, from, start)
		from = stop
	}
	b = t.between(b, from, end)
	return strings.TrimSpace(string(b[:min(len(b), shell.MaxText)]))
}

func before(a, b emulator.Mark) bool {
	return a.Line < b.Line || a.Line == b.Line && a.Col < b.Col
}

// between appends the text between two marks. A line that was not wrapped ends with a
// newline.
func (d *display) between(b []byte, from, to emulator.Mark) []byte {
	var cells []emulator.Cell
	for y := from.Line; y <= to.Line && len(b) < shell.MaxText; y++ {
		cells = d.emu.Line(y, cells[:0])
		if y == to.Line {
			cells = cells[:min(max(to.Col, 0), len(cells))]
		}
		if y == from.Line {
			cells = cells[min(from.Col, len(cells)):]
		}
		b = emulator.AppendText(b, cells)
		for i := len(cells) - 1; y == to.Line && i >= 0 && (cells[i].Rune == 0 && cells[i].Width == 1 || cells[i].Rune == ' '); i-- {
			b = append(b, ' ') // a blank before the cursor was typed
		}
		if y < to.Line && !d.emu.Wrapped(y) {
			b = append(b, '\n')
		}
	}
	return b
}

// Declined says that Enter was typed and the prompt shows again, but no command began. It
// is for the holder of the terminal only, not for the wire.
type Declined struct{}

// ActionType implements ahp.Action.
func (Declined) ActionType() string { return "host/declined" }

// Ready says that the shell waits for a command, after Keys or Submit had to refuse one.
// It is for the holder of the terminal only, not for the wire.
type Ready struct{}

// ActionType implements ahp.Action.
func (Ready) ActionType() string { return "host/ready" }

// marked handles a mark with this body at the stream's present place.
func (t *Terminal) marked(body []byte) {
	m, ours := shell.Parse(body, t.cfg.Nonce)
	if !ours {
		return
	}
	t.learnt.Store(true)
	c := &t.cmds
	if t.cfg.Command != "" && m.Kind != shell.Directory && m.Kind != shell.Remote {
		return // the whole terminal is one command
	}
	again := !c.tellsInput
	for _, e := range c.tracker.Mark(m) {
		t.event(e)
		again = again || e.Kind == shell.PromptStart
	}
	// The tracker reports only the first of prompts without an end mark.
	if m.Kind == shell.Prompt && !c.tracker.Running && (m.Trusted || t.cfg.Nonce == "") {
		if again && t.entered.set(false) {
			t.push(Declined{})
		}
		c.prompt.shows = true
		t.line.set(false)
	}
	t.echo.prompt.Store(c.ready())
	if c.wanted && c.ready() && !t.unread() {
		c.wanted = false
		t.push(Ready{})
	}
}
