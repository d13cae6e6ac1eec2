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
	// maxCommands is the largest number of commands that a feed remembers.
	maxCommands = 4096
	// maxCommandLine is the longest command line that is kept, in bytes.
	maxCommandLine = 64 << 10
	// maxCommandLines is the bytes of all kept command lines, beyond which older commands are
	// forgotten.
	maxCommandLines = 4 << 20
)

// Command is what a feed knows of a command of its terminal (R23–R25).
type Command struct {
	ID       string    // the actions' commandId
	Line     string    // as the shell reported it; "" if unknown
	Cut      bool      // Line is only the beginning of the command line
	Started  time.Time // by the host's clock; zero if unknown
	Running  bool
	ExitCode *int          // nil if it is running or the code is unknown
	Duration time.Duration // negative if unknown
}

// commands is a feed's commands, the oldest first. The output of command n begins at mark 2n of
// the feed's emulator and ends at mark 2n+1.
type commands struct {
	detects bool // the terminal's shell reports where commands begin and end
	list    []command
	last    uint64 // n of the newest one
	bytes   int    // of their command lines
	changes int
}

type command struct {
	Command
	n    uint64
	rows int // line breaks in the command line
}

// State is a command's state.
type State uint8

// The states. None means that there is no command.
const (
	None State = iota
	Running
	Passed
	Failed
	Ended // with an unknown exit code
	states
)

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

// begin adds a command and returns its number. ms is the start in Unix milliseconds, 0 if
// unknown.
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

// known returns the command of a mark, nil if it was forgotten.
func (c *commands) known(mark uint64) *command {
	n := mark / 2
	if len(c.list) == 0 || n < c.list[0].n || n > c.last {
		return nil
	}
	return &c.list[n-c.list[0].n]
}

// finish ends a command. ok is false if the command is unknown or has ended before.
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

// part writes a part of a snapshot's content to an emulator. begins says that it is the first
// part of its command. The lock must be held.
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

// Detects notes that the terminal's shell reports its commands.
func (f *Feed) Detects() { f.change(func() { f.commands.detects = true }) }

// Executed notes the start of a command. Output from now on is the command's.
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

// LastCommand returns the newest command. ok is false if there is none; detects then says whether
// the shell would have reported one.
func (f *Feed) LastCommand() (c Command, detects, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.commands.list); n > 0 {
		return f.commands.list[n-1].Command, true, true
	}
	return Command{}, f.commands.detects, false
}

// place is a command and where it is in the text.
type place struct {
	command
	first      int            // first line of the command line
	start, end *emulator.Mark // of the output; nil if the history no longer has it
	older      bool           // the feed remembers older commands; set by chosen and byID
}

// places returns the commands that still have a mark, the oldest first. The lock must be held.
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

// filled reports whether the shell filled the rest of the line on which a command's output ended.
// If output doesn't end with a line end, zsh and fish print a sign and blanks up to the end of
// the line before the prompt. The lock must be held.
func (f *Feed) filled(end *emulator.Mark) bool {
	if end.Col == 0 || !f.em.Wrapped(end.Line) {
		return false
	}
	cells := f.em.Line(end.Line, nil)
	return motion.Length(cells[min(end.Col+1, len(cells)):]) == 0
}

// beside reports whether a command's output begins on the line on which the command line ends. If
// not, the text before the output was typed ahead, between Enter and the shell's mark that the
// command runs. The lock must be held.
func (f *Feed) beside(c *command, start *emulator.Mark) bool {
	if start.Col == 0 || c.Line == "" || c.Cut {
		return start.Col > 0
	}
	cells := f.em.Line(start.Line, nil)
	row := strings.TrimRight(emulator.LineText(cells[:min(start.Col, len(cells))]), " ")
	line := strings.TrimRight(c.Line[strings.LastIndexByte(c.Line, '\n')+1:], " ")
	return strings.HasSuffix(row, line) || f.em.Wrapped(start.Line-1) && strings.HasSuffix(line, row)
}

// typed returns the screen line where a command line begins: as many lines above the start of its
// output as it has, but not above the end of the previous command. The lock must be held.
func (f *Feed) typed(c *command, start, before *emulator.Mark) int {
	oldest, after, beside := -f.em.HistoryLen(), false, f.beside(c, start)
	if before != nil && (before.Line < start.Line || beside) { // else the text at that mark was overwritten
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
			if before == nil && f.whole != nil { // the skimmed feed doesn't have the line
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
		y, oldest = y+1, oldest+1 // since a reflow, what the shell filled takes more rows
	}
	return y
}
