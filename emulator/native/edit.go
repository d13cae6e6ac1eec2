package native

import (
	"tandemux/emulator"
	"tandemux/emulator/control"
)

// spares reports whether an erase leaves protected cells alone. DECSED, DECSEL and DECSERA
// spare the cells of DECSCA. ED, EL, ECH and, as in xterm, DECSED and DECSEL spare those
// of SPA.
func (e *Engine) spares(selective bool) bool {
	return selective || e.modes.Has(control.ISOProtect)
}

// erase blanks cells [from, to) of line y, but not protected ones if selective. It does
// not end a wait to wrap, as in tmux, Alacritty and xterm.js; in xterm it does.
func (e *Engine) erase(y, from, to int, selective bool) {
	r := e.scr.lines[y]
	if to = min(to, r.columns()); from >= to {
		return
	}
	e.last.ok = false
	e.split(y, from)
	e.split(y, to)
	b := e.blank()
	if !selective {
		r.fill(from, to, b)
		if to == e.cols {
			r.wrapped = false
		}
		e.mark(y, from, to)
		return
	}
	for x := from; x < to; x++ {
		if e.styles.list[r.cells[x].style()].Attrs&emulator.Protected == 0 {
			r.cells[x] = b
		}
	}
	r.touch(to)
	if to == e.cols && r.cells[to-1].empty() {
		r.wrapped = false
	}
	e.mark(y, from, to)
}

// eraseLine is EL and DECSEL. While the line waits to wrap, the cursor is behind its last
// character, so that EL 0 erases nothing: grep --color sends EL 0 after each match.
func (e *Engine) eraseLine(what int, selective bool) {
	selective = e.spares(selective)
	x, y := e.cur.x, e.cur.y
	switch what {
	case 0:
		if !e.cur.pending {
			e.erase(y, x, e.cols, selective)
		}
	case 1:
		e.erase(y, 0, x+1, selective)
	case 2:
		e.erase(y, 0, e.cols, selective)
	}
}

// eraseDisplay is ED and DECSED. ED 2 does not move the screen into history, as in xterm.
// ED 3 clears the history.
func (e *Engine) eraseDisplay(what int, selective bool) {
	from, to := 0, e.rows-1
	switch what {
	case 0:
		e.eraseLine(0, selective)
		from = e.cur.y + 1
	case 1:
		e.eraseLine(1, selective)
		to = e.cur.y - 1
	case 2:
		if !selective && !e.alt() {
			e.hist.endLine()
			e.hist.setFloor()
		}
	case 3:
		if !selective {
			e.hist.clear()
		}
		return
	default:
		return
	}
	if from > to {
		return
	}
	e.last.ok = false
	if e.spares(selective) {
		for y := from; y <= to; y++ {
			e.erase(y, 0, e.cols, true)
		}
		return
	}
	b := e.blank()
	for y := from; y <= to; y++ {
		e.scr.lines[y].reset(b)
	}
	e.markRows(from, to)
}

// shiftRight inserts n cells b at column x of line y. Cells that would move to column
// limit or beyond are lost.
func (e *Engine) shiftRight(y, x, limit, n int, b cell) {
	n = min(n, limit-x)
	e.split(y, x)
	e.split(y, limit-n)
	e.split(y, limit)
	r := e.scr.lines[y]
	if r.used > x {
		r.touch(min(limit, max(r.used+n, x+n)))
	}
	copy(r.cells[x+n:limit], r.cells[x:limit-n])
	if b == 0 {
		clear(r.cells[x : x+n])
	} else {
		r.fill(x, x+n, b)
	}
	if limit == e.cols {
		r.wrapped = false
	}
	e.mark(y, x, limit)
}

// shiftLeft removes n cells at column x of line y and adds as many blanks before column
// limit.
func (e *Engine) shiftLeft(y, x, limit, n int) {
	n = min(n, limit-x)
	e.split(y, x)
	e.split(y, x+n)
	e.split(y, limit)
	r := e.scr.lines[y]
	copy(r.cells[x:limit-n], r.cells[x+n:limit])
	if limit > r.used {
		r.touch(min(limit, r.used))
	}
	r.fill(limit-n, limit, e.blank())
	if limit == e.cols {
		r.wrapped = false
	}
	e.mark(y, x, limit)
}

// inside reports whether the cursor is within the scroll region.
func (e *Engine) inside() bool {
	c := &e.cur
	return c.y >= e.top && c.y <= e.bot && c.x >= e.left && c.x <= e.right
}

// insertChars is ICH and, for a negative n, DCH.
func (e *Engine) insertChars(n int) {
	if e.cur.x < e.left || e.cur.x > e.right {
		return
	}
	e.settle()
	e.shift(e.cur.y, e.cur.x, n)
}

// insertLines is IL and, for a negative n, DL; the cursor goes to the left margin.
func (e *Engine) insertLines(n int) {
	if !e.inside() {
		return
	}
	e.settle()
	if n > 0 {
		e.scrollDown(e.cur.y, e.bot, n)
	} else {
		e.scrollUp(e.cur.y, e.bot, -n)
	}
	e.cur.x = e.left
}

// shift moves the cells of line y, from column x to the right margin, right by n, left for
// a negative n.
func (e *Engine) shift(y, x, n int) {
	limit := min(e.right+1, e.scr.lines[y].columns())
	switch {
	case x >= limit:
	case n > 0:
		e.shiftRight(y, x, limit, n, e.blank())
	default:
		e.shiftLeft(y, x, limit, -n)
	}
}

// moveColumns is shift of each line of the scroll region (DECIC, DECDC, SL, SR).
func (e *Engine) moveColumns(x, n int) {
	e.settle()
	for y := e.top; y <= e.bot; y++ {
		e.shift(y, x, n)
	}
}

// backIndex is DECBI: it moves the cursor left; at the left margin it scrolls instead.
func (e *Engine) backIndex() {
	switch {
	case e.cur.x != e.left:
		e.settle()
		e.cur.x = max(0, e.cur.x-1)
	case e.inside():
		e.moveColumns(e.left, 1)
	}
}

// forwardIndex is DECFI: it moves the cursor right; at the right margin it scrolls instead.
func (e *Engine) forwardIndex() {
	switch {
	case e.cur.x != e.right:
		e.settle()
		e.cur.x = min(e.cols-1, e.cur.x+1)
	case e.inside():
		e.moveColumns(e.left, -1)
	}
}

// alignmentTest is DECALN: it fills the screen with E, resets the margins and moves the
// cursor home.
func (e *Engine) alignmentTest() {
	e.resetMargins()
	e.cur.origin = false
	e.moveTo(0, 0)
	for _, r := range e.scr.lines {
		for x := range r.cells {
			r.cells[x] = 'E'
		}
		r.used, r.wrapped, r.size, r.marks = e.cols, false, singleSize, nil
	}
	e.damageAll = true
}
