package pane

// pick is the command that GoCommand went to. Its line is highlighted, and actions on "the
// command" apply to it, until something is typed or the view follows the output again.
type pick struct {
	id          string
	first, last int // lines of the command line, as of the last drawing; none if it is not visible
}

// GoCommand picks the command before the picked one, or with next the one after it. If none is
// picked it starts at the top of a scrolled-back view, or else behind the newest command. The
// view scrolls if the command's line doesn't show; with next at the newest command it follows the
// output again. In copy mode GoCommand moves the cursor to the first line of the command before
// or after it instead. It reports whether something moved.
func (v *View) GoCommand(next bool) bool {
	v.needHistory()
	f := lock(v)
	defer f.mu.Unlock()
	p, ok := v.neighbour(next)
	switch {
	case v.copy != nil:
		if ok {
			v.copy.Line, v.copy.X, v.copy.want = p.first, 0, 0
			v.follow()
		}
		return ok
	case ok:
		v.pickUp(&p)
	case next && (v.back || v.pick.id != ""):
		v.pick, v.back, v.full = pick{}, false, true
	default:
		return false
	}
	return true
}

// pickUp picks a command and scrolls to its line. The lock must be held, as for all below.
func (v *View) pickUp(p *place) {
	v.pick, v.full = pick{id: p.ID}, true
	if row := v.row(p.first); row >= 0 && row < v.rect.H {
		return
	}
	if v.back = p.first < v.live(); v.back {
		v.top = p.first
	}
}

// neighbour returns the command that GoCommand goes to.
func (v *View) neighbour(next bool) (to place, ok bool) {
	if !v.locate() {
		return to, false
	}
	all := v.seen.places()
	from, exact := v.top, false
	switch {
	case v.copy != nil:
		from, exact = v.copy.Line, true
	case v.picked(all) != nil:
		from, exact = v.picked(all).first, true
	case !v.back && next:
		return to, false
	case !v.back:
		_, rows := v.seen.em.Size()
		from = v.seen.lineOff + rows
	}
	for _, p := range all {
		switch {
		case p.start == nil:
		case next && (p.first > from || p.first == from && !exact) && (!ok || p.first < to.first):
			to, ok = p, true
		case !next && p.first < from && (!ok || p.first > to.first):
			to, ok = p, true
		}
	}
	return to, ok
}

// picked returns the picked command if its first line is visible, else nil.
func (v *View) picked(all []place) *place {
	if v.pick.id == "" || v.copy != nil {
		return nil
	}
	for i := range all {
		if p := &all[i]; p.ID == v.pick.id && p.start != nil {
			if row := v.row(p.first); row >= 0 && row < v.rect.H {
				return p
			}
		}
	}
	return nil
}

// locatePick updates the lines to highlight.
func (v *View) locatePick() {
	if v.pick.id == "" {
		return
	}
	v.pick.first, v.pick.last = 0, -1
	if v.seen.em.Modes().AltScreen {
		return
	}
	if p := v.picked(v.seen.places()); p != nil {
		v.pick.first, v.pick.last = p.first, p.start.Line+v.seen.lineOff
		if !v.seen.beside(&p.command, p.start) {
			v.pick.last--
		}
	}
}
