package native

import (
	"encoding/binary"
	"unicode/utf8"

	"tandemux/emulator/control"

	"tandemux/emulator/native/grapheme"
)

// printText prints one or more characters that p begins with, the first not ASCII, and
// returns how many bytes it used.
func (e *Engine) printText(p []byte) int {
	r, n := grapheme.Decode(p)
	if r == utf8.RuneError && n == 1 {
		return e.badRune(p)
	}
	if e.cur.charsets.Single != 0 {
		e.cur.charsets.Single = 0
		e.setPlain()
	}
	pr := grapheme.Of(r)
	if pr.Class() != grapheme.Other && e.printSpecial(r, pr) {
		return n
	}
	if e.plain && pr.Starts() {
		if k := e.printRun(p, r, n, pr.Width()); k > 0 {
			return k
		}
	}
	e.print(r, pr)
	return n
}

// printRune prints a rune beyond ASCII.
func (e *Engine) printRune(r rune) {
	p := grapheme.Of(r)
	if p.Class() != grapheme.Other && e.printSpecial(r, p) {
		return
	}
	e.print(r, p)
}

// printRun prints the characters that p begins with, as long as each starts a cell and the
// line has room. The caller knows that the first one, r of n bytes and w columns, starts a
// cell. It returns how many bytes it printed, zero if the first has no room.
func (e *Engine) printRun(p []byte, r rune, n, w int) int {
	pen := e.penCell()
	c := &e.cur
	if c.pending && e.modes.Has(control.Wrap) {
		e.wrapLine()
	}
	x, limit := c.x, singleEdge(e)
	if x+w > limit {
		return 0
	}
	line := e.scr.lines[c.y]
	if line.cells[x]&kindMask == wideTail {
		e.split(c.y, x)
	}
	used, last, r := fillRun(line.cells[x:limit], p, r, n, w, pen)
	last += x
	if x = last + 1; x < limit && line.cells[last]&kindMask == wideLead {
		x++
	}
	if x < e.cols && line.cells[x]&kindMask == wideTail {
		line.cells[x] = e.half(line.cells[x])
		e.mark(c.y, x, x+1)
	}
	line.touch(x)
	e.mark(c.y, c.x, x)
	e.last = lastPrint{ok: true, x: last, y: c.y, r: r}
	c.pending = x == limit
	c.x = min(x, limit-1)
	return used
}

// fillRun writes the characters that p begins with into cells, as long as each starts a cell
// and there is room. The first is r, of n bytes and w columns. It returns their length in
// bytes, and the column and the rune of the last one.
func fillRun(cells []cell, p []byte, r rune, n, w int, pen cell) (used, last int, lastRune rune) {
	x := 0
	for {
		if w == 2 {
			cells[x] = pen | cell(r) | wideLead
			cells[x+1] = pen | wideTail
			used += n
			k := fillWide(cells[x+2:], p[used:], pen)
			x, used = x+2*k, used+3*k
			r = rune(cells[x] & runeMask)
		} else {
			cells[x] = pen | cell(r)
			used += n
		}
		last, lastRune = x, r
		x += w
		if used < len(p) && p[used]-0x20 <= 0x5e && x < len(cells) {
			src := p[used:min(len(p), used+len(cells)-x)]
			k := fillASCII(cells[x:][:len(src)], src, pen)
			x, used = x+k, used+k
			last, lastRune = x-1, rune(p[used-1])
		}
		if used >= len(p) || p[used] < 0x80 {
			return used, last, lastRune
		}
		r, n = grapheme.Decode(p[used:])
		pr := grapheme.Of(r)
		w = pr.Width()
		if r == utf8.RuneError || !pr.Starts() || x+w > len(cells) {
			return used, last, lastRune
		}
	}
}

// All unified ideographs of this block are wide.
const firstHan, lastHan = 0x4e00, 0x9fff

// fillWide writes the characters of three bytes and two columns that p begins with, such as
// ideographs, into cells, and returns how many. It may stop before the last one.
func fillWide(cells []cell, p []byte, pen cell) int {
	for n := 0; ; n++ {
		if len(p) < 4 || len(cells) < 2 {
			return n
		}
		v := cell(binary.LittleEndian.Uint32(p))
		if v&0xc0c0f0 != 0x8080e0 {
			return n
		}
		r := v&0xf<<12 | v>>2&0xfc0 | v>>16&0x3f
		if r-firstHan > lastHan-firstHan && (r-0x1000 > 0xcfff-0x1000 || grapheme.Of(rune(r)) != grapheme.Wide) {
			return n
		}
		cells[0] = pen | r | wideLead
		cells[1] = pen | wideTail
		p, cells = p[3:], cells[2:]
	}
}
