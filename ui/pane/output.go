package pane

import (
	"errors"
	"strings"

	"cotty/emulator"
)

// GoCommand moves to the first line of the command before the place of the view,
// or with next of the one after it: scrolls it to the top, or puts copy mode's
// cursor there. Behind the newest command the view follows the output again. It
// reports whether it moved.
func (v *View) GoCommand(next bool) bool {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	line, ok := v.neighbour(next)
	if v.copy != nil {
		if ok {
			v.copy.line, v.copy.x, v.copy.want = line, 0, 0
			v.follow()
		}
		return ok
	}
	switch {
	case ok && line < v.live():
		v.top, v.back, v.full = line, true, true
	case v.back && next:
		v.back, v.full = false, true
	default:
		return false
	}
	return true
}

// neighbour gives the first line of the command before or after the place of
// the view. The lock must be held.
func (v *View) neighbour(next bool) (line int, ok bool) {
	if !v.locate() {
		return 0, false
	}
	from := v.top
	if v.copy != nil {
		from = v.copy.line
	}
	for _, p := range v.Feed.places() {
		switch {
		case p.start == nil:
		case next && p.first > from && (!ok || p.first < line):
			line, ok = p.first, true
		case !next && p.first < from && (!ok || p.first > line):
			line, ok = p.first, true
		}
	}
	return line, ok
}

// locate brings the view's place up to date; false when the text with the
// commands does not show. The lock must be held.
func (v *View) locate() bool {
	f := v.Feed
	if f.em == nil || f.em.Modes().AltScreen {
		return false
	}
	f.collect()
	v.renumber()
	v.geometry(v.rect)
	return true
}

// Around reports whether GoCommand has somewhere to go to.
func (v *View) Around() (previous, next bool) {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	_, previous = v.neighbour(false)
	_, next = v.neighbour(true)
	return previous, next || v.back && v.copy == nil
}

// Why a command's output can't be had.
var (
	ErrFullScreen = errors.New("the program here shows its own screen")
	ErrNoCommand  = errors.New("no command has run here yet")
	ErrCleared    = errors.New("its output was cleared")
	ErrNoOutput   = errors.New("it has no lines of output")
)

// Output is what a command has printed.
type Output struct {
	Command
	Text string // wrapped lines joined, blanks at line ends cut, no line end at its end
	Cut  bool   // its start is gone from the history
}

// CommandOutput gives the output of the command at copy mode's cursor, or at
// the top of a view that is scrolled back, else of the newest one; of much the
// first MaxCopy bytes.
func (v *View) CommandOutput() (Output, error) {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := v.chosen()
	if err != nil {
		return Output{Command: p.Command}, err
	}
	return f.output(p, p.older)
}

// Chosen is the command that CommandOutput names.
func (v *View) Chosen() (Command, error) {
	f := v.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	p, err := v.chosen()
	return p.Command, err
}

// chosen gives the command at copy mode's cursor, or at the top of a view that is
// scrolled back, else the newest one. The lock must be held.
func (v *View) chosen() (p place, err error) {
	f := v.Feed
	if f.em != nil && f.em.Modes().AltScreen {
		return p, ErrFullScreen
	}
	if len(f.commands.list) == 0 || !v.locate() {
		return p, ErrNoCommand
	}
	all := f.places()
	p = place{command: f.commands.list[len(f.commands.list)-1]}
	if at, here := v.here(); here && len(all) > 0 {
		p = all[0]
		for _, q := range all {
			if q.first <= at {
				p = q
			}
		}
	} else if n := len(all); n > 0 && all[n-1].n == p.n {
		p = all[n-1]
	}
	p.older = len(all) > 0 && all[0].n < p.n
	return p, nil
}

// here gives the line that a person looks at, if it is one of their choice.
func (v *View) here() (line int, ok bool) {
	if v.copy != nil {
		return v.copy.line, true
	}
	return v.top, v.back
}

// output reads a command's output from the screen's lines; older says that
// there are older commands. The lock must be held.
func (f *Feed) output(p place, older bool) (Output, error) {
	o := Output{Command: p.Command}
	start, end := p.start, p.end
	if p.Running {
		c := f.em.Cursor()
		end = &emulator.Mark{Line: c.Y, Col: c.X}
	}
	if start == nil && end != nil && !older {
		// Everything before is gone as well: it was trimmed.
		start, o.Cut = &emulator.Mark{Line: -f.em.HistoryLen()}, true
	}
	if start == nil || end == nil {
		return o, ErrCleared
	}
	var b strings.Builder
	var cells []emulator.Cell
	for y := start.Line; y <= end.Line && b.Len() < MaxCopy; y++ {
		cells = f.em.Line(y, cells[:0])
		from, to := 0, len(cells)
		if y == start.Line {
			from = min(start.Col, to)
		}
		if y == end.Line {
			to = max(min(end.Col, to), from)
		}
		if f.em.Wrapped(y) && y < end.Line {
			b.WriteString(pad(cells[from:to]))
			continue
		}
		b.WriteString(emulator.LineText(cells[from:to]))
		if y < end.Line {
			b.WriteByte('\n')
		}
	}
	o.Text = strings.TrimSuffix(b.String(), "\n")
	return o, nil
}
