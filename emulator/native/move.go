package native

import "tandemux/emulator/control"

// index moves the cursor down, scrolling at the bottom margin (IND, LF).
func (e *Engine) index() {
	e.settle()
	c := &e.cur
	if c.y == e.bot {
		if c.x >= e.left && c.x <= e.right {
			e.scrollUp(e.top, e.bot, 1)
		}
	} else if c.y < e.rows-1 {
		c.y++
	}
}

// reverseIndex moves the cursor up, scrolling at the top margin (RI).
func (e *Engine) reverseIndex() {
	e.settle()
	c := &e.cur
	if c.y == e.top {
		if c.x >= e.left && c.x <= e.right {
			e.scrollDown(e.top, e.bot, 1)
		}
	} else if c.y > 0 {
		c.y--
	}
}

// up moves the cursor up by n, at most to the top margin if it starts there or below.
func (e *Engine) up(n int) {
	e.settle()
	limit := 0
	if e.cur.y >= e.top {
		limit = e.top
	}
	e.cur.y = max(limit, e.cur.y-n)
}

// down moves the cursor down by n, at most to the bottom margin if it starts there or
// above.
func (e *Engine) down(n int) {
	e.settle()
	limit := e.rows - 1
	if e.cur.y <= e.bot {
		limit = e.bot
	}
	e.cur.y = min(limit, e.cur.y+n)
}

// forward moves the cursor right by n, at most to the right margin if it starts there or
// to its left.
func (e *Engine) forward(n int) {
	e.settle()
	limit := e.cols - 1
	if e.cur.x <= e.right {
		limit = e.right
	}
	e.cur.x = min(limit, e.cur.x+n)
}

// back moves the cursor left by n, at most to the left margin if it starts there or to its
// right. With reverse wrap it continues at the end of the line above: in mode 45 only if
// that line is wrapped, in mode 1045 always, and from the top margin at the bottom one
// (as xterm since patch 383).
func (e *Engine) back(n int) {
	c := &e.cur
	wrap, extended := e.modes.Has(control.ReverseWrap), e.modes.Has(control.ReverseWrapExt)
	pending := c.pending
	e.settle()
	if !(wrap || extended) || !e.modes.Has(control.Wrap) {
		limit := 0
		if c.x >= e.left {
			limit = e.left
		}
		c.x = max(limit, c.x-n)
		return
	}
	if pending {
		n--
	}
	n = min(n, e.cols*e.rows)
	for n > 0 {
		limit := 0
		if c.x >= e.left {
			limit = e.left
		}
		if step := min(n, c.x-limit); step > 0 {
			c.x -= step
			n -= step
			continue
		}
		if c.y == e.top {
			if !extended {
				return
			}
			c.y = e.bot
		} else if c.y == 0 || !extended && !e.scr.lines[c.y-1].wrapped {
			return
		} else {
			c.y--
		}
		c.x = e.right
		n--
	}
}

// moveTo puts the cursor at a place that the child gave, 0-based. In origin mode the place
// counts from the margins and is kept within them.
func (e *Engine) moveTo(x, y int) {
	e.settle()
	b := e.bounds()
	e.cur.x, e.cur.y = clamp(x+b.left, b.left, b.right), clamp(y+b.top, b.top, b.bottom)
}

// column and line are the cursor's place in moveTo's terms.
func (e *Engine) column() int { return e.cur.x - e.bounds().left }

func (e *Engine) line() int { return e.cur.y - e.bounds().top }

// tab moves the cursor to the n-th next tab stop, at most to the right margin. It does not
// end a wait to wrap, as in xterm.
func (e *Engine) tab(n int) {
	limit := e.cols - 1
	if e.cur.x <= e.right {
		limit = e.right
	}
	if x := e.tabs.Next(e.cur.x, n, limit); x != e.cur.x {
		e.settle()
		e.cur.x = x
	}
}

// printTab is HT. If the cells that it passes are all empty in the default style, the first
// keeps their number, so that the tab can be copied.
func (e *Engine) printTab() {
	x, y := e.cur.x, e.cur.y
	e.tab(1)
	for _, c := range e.scr.lines[y].cells[x:e.cur.x] {
		if c != 0 {
			return
		}
	}
	e.setTab(x, e.cur.x-x)
}

// setTab makes cell x of the cursor's line, if it is empty, begin a tab of n columns. CSI >
// n I, a private sequence, does this for snapshots, since tab stops may have changed.
func (e *Engine) setTab(x, n int) {
	r := e.scr.lines[e.cur.y]
	if r.cells[x] == 0 && n > 0 && n <= maxTab {
		r.cells[x] = cell(n) << tabShift
		r.touch(x + 1)
		e.mark(e.cur.y, x, x+1)
	}
}

// backTab moves the cursor to the n-th tab stop before it (CBT).
func (e *Engine) backTab(n int) {
	e.settle()
	limit := 0
	if e.cur.origin {
		limit = e.left
	}
	e.cur.x = e.tabs.Prev(e.cur.x, n, limit)
}

// setMargins sets the scroll region's rows (DECSTBM). A region of less than two rows is
// ignored.
func (e *Engine) setMargins() {
	top, bot := e.parser.Arg(0, 1), e.parser.Arg(1, e.rows)
	bot = min(bot, e.rows)
	if top >= bot {
		return
	}
	e.top, e.bot = top-1, bot-1
	e.moveTo(0, 0)
}

// setSideMargins sets the scroll region's columns (DECSLRM), in mode 69.
func (e *Engine) setSideMargins() {
	left, right := e.parser.Arg(0, 1), e.parser.Arg(1, e.cols)
	right = min(right, e.cols)
	if left >= right {
		return
	}
	e.left, e.right = left-1, right-1
	e.moveTo(0, 0)
}

// saveCursor is DECSC.
func (e *Engine) saveCursor() {
	e.scr.saved = e.cur
	e.scr.saved.charsets.Single = 0
}

// restoreCursor is DECRC. It restores the wait to wrap only if the margins still allow
// that.
func (e *Engine) restoreCursor() {
	e.last.ok = false
	e.cur = e.scr.saved
	e.cur.x = min(e.cur.x, e.cols-1)
	e.cur.y = min(e.cur.y, e.rows-1)
	if e.cur.origin {
		e.cur.x = clamp(e.cur.x, e.left, e.right)
		e.cur.y = clamp(e.cur.y, e.top, e.bot)
	}
	if e.cur.pending {
		c := e.scr.lines[e.cur.y].cells[e.cur.x]
		e.cur.pending = e.cur.x == e.edge()-1 && c&kindMask != padding
	}
	e.penStale = true
	e.setPlain()
}
