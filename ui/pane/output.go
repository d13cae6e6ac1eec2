package pane

import (
	"errors"
	"strings"

	"tandemux/emulator"
)

// locate brings the view's geometry up to date. It reports false without a screen and on the
// alternate screen, where no commands are. The lock must be held.
func (v *View) locate() bool {
	f := v.seen
	if f.em == nil || f.em.Modes().AltScreen {
		return false
	}
	f.collect()
	v.renumber()
	v.geometry(v.rect)
	return true
}

// Neighbours reports whether GoCommand has somewhere to go, backwards and forwards.
func (v *View) Neighbours() (previous, next bool) {
	f := lock(v)
	defer f.mu.Unlock()
	_, previous = v.neighbour(false)
	_, next = v.neighbour(true)
	return previous, next || (v.back || v.pick.id != "") && v.copy == nil
}

// Why a command's output is not available.
var (
	ErrFullScreen = errors.New("the program here shows its own screen")
	ErrNoCommand  = errors.New("no command has run here yet")
	ErrCleared    = errors.New("its output was cleared")
	ErrNoOutput   = errors.New("it has no lines of output")
)

// Output is what a command printed.
type Output struct {
	Command
	Text string // wrapped lines are joined, and blanks at line ends and the last line end are cut
	Cut  bool   // the history no longer has its beginning
}

// CommandOutput returns the output of a command, about MaxCopy bytes of it at most. The id ""
// means the chosen command: in copy mode the one at the cursor; else the picked one (GoCommand),
// the one at the top of a scrolled-back view, or the newest.
func (v *View) CommandOutput(id string) (Output, error) {
	v.needHistory()
	f := lock(v)
	defer f.mu.Unlock()
	get := v.chosen
	if id != "" {
		get = func() (place, error) { return v.byID(id) }
	}
	p, err := get()
	if err != nil {
		return Output{Command: p.Command}, err
	}
	return f.output(p, p.older)
}

// Chosen returns the chosen command (see CommandOutput).
func (v *View) Chosen() (Command, error) {
	v.needHistory()
	f := lock(v)
	defer f.mu.Unlock()
	p, err := v.chosen()
	return p.Command, err
}

// chosen is Chosen, with the lock held.
func (v *View) chosen() (p place, err error) {
	f := v.seen
	if f.em != nil && f.em.Modes().AltScreen {
		return p, ErrFullScreen
	}
	if len(f.commands.list) == 0 || !v.locate() {
		return p, ErrNoCommand
	}
	all := f.places()
	p = place{command: f.commands.list[len(f.commands.list)-1]}
	if q := v.picked(all); q != nil {
		p = *q
	} else if at, here := v.here(); here && len(all) > 0 {
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

// here returns copy mode's line, or the top line of the view; ok is false if the view follows the
// output.
func (v *View) here() (line int, ok bool) {
	if v.copy != nil {
		return v.copy.Line, true
	}
	return v.top, v.back
}

// output reads a command's output from the text. older says that the feed remembers older
// commands. The lock must be held.
func (f *Feed) output(p place, older bool) (Output, error) {
	o := Output{Command: p.Command}
	start, end := p.start, p.end
	if p.Running {
		c := f.em.Cursor()
		end = &emulator.Mark{Line: c.Y, Col: c.X}
	}
	if start == nil && end != nil && !older {
		// Its marks are gone because the history dropped its oldest lines.
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
			b.Write(emulator.AppendWrapped(nil, cells[from:to]))
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

// Listed is a command and whether its text is gone.
type Listed struct {
	Command
	Gone bool // the history no longer has its text
}

// Commands returns the commands that the feed remembers, the newest first.
func (f *Feed) Commands() []Listed {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := map[uint64]bool{}
	if f.em != nil {
		for _, p := range f.places() {
			there[p.n] = p.start != nil
		}
	}
	list := make([]Listed, 0, len(f.commands.list))
	for i := len(f.commands.list) - 1; i >= 0; i-- {
		c := &f.commands.list[i]
		list = append(list, Listed{c.Command, !there[c.n]})
	}
	return list
}

// byID returns the command of an id. The lock must be held.
func (v *View) byID(id string) (p place, err error) {
	f := v.seen
	if f.em != nil && f.em.Modes().AltScreen {
		return p, ErrFullScreen
	}
	if !v.locate() {
		return p, ErrNoCommand
	}
	all := f.places()
	for i, q := range all {
		if q.ID == id {
			q.older = i > 0
			return q, nil
		}
	}
	for _, c := range f.commands.list {
		if c.ID == id {
			p.command = c
		}
	}
	return p, ErrCleared
}

// GoTo scrolls to the first line of a command. If that line can't be scrolled to the top, or in
// copy mode, it moves copy mode's cursor there.
func (v *View) GoTo(id string) error {
	v.needHistory()
	f := lock(v)
	defer f.mu.Unlock()
	p, err := v.byID(id)
	switch {
	case err != nil:
		return err
	case p.start == nil:
		return ErrCleared
	case v.copy == nil && p.first < v.live():
		v.top, v.back, v.full = p.first, true, true
		return nil
	case v.copy == nil:
		v.copy = &copyMode{}
		v.back, v.selection = true, nil
	}
	v.copy.Line, v.copy.X, v.copy.want = p.first, 0, 0
	v.follow()
	return nil
}

// SelectOutput enters copy mode and selects the lines of the chosen command's output (see
// CommandOutput), with the cursor on the last of them.
func (v *View) SelectOutput() (Command, error) {
	v.needHistory()
	f := lock(v)
	p, err := v.chosen()
	f.mu.Unlock()
	if err != nil {
		return p.Command, err
	}
	v.EnterCopy()
	f = lock(v)
	defer f.mu.Unlock()
	if p, err = v.byID(p.ID); err != nil || v.copy == nil {
		return p.Command, err
	}
	h, ok := f.outputLines(&p)
	if !ok {
		return p.Command, ErrNoOutput
	}
	v.copy.Line, v.copy.X, v.copy.want = h.to-1, 0, 0
	v.selection = &Selection{AnchorLine: h.from, Line: h.to - 1, Shape: Lines}
	v.follow()
	return p.Command, nil
}

// FoldRow folds or unfolds the output of the command whose mark is at a row of the canvas. It
// reports whether it did.
func (v *View) FoldRow(y int) bool {
	v.needHistory()
	f := lock(v)
	defer f.mu.Unlock()
	s := signOn(v.now, y-v.rect.Y)
	if f.em == nil || s.State == None {
		return false
	}
	p, err := v.byID(s.id)
	if err == nil {
		_, _, _, err = v.toggle(&p)
	}
	return err == nil
}
