package vt10x

import (
	"strconv"
	"unicode/utf8"
)

func appendInt(buf []byte, n int) []byte { return strconv.AppendInt(buf, int64(n), 10) }

// charset is which character sets are designated and which one is in use.
type charset struct {
	drawing [4]bool // G0–G3: DEC special graphics rather than ASCII
	gl      uint8   // the one in use
}

// drawing is DEC special graphics from '_' on.
var drawing = []rune(" ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")

// print writes a run of characters, none of them a control.
//
// It goes to vt10x in pieces that end where a line does, so that no more than
// one line scrolls at a time and history can save it first.
func (e *engine) print(run []rune) {
	if len(run) == 0 {
		return
	}
	e.sendPen()
	x, y, pending := e.at()
	piece := e.out[:0]
	flush := func() {
		e.send(piece)
		piece = piece[:0]
	}
	for _, r := range run {
		if r >= '_' && r <= '~' && e.charset.drawing[e.charset.gl] {
			r = drawing[r-'_']
		}
		if r >= typedSpace && r <= marginGap {
			r = utf8.RuneError
		}
		w := runeWidth(r)
		if w == 0 || w > e.cols {
			continue
		}
		e.last = r
		if w == 2 && x == e.cols-1 && e.flags.noWrap {
			piece = append(piece, '\b') // It takes the last two columns.
			x, pending = x-1, false
		}
		if w == 2 && x == e.cols-1 && !pending {
			piece = utf8.AppendRune(piece, marginGap)
			pending = true
		}
		scrolled := false
		if pending && !e.flags.noWrap {
			flush()
			piece = e.wrap(piece, y)
			if scrolled = y == e.bottom; !scrolled {
				y = min(y+1, e.rows-1)
			}
			x = 0
		}
		if e.flags.insert {
			piece = append(piece, "\x1b["...)
			piece = append(appendInt(piece, w), '@')
		}
		piece = appendStandIn(piece, r, w)
		x += w
		pending = x >= e.cols
		if pending {
			x = e.cols - 1
		}
		if scrolled && !pending && !e.pen.Style.BG.IsDefault() {
			// vt10x scrolls in the default background; the rest of the new line
			// gets the pen's.
			piece = append(piece, "\x1b[K"...)
		}
	}
	flush()
	e.out = piece
}

// wrap prepares for a character that wraps from line y. Below the region there
// is no next line; insert mode needs the cursor on it before the character.
func (e *engine) wrap(piece []byte, y int) []byte {
	switch {
	case y == e.rows-1 && y != e.bottom:
		return append(piece, '\r')
	case y == e.bottom:
		e.saveTop(1)
		if y == 0 && e.altMode == 0 {
			e.history.mark() // The line that wraps is itself the one that leaves.
		}
	}
	if e.flags.insert {
		piece = append(piece, "\r\n"...)
	}
	return piece
}

// appendStandIn appends a character as vt10x is given it.
func appendStandIn(buf []byte, r rune, w int) []byte {
	if r == ' ' {
		return utf8.AppendRune(buf, typedSpace)
	}
	buf = utf8.AppendRune(buf, r)
	if w == 2 {
		buf = utf8.AppendRune(buf, secondHalf)
	}
	return buf
}

// repeat is REP: the last character n times more, at most as often as the
// screen has room for.
func (e *engine) repeat(n int) {
	if e.last == 0 {
		return
	}
	e.run = e.run[:0]
	for range min(n, e.cols*e.rows) {
		e.run = append(e.run, e.last)
	}
	e.print(e.run)
}

// lineFeed moves down, scrolling at the bottom of the region; bytes is how
// vt10x is told.
func (e *engine) lineFeed(bytes string) {
	e.settle()
	_, y, _ := e.at()
	scrolls := y == e.bottom
	if scrolls {
		e.saveTop(1)
	}
	e.sendPen()
	e.sendString(bytes)
	if scrolls && !e.pen.Style.BG.IsDefault() {
		e.sendString("\x1b[2K")
	}
}
