package native

import (
	"slices"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// lineSize is the size of a line's characters (DECSWL, DECDHL, DECDWL). A line that is not
// of single size has half of the columns, and its cells behind them are zero. It is not
// wrapped, nor is the line above it. A screen with side margins, or narrower than
// minDouble, has only lines of single size.
type lineSize uint8

const (
	singleSize lineSize = iota
	upperHalf           // of double height
	lowerHalf
	doubleWidth
)

// sizeNames are the bytes behind "ESC #" that set a size.
var sizeNames = [...]string{singleSize: "5", upperHalf: "3", lowerHalf: "4", doubleWidth: "6"}

// minDouble is the width in columns at which half a line has room for a wide character.
const minDouble = 4

// columns returns how many columns the row has.
func (r *row) columns() int {
	if r.size != singleSize {
		return len(r.cells) / 2
	}
	return len(r.cells)
}

// lineOf makes a sequence that sets the size of the cursor's line.
func lineOf(s lineSize) func(*Engine) {
	return func(e *Engine) {
		if e.cols < minDouble || e.modes.Has(control.SideMargins) {
			return
		}
		e.settle()
		r := e.scr.lines[e.cur.y]
		if r.size = s; s != singleSize {
			e.doubled = true
			e.setPlain()
			e.split(e.cur.y, e.cols/2)
			r.fill(e.cols/2, e.cols, 0)
			r.wrapped = false
			e.unwrapAbove(e.cur.y)
		}
		e.mark(e.cur.y, 0, e.cols)
	}
}

// fit recomputes doubled and moves the cursor into its line, which may have half of the
// columns. It is called after each control while doubled is set.
func fit(e *Engine) {
	was := e.doubled
	e.doubled = slices.ContainsFunc(e.screens[:], func(s screen) bool {
		return slices.ContainsFunc(s.lines, func(r *row) bool { return r.size != singleSize })
	})
	if e.doubled != was {
		e.setPlain()
	}
	c := &e.cur
	if last := e.scr.lines[c.y].columns() - 1; c.x > last {
		c.x = last
		e.settle()
	} else if c.pending && c.x != e.edge()-1 {
		e.settle()
	}
}

// singleLines sets all lines of the current screen to single size.
func singleLines(e *Engine) {
	if e.doubled {
		for _, r := range e.scr.lines {
			r.size = singleSize
		}
		e.damageAll = true
	}
}

// enlarge replaces the cells of a line, buf[n:], by those that are drawn for its size: a
// character takes two columns, a wide one four. Of a line of double height, the upper half
// shows the text, the lower one is blank.
func enlarge(buf []emulator.Cell, n int, s lineSize) []emulator.Cell {
	if s == singleSize {
		return buf
	}
	cells := slices.Clone(buf[n:])
	end := len(cells) // of the text
	for end > 0 && (cells[end-1].Rune == 0 && cells[end-1].Width != 0 || cells[end-1].Rune == ' ') {
		end--
	}
	buf = buf[:n]
	for i, c := range cells {
		gap := emulator.Cell{Width: 1, Style: emulator.Style{BG: c.Style.BG}}
		switch {
		case s == lowerHalf:
			buf = append(buf, gap, gap)
		case i >= end:
			buf = append(buf, c, c)
		case c.Width == 2:
			buf = append(buf, c)
		case c.Width == 0:
			buf = append(buf, c, gap, gap)
		case c.Tab > 0 || c.IsPicture():
			c.Tab = uint8(min(2*int(c.Tab), maxTab))
			buf = append(buf, c, gap)
		default:
			if c.Width = 2; c.Rune == 0 {
				c.Rune = ' ' // one blank of two columns
			}
			buf = append(buf, c)
			c.Rune, c.Combining, c.Width = 0, "", 0
			buf = append(buf, c)
		}
	}
	return buf
}

// drawn returns the column of the screen where column x of a line is drawn.
func (s lineSize) drawn(x int) int {
	if s != singleSize {
		return 2 * x
	}
	return x
}
