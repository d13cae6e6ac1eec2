package pane

import (
	"slices"
	"strings"
)

// folds is the commands whose output a view hides. The command line stays, and shows that its
// output is folded.
type folds struct {
	ids map[string]struct{} // commands' ids, at most maxCommands

	// out is the hidden lines: ranges in order that don't touch. The fields below say what it was
	// computed from.
	out        []span
	gen        uint64 // the feed's
	epoch      int    // the feed's
	version    int    // counts changes of ids
	outVersion int    // the version that out was computed from
	taken      int    // the version that Folds last returned
	oldest     int    // the oldest line; history can be dropped without a change of gen
}

// refold computes the hidden lines and reports whether they have changed. The lock must be held.
func (t *lines) refold() (changed bool) {
	d := &t.folds
	f := t.seen
	if len(d.ids) == 0 || f.em.Modes().AltScreen {
		changed = len(d.out) > 0
		if changed {
			d.out, d.outVersion = d.out[:0], -1
		}
		return changed
	}
	oldest := f.lineOff - f.em.HistoryLen()
	if d.gen == f.gen && d.epoch == f.epoch && d.outVersion == d.version && d.oldest == oldest {
		return false
	}
	old := slices.Clone(d.out)
	d.gen, d.epoch, d.outVersion, d.oldest, d.out = f.gen, f.epoch, d.version, oldest, d.out[:0]
	for _, p := range f.places() {
		if _, ok := d.ids[p.ID]; !ok {
			continue
		}
		h, ok := f.outputLines(&p)
		h.from = max(h.from, oldest+1) // a line before the fold must stay
		if ok && h.from < h.to && (len(d.out) == 0 || h.from >= d.out[len(d.out)-1].to) {
			d.out = append(d.out, h)
		}
	}
	return !slices.Equal(old, d.out)
}

// outputLines returns the lines that have only a command's output: without the line on which the
// next prompt follows or, while the command runs, the cursor's. ok is false if there are none.
// The lock must be held.
func (f *Feed) outputLines(p *place) (h span, ok bool) {
	if p.start == nil {
		return span{}, false
	}
	h.from = p.start.Line
	if p.start.Col > 0 {
		h.from++
	}
	switch {
	case p.Running:
		h.to = f.em.Cursor().Y
	case p.end == nil:
		return span{}, false
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
func (t *lines) folded(line int) (span, bool) {
	for _, h := range t.folds.out {
		if line < h.from {
			break
		}
		if line < h.to {
			return h, true
		}
	}
	return span{}, false
}

// showing returns line if it is not folded, else the line before its fold.
func (t *lines) showing(line int) int {
	if h, ok := t.folded(line); ok {
		return h.from - 1
	}
	return line
}

// step returns the line n lines below a line that shows, or above it if n is negative, not
// counting folded lines.
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

// between counts the lines in [from, to) that are not folded.
func (t *lines) between(from, to int) int {
	n := to - from
	for _, h := range t.folds.out {
		if a, b := max(h.from, from), min(h.to, to); a < b {
			n -= b - a
		}
	}
	return n
}

// row returns the row of the view at which a line shows. It is negative or beyond the view's
// height if the line doesn't show.
func (w *window) row(line int) int {
	if line < w.top {
		return -w.between(line, w.top)
	}
	if _, ok := w.folded(line); ok {
		return -1
	}
	return w.between(w.top, line)
}

// lineAt returns the line at a row of the view.
func (w *window) lineAt(row int) int { return w.step(w.top, row) }

// unfold unfolds the output that a line is in.
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

// fold folds or unfolds a command.
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
	d.version++
}

// Fold folds or unfolds the output of the chosen command (see CommandOutput). lines is the number
// of lines of the output; err says why nothing was done.
func (v *View) Fold() (c Command, folded bool, lines int, err error) {
	v.needHistory()
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

// FoldAll folds the output of all commands that have ended, or with on false unfolds everything.
// It returns the number of folds.
func (v *View) FoldAll(on bool) int {
	v.needHistory()
	f := lock(v)
	defer f.mu.Unlock()
	if !v.locate() {
		return 0
	}
	clear(v.folds.ids)
	v.folds.version++
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

// Folds returns the ids of the folded commands, the newest last. If they have not changed since
// the last call or SetFolds, it returns none and changed is false.
func (v *View) Folds() (ids []string, changed bool) {
	d := &v.folds
	if d.taken == d.version {
		return nil, false
	}
	d.taken = d.version
	for _, c := range v.seen.Commands() {
		if _, ok := d.ids[c.ID]; ok {
			ids = append(ids, c.ID)
		}
	}
	slices.Reverse(ids)
	return ids, true
}

// SetFolds folds the output of these commands.
func (v *View) SetFolds(ids []string) {
	f := lock(v)
	defer f.mu.Unlock()
	for _, id := range ids {
		v.fold(id, true)
	}
	v.full, v.folds.taken = true, v.folds.version
}

// settle moves the view's top and cursor to lines that show, after folds changed.
func (v *View) settle() {
	v.top = v.showing(v.top)
	if c := v.copy; c != nil {
		c.Line = v.showing(c.Line)
		v.geometry(v.rect)
		v.follow()
	}
}
