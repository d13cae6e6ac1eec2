package native

import (
	"math"

	"tandemux/emulator"
	"tandemux/emulator/control"
	"tandemux/emulator/native/grapheme"
)

// Resize implements emulator.Emulator. It wraps the main screen and its history anew at the
// new width. It cuts or extends the alternate screen, since its program draws it again. It
// resets the margins.
func (e *Engine) Resize(cols, rows int) {
	e.flush()
	cols = clamp(cols, 1, emulator.MaxCols)
	rows = clamp(rows, 1, emulator.MaxRows)
	if cols == e.cols && rows == e.rows {
		return
	}
	e.last.ok = false
	cur := &e.cur
	if e.alt() {
		cur = &e.screens[0].saved
	}
	cur.x, cur.y = min(cur.x, e.cols-1), min(cur.y, e.rows-1)
	if cols == e.cols {
		e.resizeRows(cur, rows)
	} else {
		e.reflow(cur, cols, rows)
	}
	e.resizeAlt(cols, rows)
	e.tabs = e.tabs.Resize(cols)
	e.cols, e.rows = cols, rows
	e.resetMargins()
	for _, c := range []*cursor{&e.cur, &e.screens[0].saved, &e.screens[1].saved} {
		c.x, c.y = min(c.x, cols-1), min(c.y, rows-1)
		c.pending = c.pending && c.x == cols-1
	}
	e.damage = make([]emulator.Span, rows)
	scrolled := e.scrolled
	e.clearDamage()
	e.damageAll, e.scrolled = true, scrolled
	fit(e)
	if e.modes.Has(control.SideMargins) {
		singleLines(e) // lines from history may have other sizes
	}
	if e.modes.Has(control.InBand) {
		e.reportResize()
	}
}

// resizeAlt cuts or extends the alternate screen at its bottom. If the cursor would be cut
// off, it drops lines at the top instead. A screen that was never shown has no lines.
func (e *Engine) resizeAlt(cols, rows int) {
	s := &e.screens[1]
	s.saved.pending = false
	old := s.lines
	if old == nil {
		return
	}
	if e.alt() && e.cur.y >= rows {
		n := e.cur.y - rows + 1
		old = old[n:]
		e.cur.y -= n
	}
	s.resize(cols, rows)
	for y := range min(len(old), rows) {
		from, to := old[y], s.lines[y]
		if cols >= minDouble {
			to.size = from.size
		}
		n := copy(to.cells[:to.columns()], from.cells[:from.used])
		if n < len(from.cells) && n > 0 && from.cells[n]&kindMask == wideTail {
			to.cells[n-1] = e.half(to.cells[n-1])
		}
		if c := to.cells[0]; e.cols == 1 && grapheme.ClusterWidth(e.texts.appendText(nil, c)) == 2 {
			to.cells[0] = e.half(c) // a wide character, squeezed into the only column
		}
		to.used = n
		to.wrapped = from.wrapped && len(from.cells) == cols && y+1 < rows
	}
	if e.alt() && cols != e.cols {
		e.cur.pending = false
	}
}

// content returns the number of rows of the main screen down to the last one that isn't
// blank, at least to the cursor's.
func (e *Engine) content(cur *cursor) int {
	lines := e.screens[0].lines
	n := len(lines)
	for n > cur.y+1 && lines[n-1].length() == 0 {
		n--
	}
	return n
}

// topLine returns the line that becomes the screen's first. Lines are numbered from the
// oldest of the history on.
//
//	total   the number of lines
//	anchor  the screen's first line before
//	full    whether the screen was full of content
//	floor   lines before it must not come back from history
//	cursor  the cursor's line, which must be on the screen
//
// A screen with room below its content keeps its first line. A full one keeps its last line
// at the bottom, and takes lines back from history if it grows. Lines that don't fit go into
// history, but not the cursor's: then lines that don't fit below it are lost, as in other
// terminals.
func topLine(total, anchor, floor, cursor, rows int, full bool) int {
	low := anchor
	if full {
		low = min(floor, anchor)
	}
	return max(0, min(max(total-rows, low), cursor))
}

// resizeRows changes only the main screen's height.
func (e *Engine) resizeRows(cur *cursor, rows int) {
	s := &e.screens[0]
	h := &e.hist
	n := e.content(cur)
	anchor := h.n
	top := topLine(anchor+n, anchor, h.floor, anchor+cur.y, rows, n == e.rows)
	old := s.lines
	s.resize(e.cols, rows)
	back := max(0, anchor-top)
	for i := back - 1; i >= 0; i-- {
		if l := h.at(h.n - 1); i < rows {
			e.decodeRow(s.lines[i], h.data(l), l)
			s.lines[i].marks = h.lineMarks(h.n-1, nil)
		}
		h.dropNewest()
	}
	gone := max(0, top-anchor)
	for _, r := range old[:gone] {
		e.push(r)
	}
	for i, r := range old[gone:n] {
		if y := back + i; y < rows {
			s.lines[y] = r
			s.buf[s.off+y] = r
		}
	}
	for i, r := range old[n:] {
		if y := back - gone + n + i; y < rows {
			s.lines[y].marks = r.marks
		}
	}
	s.lines[rows-1].wrapped = false
	cur.y = clamp(cur.y+anchor-top, 0, rows-1)
	if c := &s.saved; c != cur {
		c.y = clamp(c.y+anchor-top, 0, rows-1)
	}
}

// spot follows a place through a reflow.
type spot struct {
	line, x int // before
	done    bool
	outLine int // after
	outX    int
	full    bool // behind the last column
}

// reflow wraps the main screen and its history anew. cur is the main screen's cursor.
func (e *Engine) reflow(cur *cursor, cols, rows int) {
	s := &e.screens[0]
	n := e.content(cur)
	h := e.hist
	src := source{e: e, hist: &h, rows: s.lines[:n]}
	out := newHistory(h.limit + rows)
	at := func(c *cursor) spot {
		p := spot{line: h.n + min(c.y, n-1), x: min(c.x, e.cols-1)}
		if c.pending {
			p.x++
		}
		return p
	}
	spots := []spot{at(cur), at(&s.saved), {line: h.n}, {line: h.floor}}
	w := wrapper{from: e.cols, cols: cols, out: &out, spots: spots}
	ids := w.follow(e, h.n)
	// Lines of the screen are not dropped for the history's bounds, since the
	// cursor's line might be one of them.
	onScreen := h.n
	for onScreen > 0 && h.at(onScreen-1).wrapped() {
		onScreen--
	}
	for i := 0; i < h.n+n; {
		if i >= onScreen {
			out.limit, out.maxSize = math.MaxInt32, math.MaxInt
		}
		i = w.logical(&src, i)
	}
	out.maxSize = h.maxSize
	for i := range w.marks {
		if p := &w.marks[i]; !p.done { // below the content
			w.put(p, w.count+p.line-h.n-n, p.x)
		}
	}

	total := w.count
	dropped := total - out.n
	here, saved, anchor, floor := spots[0], spots[1], spots[2], spots[3]
	if h.floor >= h.n {
		floor.outLine = anchor.outLine
	}
	top := topLine(total, anchor.outLine, floor.outLine, here.outLine, rows, n == e.rows)
	top = max(top, dropped)
	s.resize(cols, rows)
	for i := total - 1; i >= top; i-- {
		if l := out.at(out.n - 1); i-top < rows {
			e.decodeRow(s.lines[i-top], out.data(l), l)
		}
		out.dropNewest()
	}
	s.lines[rows-1].wrapped = false
	out.limit = h.limit
	dropped += out.trim()
	out.floor = clamp(floor.outLine-dropped, 0, out.n)
	out.marks = nil
	for i, p := range w.marks {
		m := mark{id: ids[i], col: p.outX}
		if p.full {
			m.col = cols
		}
		if y := p.outLine - top; y >= 0 && y < rows {
			s.lines[y].marks = append(s.lines[y].marks, m)
		} else if y < 0 && uint64(p.outLine) >= out.first {
			out.marks = append(out.marks, histMark{m, uint64(p.outLine)})
		}
	}
	e.hist = out
	place := func(c *cursor, p spot) {
		c.x, c.y = p.outX, clamp(p.outLine-top, 0, rows-1)
		if c.pending = p.full; p.full {
			c.x = cols - 1
		}
	}
	savedUnset := s.saved == cursor{}
	if place(cur, here); cur != &s.saved && !savedUnset {
		place(&s.saved, saved)
		s.saved.pending = false
	}
}
