package pane

import (
	"slices"
	"strings"
)

// folds is the commands whose output a view hides. The command's own line stays, and shows
// that its output is folded.
type folds struct {
	ids map[string]struct{} // as in the actions, at most maxCommands

	// Half-open ranges of lines that are left out, in order and apart, as of gen.
	out []hit
	gen uint64 // of the feed
	era int    // of its epoch
	ver int    // of ids
	was int    // ver that out is of
	got int    // ver that was taken by Folds
	old int    // the oldest line then: history may go without a change of the screen
}

// refold computes which lines are left out, and reports whether that has changed. The lock must be held.
func (t *lines) refold() (changed bool) {
	d := &t.folds
	f := t.seen
	if len(d.ids) == 0 || f.em.Modes().AltScreen {
		changed = len(d.out) > 0
		if changed {
			d.out, d.was = d.out[:0], -1
		}
		return changed
	}
	oldest := f.lineOff - f.em.HistoryLen()
	if d.gen == f.gen && d.era == f.epoch && d.was == d.ver && d.old == oldest {
		return false
	}
	old := slices.Clone(d.out)
	d.gen, d.era, d.was, d.old, d.out = f.gen, f.epoch, d.ver, oldest, d.out[:0]
	for _, p := range f.places() {
		if _, ok := d.ids[p.ID]; !ok {
			continue
		}
		h, ok := f.outputLines(&p)
		h.from = max(h.from, oldest+1) // a line stays to stand for it
		if ok && h.from < h.to && (len(d.out) == 0 || h.from >= d.out[len(d.out)-1].to) {
			d.out = append(d.out, h)
		}
	}
	return !slices.Equal(old, d.out)
}

// outputLines returns the lines with nothing but a command's output: without the line on which
// the next prompt follows or, while the command runs, the present one. ok is false if there
// are none. The lock must be held.
func (f *Feed) outputLines(p *place) (h hit, ok bool) {
	if p.start == nil {
		return hit{}, false
	}
	h.from = p.start.Line
	if p.start.Col > 0 {
		h.from++
	}
	switch {
	case p.Running:
		h.to = f.em.Cursor().Y
	case p.end == nil:
		return hit{}, false
	default:
		h.to = p.end.Line
		if f.filled(p.end) {
			h.to++
		}
	}
	h.from, h.to = h.from+f.lineOff, h.to+f.lineOff
	return h, h.from < h.to
}

// folded returns the fold that hides a line. The lock must be held, as for all below.
func (t *lines) folded(line int) (hit, bool) {
	for _, h := range t.folds.out {
		if line < h.from {
			break
		}
		if line < h.to {
			return h, true
		}
	}
	return hit{}, false
}

// showing returns line if it shows, else the line before the fold that hides it.
func (t *lines) showing(line int) int {
	if h, ok := t.folded(line); ok {
		return h.from - 1
	}
	return line
}

// step gives the line n lines below one that shows, above it for negative n, as
// they show.
func (t *lines) step(line, n int) int {
	out := t.folds.out
	from := line
	line += n
	if n >= 0 {
		for _, h := range out {
			if h.from > from && h.from <= line {
				line += h.to - h.from
			}
		}
		return line
	}
	for i := len(out) - 1; i >= 0; i-- {
		if h := out[i]; h.to <= from && h.to > line {
			line -= h.to - h.from
		}
	}
	return line
}

// between counts the lines that show from one up to another.
func (t *lines) between(from, to int) int {
	n := to - from
	for _, h := range t.folds.out {
		if a, b := max(h.from, from), min(h.to, to); a < b {
			n -= b - a
		}
	}
	return n
}

// row gives the row of the view that a line shows at, negative or beyond its
// height where it does not.
func (w *window) row(line int) int {
	if line < w.top {
		return -w.between(line, w.top)
	}
	if _, ok := w.folded(line); ok {
		return -1
	}
	return w.between(w.top, line)
}

// lineAt gives the line that shows at a row of the view.
func (w *window) lineAt(row int) int { return w.step(w.top, row) }

// unfold shows the output that a line is folded in.
func (v *View) unfold(line int) {
	if _, ok := v.folded(line); !ok {
		return
	}
	for _, p := range v.seen.places() {
		if h, ok := v.seen.outputLines(&p); ok && h.from <= line && line < h.to {
			v.fold(p.ID, false)
		}
	}
	v.full = true
	v.refold()
}

// fold adds or takes away a fold.
func (t *lines) fold(id string, on bool) {
	d := &t.folds
	if on && d.ids == nil {
		d.ids = map[string]struct{}{}
	}
	if on && len(d.ids) < maxCommands {
		d.ids[strings.Clone(id)] = struct{}{}
	} else if !on {
		delete(d.ids, id)
	}
	d.ver++
}

// Fold leaves out the output of the command that CommandOutput names, or shows it
// again. Lines is how many lines are concerned; the error says why nothing is.
func (v *View) Fold() (c Command, folded bool, lines int, err error) {
	v.entire()
	f := lock(v)
	defer f.mu.Unlock()
	p, err := v.chosen()
	if err != nil {
		return p.Command, false, 0, err
	}
	return v.toggle(&p)
}

func (v *View) toggle(p *place) (c Command, folded bool, lines int, err error) {
	h, ok := v.seen.outputLines(p)
	if !ok {
		if p.start == nil {
			return p.Command, false, 0, ErrCleared
		}
		return p.Command, false, 0, ErrNoOutput
	}
	_, was := v.folds.ids[p.ID]
	v.full = true
	v.refold()
	v.fold(p.ID, !was)
	v.refold()
	v.settle()
	return p.Command, !was, h.to - h.from, nil
}

// FoldAll leaves out the output of every command that has ended, or with on not
// set shows all again. It gives how many are folded now.
func (v *View) FoldAll(on bool) int {
	v.entire()
	f := lock(v)
	defer f.mu.Unlock()
	if !v.locate() {
		return 0
	}
	clear(v.folds.ids)
	v.folds.ver++
	if on {
		for _, p := range f.places() {
			if _, ok := f.outputLines(&p); ok && !p.Running {
				v.fold(p.ID, true)
			}
		}
	}
	v.full = true
	v.refold()
	v.settle()
	return len(v.folds.out)
}

// Folds gives the commands whose output is left out, the newest last; changed says
// whether they are others than at the last call or SetFolds.
func (v *View) Folds() (ids []string, changed bool) {
	d := &v.folds
	if d.got == d.ver {
		return nil, false
	}
	d.got = d.ver
	for _, c := range v.seen.Commands() {
		if _, ok := d.ids[c.ID]; ok {
			ids = append(ids, c.ID)
		}
	}
	slices.Reverse(ids)
	return ids, true
}

// SetFolds leaves out the output of these commands.
func (v *View) SetFolds(ids []string) {
	f := lock(v)
	defer f.mu.Unlock()
	for _, id := range ids {
		v.fold(id, true)
	}
	v.full, v.folds.got = true, v.folds.ver
}

// settle moves the view's position to lines that show, after folds changed.
func (v *View) settle() {
	v.top = v.showing(v.top)
	if c := v.copy; c != nil {
		c.Line = v.showing(c.Line)
		v.geometry(v.rect)
		v.follow()
	}
}
