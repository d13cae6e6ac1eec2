package native

import (
	"slices"

	"tandemux/emulator"
	"tandemux/emulator/control"
)

// lineSize is how large the characters of a line are (DECSWL, DECDHL, DECDWL). A line
// that is not of single size has half of the columns: its cells behind them are zero. It
// neither goes on on the next line nor follows one that does, and there is none on a
// screen with side margins, or on one that is narrower than minDouble.
type lineSize uint8

const (
	singleSize lineSize = iota
	upperHalf           // of double height
	lowerHalf
	doubleWidth
)

// sizeNames are what follows "ESC #".
var sizeNames = [...]string{singleSize: "5", upperHalf: "3", lowerHalf: "4", doubleWidth: "6"}

// minDouble leaves room for a wide character.
const minDouble = 4

// columns is how many columns the row has.
func (r *row) columns() int {
	if r.size != singleSize {
		return len(r.cells) / 2
	}
	return len(r.cells)
}

// lineOf makes a sequence that gives the cursor's line a size.
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

// fit ends a control while there are lines that are not of single size, before or behind
// it: the cursor may have come into one, where it has less room.
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

// singleLines makes all lines of the screen that shows of single size.
func singleLines(e *Engine) {
	if e.doubled {
		for _, r := range e.scr.lines {
			r.size = singleSize
		}
		e.damageAll = true
	}
}

// enlarge turns the cells behind the first n of buf, those of a line, into those that
// are drawn: a character takes two columns, a wide one four. Where the line is of double
// height the upper half shows it, the lower is blank.
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
				c.Rune = ' ' // One blank, not two.
			}
			buf = append(buf, c)
			c.Rune, c.Combining, c.Width = 0, "", 0
			buf = append(buf, c)
		}
	}
	return buf
}

// drawn is where a column of a line is drawn.
func (s lineSize) drawn(x int) int {
	if s != singleSize {
		return 2 * x
	}
	return x
}
