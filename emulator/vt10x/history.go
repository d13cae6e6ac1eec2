package vt10x

// history is the scrollback: a ring of trimmed lines, oldest first.
type history struct {
	limit int
	lines []line
	head  int // index of the oldest line once the ring is full
}

func (h *history) len() int { return len(h.lines) }

// at gives line y, -1 the newest.
func (h *history) at(y int) line {
	return h.lines[(h.head+len(h.lines)+y)%len(h.lines)]
}

// push adds a line, dropping the oldest at the limit. It reports false when
// there is no history.
func (h *history) push(l line) bool {
	switch {
	case h.limit <= 0:
		return false
	case len(h.lines) < h.limit:
		h.lines = append(h.lines, l)
	default:
		h.lines[h.head] = l
		h.head = (h.head + 1) % h.limit
	}
	return true
}

// mark makes the newest line one that runs on.
func (h *history) mark() {
	if n := len(h.lines); n > 0 {
		h.lines[(h.head+n-1)%n].wrapped = true
	}
}

// setLimit changes how many lines are kept.
func (h *history) setLimit(n int) {
	lines := append(append([]line(nil), h.lines[h.head:]...), h.lines[:h.head]...)
	h.limit, h.head = max(n, 0), 0
	h.lines = lines[max(0, len(lines)-h.limit):]
}

func (h *history) clear() { h.lines, h.head = nil, 0 }

// saveTop puts the screen's first n lines into history, when a scroll by n
// from the top of the main screen is about to lose them.
func (e *engine) saveTop(n int) {
	if e.altMode != 0 || e.top != 0 || e.history.limit <= 0 {
		return
	}
	for y := range min(n, e.bottom+1) {
		e.saveLine(e.copyLine(y, nil))
	}
}

// saveLine puts a copy of a line into history.
func (e *engine) saveLine(l line) {
	t := l.trim()
	t.glyphs = append(make([]glyph, 0, len(t.glyphs)), t.glyphs...)
	if e.history.push(t) {
		e.damage.scrolled++
	}
}
