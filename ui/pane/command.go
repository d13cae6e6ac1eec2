package pane

import (
	"slices"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/ui/motion"
)

const (
	// maxCommands bounds the commands that a feed remembers.
	maxCommands = 4096
	// maxCommandLine bounds a command's line, in bytes.
	maxCommandLine = 64 << 10
	// maxCommandLines bounds the lines of all of them together; older commands go.
	maxCommandLines = 4 << 20
)

// Command is what a feed knows of a command of its terminal (R23–R25).
type Command struct {
	ID       string    // as in the actions
	Line     string    // as the shell has it; "" when unknown
	Cut      bool      // Line is too long to be kept, and this is its beginning
	Started  time.Time // by the host's clock; zero when unknown
	Running  bool
	ExitCode *int          // nil while it runs and when unknown
	Duration time.Duration // negative when unknown
}

// commands are a feed's, oldest first. Command n begins at the mark 2n of the
// feed's emulator, where its output does, and ends at the mark 2n+1.
type commands struct {
	detects bool // the terminal's shell tells where commands begin and end
	list    []command
	last    uint64 // n of the newest one
	bytes   int    // of their lines
	changes int
}

type command struct {
	Command
	n    uint64
	rows int // line breaks in the command line
}

// State is the state of a command, as marks show it.
type State uint8

// The states. None is a terminal's without command detection.
const (
	None State = iota
	Running
	Passed
	Failed
	Ended // it is not known how
	states
)

// State is the state of the command.
func (c *Command) State() State {
	switch {
	case c.Running:
		return Running
	case c.ExitCode == nil:
		return Ended
	case *c.ExitCode == 0:
		return Passed
	}
	return Failed
}

// begin adds a command and gives its number.
func (c *commands) begin(id, line string, ms int64) uint64 {
	c.detects = true
	c.last++
	c.changes++
	if len(c.list) >= maxCommands || c.bytes > maxCommandLines {
		c.list = append(c.list[:0], c.list[(len(c.list)+1)/2:]...)
		c.bytes = 0
		for i := range c.list {
			c.bytes += len(c.list[i].Line)
		}
	}
	cmd := command{Command: Command{ID: strings.Clone(id), Running: true, Duration: -1}, n: c.last, rows: strings.Count(line, "\n")}
	if len(line) > maxCommandLine {
		line, cmd.Cut = strings.ToValidUTF8(line[:maxCommandLine], ""), true
	}
	if cmd.Line = strings.Clone(line); ms > 0 {
		cmd.Started = time.UnixMilli(ms)
	}
	c.list = append(c.list, cmd)
	c.bytes += len(line)
	return c.last
}

// known returns the command of a mark, nil for a forgotten one.
func (c *commands) known(mark uint64) *command {
	n := mark / 2
	if len(c.list) == 0 || n < c.list[0].n || n > c.last {
		return nil
	}
	return &c.list[n-c.list[0].n]
}

// finish ends a command; ok is false for one that is not known or has ended.
func (c *commands) finish(id string, code *int, ms *int64) (n uint64, ok bool) {
	for i := len(c.list) - 1; i >= 0; i-- {
		cmd := &c.list[i]
		if cmd.ID != id {
			continue
		}
		if !cmd.Running {
			return 0, false
		}
		cmd.Running, cmd.ExitCode = false, code
		c.changes++
		if ms != nil && *ms >= 0 {
			cmd.Duration = time.Duration(*ms) * time.Millisecond
		}
		return cmd.n, true
	}
	return 0, false
}

// part feeds a part of a snapshot's content to an emulator; begins says that its command
// is another one than the previous part's. The lock must be held.
func (f *Feed) part(em emulator.Emulator, p *ahp.Part, begins bool) {
	if p.Type != ahp.PartCommand {
		em.Write([]byte(p.Text()))
		return
	}
	c := &f.commands
	i := slices.IndexFunc(c.list, func(o command) bool { return o.ID == p.CommandID })
	n := c.last + 1
	if i < 0 {
		c.begin(p.CommandID, p.CommandLine, p.Timestamp)
	} else {
		n = c.list[i].n
	}
	if begins {
		em.Mark(2 * n)
	}
	em.Write([]byte(p.Text()))
	if p.IsComplete {
		c.finish(p.CommandID, p.ExitCode, p.DurationMs)
		em.Mark(2*n + 1)
	}
}

// Detects notes that the terminal's shell marks its commands.
func (f *Feed) Detects() { f.change(func() { f.commands.detects = true }) }

// Executed notes the start of a command: what is printed from now on is its output.
func (f *Feed) Executed(a ahp.TerminalCommandExecuted) {
	f.change(func() {
		n := f.commands.begin(a.CommandID, a.CommandLine, a.Timestamp)
		if f.gen++; f.em != nil {
			f.em.Mark(2 * n)
		}
	})
}

// Finished notes the end of a command.
func (f *Feed) Finished(a ahp.TerminalCommandFinished) {
	f.change(func() {
		n, ok := f.commands.finish(a.CommandID, a.ExitCode, a.DurationMs)
		if f.gen++; ok && f.em != nil {
			f.em.Mark(2*n + 1)
		}
	})
}

// LastCommand is the newest command; ok is false where none is known, and
// detects then says whether that is because none has run.
func (f *Feed) LastCommand() (c Command, detects, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.commands.list); n > 0 {
		return f.commands.list[n-1].Command, true, true
	}
	return Command{}, f.commands.detects, false
}

// place is where a command lies in the feed's text.
type place struct {
	command
	first      int            // line where what was typed begins
	start, end *emulator.Mark // of the output; nil where the mark is gone
	older      bool           // there are older commands; chosen sets it
}

// places gives the commands of which a mark is left, in their order. The lock
// must be held.
func (f *Feed) places() []place {
	marks := f.em.Marks(nil)
	if len(marks) == 0 {
		return nil
	}
	at := make(map[uint64]*emulator.Mark, len(marks))
	for i := range marks {
		at[marks[i].ID] = &marks[i]
	}
	var all []place
	for _, c := range f.commands.list {
		p := place{command: c, start: at[2*c.n], end: at[2*c.n+1]}
		switch {
		case p.start != nil:
			p.first = f.typed(&c, p.start, at[2*c.n-1]) + f.lineOff
		case p.end != nil:
			p.first = p.end.Line + f.lineOff
		default:
			continue
		}
		all = append(all, p)
	}
	return all
}

// filled reports whether the line on which a command's output ended was filled by the
// shell: output without a line end gets a sign and blanks up to the end of the line from
// zsh and fish before a prompt. The lock must be held.
func (f *Feed) filled(end *emulator.Mark) bool {
	if end.Col == 0 || !f.em.Wrapped(end.Line) {
		return false
	}
	cells := f.em.Line(end.Line, nil)
	return motion.Length(cells[min(end.Col+1, len(cells)):]) == 0
}

// beside reports whether a command's output begins on the line on which the command itself
// ends. If not, the text before the output was typed ahead, between Enter and the shell's
// mark that the command runs. The lock must be held.
func (f *Feed) beside(c *command, start *emulator.Mark) bool {
	if start.Col == 0 || c.Line == "" || c.Cut {
		return start.Col > 0
	}
	cells := f.em.Line(start.Line, nil)
	row := strings.TrimRight(emulator.LineText(cells[:min(start.Col, len(cells))]), " ")
	line := strings.TrimRight(c.Line[strings.LastIndexByte(c.Line, '\n')+1:], " ")
	return strings.HasSuffix(row, line) || f.em.Wrapped(start.Line-1) && strings.HasSuffix(line, row)
}

// typed returns the screen line where a command's line begins: above the start of its
// output by the length of the line, but not above the end of the command before. The lock
// must be held.
func (f *Feed) typed(c *command, start, before *emulator.Mark) int {
	oldest, after, beside := -f.em.HistoryLen(), false, f.beside(c, start)
	if before != nil && (before.Line < start.Line || beside) { // else it was typed over what was there
		oldest = max(oldest, before.Line)
		if f.filled(before) {
			oldest, after = before.Line+1, true
		}
	}
	y := start.Line
	if beside {
		y++
	}
	for range c.rows + 1 {
		if y <= oldest {
			if before == nil && f.whole != nil { // it is among the lines that are not there
				y = oldest - 1
			}
			break
		}
		y--
		for y > oldest && f.em.Wrapped(y-1) {
			y--
		}
	}
	for after && y == oldest && y < start.Line && motion.Length(f.em.Line(y, nil)) == 0 {
		y, oldest = y+1, oldest+1 // what the shell filled takes more rows since a reflow
	}
	return y
}
