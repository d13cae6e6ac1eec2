package native

import "tandemux/emulator/control"

// screen is the main or the alternate screen. The alternate one has no lines until it is
// first shown.
//
//	buf    r0 r1 r2 [r3 r4 r5 r6] .. ..
//	                 lines ^ off
//
// lines is a window into buf that moves down by one when the whole screen scrolls, so that
// the cost of scrolling does not depend on the height. At the end of buf it moves back to
// the start.
type screen struct {
	lines []*row
	buf   []*row
	off   int
	saved cursor
	kitty kittyStack

	pointers control.Pointers
}

// resize makes a screen of blank rows.
func (s *screen) resize(cols, rows int) {
	s.buf = make([]*row, 3*rows)
	s.off = 0
	s.lines = s.buf[:rows]
	cells := make([]cell, cols*rows)
	all := make([]row, rows)
	for y := range s.lines {
		all[y].cells = cells[y*cols : (y+1)*cols : (y+1)*cols]
		s.lines[y] = &all[y]
	}
}

// rotate moves every line up by one. The top row, which the caller has blanked, becomes the
// bottom one.
func (s *screen) rotate() {
	n := len(s.lines)
	r := s.lines[0]
	if s.off+n == len(s.buf) {
		copy(s.buf, s.lines)
		s.off = 0
	}
	s.off++
	s.lines = s.buf[s.off : s.off+n]
	s.lines[n-1] = r
}

// blank returns an erased cell: empty, in the pen's background (BCE).
func (e *Engine) blank() cell {
	bg := e.cur.pen.BG
	if bg.IsDefault() {
		return 0
	}
	if bg != e.blankBG {
		st := style{}
		st.BG = bg
		e.blankBits = cell(e.styles.intern(st)) << styleShift
		e.blankBG = bg
	}
	return e.blankBits
}

// half returns what replaces half of a wide character, or a picture's cell, that loses the
// rest: a space in its background, as in xterm.
func (tb *tables) half(c cell) cell {
	bg := tb.styles.list[c.style()].BG
	if bg.IsDefault() {
		return ' '
	}
	st := style{}
	st.BG = bg
	return cell(tb.styles.intern(st))<<styleShift | ' '
}

// split replaces a wide character that lies across the left edge of column x of line y by
// two spaces.
func (e *Engine) split(y, x int) {
	if x <= 0 || x >= e.cols {
		return
	}
	r := e.scr.lines[y]
	if r.cells[x]&kindMask != wideTail {
		return
	}
	r.cells[x-1] = e.half(r.cells[x-1])
	r.cells[x] = e.half(r.cells[x])
	e.mark(y, x-1, x+1)
}

// sideMargins reports whether the scroll region is narrower than the screen.
func (e *Engine) sideMargins() bool { return e.left > 0 || e.right < e.cols-1 }

// scrollUp moves lines [top, bot] up by n, within the side margins, and adds blank ones
// below. Whole lines that leave the main screen at its top go into history.
func (e *Engine) scrollUp(top, bot, n int) {
	n = min(n, bot-top+1)
	if n <= 0 {
		return
	}
	e.last.ok = false
	if e.sideMargins() {
		e.scrollRect(top, bot, n)
		return
	}
	b := e.blank()
	s := e.scr
	keep := top == 0 && s == &e.screens[0]
	if top > 0 {
		s.lines[top-1].wrapped = false
	}
	if bot < e.rows-1 {
		s.lines[bot].wrapped = false
	}
	if keep {
		gone := min(n, e.late.void)
		e.late.void -= gone
		for _, r := range s.lines[gone:n] {
			e.push(r)
		}
	}
	if top == 0 && bot == e.rows-1 {
		for range n {
			s.lines[0].reset(b)
			s.rotate()
		}
		e.damageAll = true
		return
	}
	e.rowBuf = append(e.rowBuf[:0], s.lines[top:top+n]...)
	copy(s.lines[top:], s.lines[top+n:bot+1])
	for i, r := range e.rowBuf {
		r.reset(b)
		s.lines[bot+1-n+i] = r
	}
	e.markRows(top, bot)
}

// scrollDown moves lines [top, bot] down by n, within the side margins, and adds blank ones
// above.
func (e *Engine) scrollDown(top, bot, n int) {
	n = min(n, bot-top+1)
	if n <= 0 {
		return
	}
	e.last.ok = false
	if e.sideMargins() {
		e.scrollRect(top, bot, -n)
		return
	}
	b := e.blank()
	s := e.scr
	e.unwrapAbove(top)
	e.rowBuf = append(e.rowBuf[:0], s.lines[bot+1-n:bot+1]...)
	copy(s.lines[top+n:bot+1], s.lines[top:])
	for i, r := range e.rowBuf {
		r.reset(b)
		s.lines[top+i] = r
	}
	s.lines[bot].wrapped = false
	e.markRows(top, bot)
}

// unwrapAbove makes the line above line y no longer wrapped, since line y is replaced.
func (e *Engine) unwrapAbove(y int) {
	if y > 0 {
		e.scr.lines[y-1].wrapped = false
	} else if !e.alt() {
		e.hist.endLine()
	}
}

// scrollRect moves the cells of lines [top, bot] between the side margins up by n lines, down
// for a negative n.
func (e *Engine) scrollRect(top, bot, n int) {
	b := e.blank()
	for y := top; y <= bot; y++ {
		e.split(y, e.left)
		e.split(y, e.right+1)
	}
	from, to, step := top, bot+1, 1
	if n < 0 {
		from, to, step = bot, top-1, -1
	}
	marked := e.marks > 0 && !e.alt()
	for y := from; y != to; y += step {
		dst := e.scr.lines[y]
		inside := y+n >= top && y+n <= bot
		switch {
		case marked && inside:
			e.moveMarks(dst, e.scr.lines[y+n])
		case marked:
			e.moveMarks(dst, nil)
		}
		if src := y + n; inside {
			copy(dst.cells[e.left:e.right+1], e.scr.lines[src].cells[e.left:e.right+1])
			dst.touch(e.right + 1)
		} else {
			dst.fill(e.left, e.right+1, b)
		}
		if e.right == e.cols-1 {
			dst.wrapped = false
		}
		e.mark(y, e.left, e.right+1)
	}
}

// push appends a row of the main screen to the history, if that is enabled.
func (e *Engine) push(r *row) {
	if e.hist.limit == 0 {
		return
	}
	e.hist.push(e, r)
	e.scrolled++
}
