package vt10x

import (
	"unicode/utf8"

	"tandemux/emulator/control"
)

// charset is which of G0 and G1 are DEC special graphics rather than ASCII, and which
// one is in use.
type charset struct {
	drawing [2]bool
	gl      uint8
}

// drawing is DEC special graphics from '_' on.
var drawing = []rune(" ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")

// Write feeds the child's output.
func (e *engine) Write(p []byte) {
	ps := &e.parser
	if n := ps.NHeld; n > 0 {
		ps.NHeld = 0
		p = append(append([]byte(nil), ps.Held[:n]...), p...)
	}
	for len(p) > 0 {
		if !ps.Ground() {
			p = p[ps.Feed(p, e):]
			continue
		}
		p = p[e.text(p):]
		switch {
		case len(p) == 0:
		case p[0] >= 0x80:
			ps.NHeld = copy(ps.Held[:], p)
			return
		default:
			if p[0] == 0x1b {
				ps.Escape()
			} else {
				e.Control(p[0])
			}
			p = p[1:]
		}
	}
}

// text prints the characters at the start of p and gives their length. It stops
// before a control and before an incomplete character.
func (e *engine) text(p []byte) int {
	i := 0
	e.run = e.run[:0]
	for i < len(p) {
		b := p[i]
		if b < 0x20 || b == 0x7f || b >= 0x80 && !utf8.FullRune(p[i:]) {
			break
		}
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			// The longest that could have begun a character becomes one U+FFFD.
			for n < len(p)-i && n < utf8.UTFMax-1 && !utf8.FullRune(p[i:i+n+1]) {
				n++
			}
		}
		if r < 0x80 || r >= 0xa0 { // C1 controls are dropped.
			e.run = append(e.run, r)
		}
		i += n
	}
	e.print(e.run)
	return i
}

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
	wraps, insert := e.modes.Has(control.Wrap), e.modes.Has(control.Insert)
	var piece []byte
	flush := func() {
		e.send(piece)
		piece = piece[:0]
	}
	for _, r := range run {
		if r >= '_' && r <= '~' && e.charset.drawing[e.charset.gl] {
			r = drawing[r-'_']
		}
		if r == typedSpace || r == secondHalf {
			r = utf8.RuneError
		}
		w := runeWidth(r)
		if w == 0 || w > e.cols {
			continue
		}
		e.last = r
		switch {
		case w == 2 && x == e.cols-1 && !wraps:
			piece = append(piece, '\b') // It takes the last two columns.
			x, pending = x-1, false
		case w == 2 && x == e.cols-1 && !pending:
			flush()
			e.sendID(0)
			e.sendString(" ") // That column stays free.
			e.sendPen()
			pending = true
		}
		scrolled := false
		if pending && wraps {
			flush()
			x = 0
			switch {
			case y == e.bottom:
				e.saveTop(1)
				scrolled = true
			case y < e.rows-1:
				y++
			default:
				piece = append(piece, '\r') // Below the region there is no next line.
			}
			if insert && (scrolled || len(piece) == 0) {
				piece = append(piece, "\r\n"...) // It needs the cursor there first.
			}
		}
		if insert {
			piece = append(piece, "\x1b[@\x1b[@"[:3*w]...)
		}
		switch {
		case r == ' ':
			piece = utf8.AppendRune(piece, typedSpace)
		case w == 2:
			piece = utf8.AppendRune(utf8.AppendRune(piece, r), secondHalf)
		default:
			piece = utf8.AppendRune(piece, r)
		}
		x += w
		if pending = x >= e.cols; pending {
			x = e.cols - 1
		} else if scrolled && !e.pen.Style.BG.IsDefault() {
			// vt10x scrolls in the default background; the rest of the new line
			// gets the pen's.
			piece = append(piece, "\x1b[K"...)
		}
	}
	flush()
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
