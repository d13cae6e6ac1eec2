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

// up moves the cursor up by n, stopping at the top margin if it is below it.
func (e *Engine) up(n int) {
	e.settle()
	limit := 0
	if e.cur.y >= e.top {
		limit = e.top
	}
	e.cur.y = max(limit, e.cur.y-n)
}

// down moves the cursor down by n, stopping at the bottom margin if it is
// above it.
func (e *Engine) down(n int) {
	e.settle()
	limit := e.rows - 1
	if e.cur.y <= e.bot {
		limit = e.bot
	}
	e.cur.y = min(limit, e.cur.y+n)
}

// forward moves the cursor right by n, stopping at the right margin if it is
// left of it.
func (e *Engine) forward(n int) {
	e.settle()
	limit := e.cols - 1
	if e.cur.x <= e.right {
		limit = e.right
	}
	e.cur.x = min(limit, e.cur.x+n)
}

// back moves the cursor left by n, stopping at the left margin if it is right
// of it. With reverse wrap on it goes on at the end of the line above: in mode
// 45 only where that line was wrapped, in mode 1045 everywhere and from the top
// margin to the bottom one (xterm, since patch 383).
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

// moveTo puts the cursor at a place given by a child, 0-based; in origin mode
// it counts from the margins and stays within.
func (e *Engine) moveTo(x, y int) {
	e.settle()
	b := e.bounds()
	e.cur.x, e.cur.y = clamp(x+b.left, b.left, b.right), clamp(y+b.top, b.top, b.bottom)
}

// column and line are the cursor's place as moveTo takes it.
func (e *Engine) column() int { return e.cur.x - e.bounds().left }

func (e *Engine) line() int { return e.cur.y - e.bounds().top }

// tab moves the cursor to the n-th next tab stop, at most to the right margin.
// A line that waits to wrap goes on waiting, as in xterm.
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

// printTab is HT. The cell that it begins in keeps the number of columns that it
// took, where all of them are empty in the default style, so that the tab can be
// copied.
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

// setTab has an empty cell of the cursor's line begin a tab of n columns. A
// snapshot says so by CSI > n I, as the stops may have changed since.
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

// setMargins sets the scroll region's rows (DECSTBM); a region of less than two
// lines is ignored.
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

// restoreCursor is DECRC. The wait to wrap is only restored where the margins
// still allow it.
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
