package native

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"tandemux/emulator/control"

	"tandemux/emulator/native/grapheme"
)

// settle ends the wait to wrap and the last cluster. It is called when anything but printing
// moves the cursor or changes the grid.
func (e *Engine) settle() {
	e.cur.pending = false
	e.last.ok = false
}

// penChanged has the pen interned anew. It is the only place where unused styles are
// dropped: a caller must not hold an index of a style.
func (e *Engine) penChanged() {
	e.penStale = true
	if len(e.styles.list) >= e.styles.limit {
		e.styles.collect(&e.screens[0], &e.screens[1])
		e.blankBG = 0
	}
}

func (e *Engine) sgr() {
	e.parser.SGR(&e.cur.pen)
	e.penChanged()
}

// edge returns the column behind the last one that printing at the cursor may use.
func (e *Engine) edge() int {
	if r := e.scr.lines[e.cur.y]; r.size != singleSize {
		return r.columns()
	}
	return singleEdge(e)
}

// singleEdge is edge on lines of single size.
func singleEdge(e *Engine) int {
	if e.cur.x > e.right {
		return e.cols
	}
	return e.right + 1
}

// penCell returns the style bits of a cell printed now.
func (e *Engine) penCell() cell {
	if e.penStale {
		fillPen(e)
	}
	return e.penBits
}

// fillPen is a function of its own so that penCell is inlined.
func fillPen(e *Engine) {
	e.penStale = false
	e.penBits = cell(e.styles.find(&e.cur.pen, e.link)) << styleShift
}

// printASCII prints p up to its first byte that is not printable ASCII, or less, and returns
// how many bytes it printed, at least one. The first byte must be printable ASCII.
func (e *Engine) printASCII(p []byte) int {
	if !e.plain {
		e.print(e.cur.charsets.Map(p[0]), grapheme.Plain)
		e.setPlain()
		return 1
	}
	pen := e.penCell()
	c := &e.cur
	n := 0
	for {
		if c.pending && e.modes.Has(control.Wrap) {
			e.wrapLine()
		}
		r := e.scr.lines[c.y]
		x := c.x
		limit := singleEdge(e)
		src := p[n:]
		if len(src) > limit-x {
			src = src[:limit-x]
		}
		dst := r.cells[x:][:len(src)]
		if dst[0]&kindMask == wideTail {
			e.split(c.y, x)
		}
		i := fillASCII(dst, src, pen)
		n += i
		end := x + i
		if end < e.cols && r.cells[end]&kindMask == wideTail {
			r.cells[end] = e.half(r.cells[end])
			e.mark(c.y, end, end+1)
		}
		r.touch(end)
		e.mark(c.y, x, end)
		e.last = lastPrint{ok: true, x: end - 1, y: c.y, r: rune(p[n-1])}
		if end < limit {
			c.x = end
		} else {
			c.x = limit - 1
			c.pending = true
		}
		if n == len(p) || p[n]-0x20 > 0x5e {
			return n
		}
	}
}

// fillASCII writes src, up to its first byte that is not printable ASCII, into dst, which has
// the same length. It returns how many bytes it wrote.
func fillASCII(dst []cell, src []byte, pen cell) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for i+8 <= len(src) && i+8 <= len(dst) {
		v := binary.LittleEndian.Uint64(src[i:])
		if stop := (v | (v + ones) | (v - 0x20*ones)) & high; stop != 0 {
			// stop marks the bytes above 0x7e or below 0x20; its lowest mark is right. The
			// loop has no branch on n, which can't be predicted.
			d, n := dst[i:i+8:i+8], bits.TrailingZeros64(stop)>>3
			for j := range d {
				d[j] ^= (d[j] ^ (pen | cell(v&0xff))) & cell((j-n)>>8)
				v >>= 8
			}
			return i + n
		}
		d := dst[i : i+8 : i+8]
		d[0] = pen | cell(v&0xff)
		d[1] = pen | cell(v>>8&0xff)
		d[2] = pen | cell(v>>16&0xff)
		d[3] = pen | cell(v>>24&0xff)
		d[4] = pen | cell(v>>32&0xff)
		d[5] = pen | cell(v>>40&0xff)
		d[6] = pen | cell(v>>48&0xff)
		d[7] = pen | cell(v>>56)
		i += 8
	}
	for i < len(src) && i < len(dst) && src[i]-0x20 <= 0x5e {
		dst[i] = pen | cell(src[i])
		i++
	}
	return i
}

// printSpecial handles a rune that may join the cell before it or takes no column. It
// reports whether r needs no more printing.
func (e *Engine) printSpecial(r rune, p grapheme.Prop) bool {
	switch cls := p.Class(); cls {
	case grapheme.Control:
		e.last.ok = false
		return p.Width() == 0
	case grapheme.Prepend:
		return p.Width() == 0
	default:
		if p.Width() == 0 {
			e.attach(r, 0)
			return true
		}
		return e.modes.Has(control.Graphemes) && e.lastValid() && e.continues(p) && e.attach(r, p.Width())
	}
}

// continues reports whether a rune that takes columns continues the cluster in
// the cell printed last.
func (e *Engine) continues(p grapheme.Prop) bool {
	switch cls := p.Class(); cls {
	case grapheme.Extend:
		// Those of two columns are skin tones.
		return p.Width() < 2 || grapheme.Of(e.texts.first(e.scr.lines[e.last.y].cells[e.last.x])).Class() == grapheme.Pict
	case grapheme.ExtendPlain, grapheme.Linker, grapheme.Spacing, grapheme.ZWJ:
		return true
	default:
		c := e.scr.lines[e.last.y].cells[e.last.x]
		if c&clusterBit != 0 {
			return grapheme.Joins(e.texts.list[c&runeMask], cls)
		}
		last := rune(c & runeMask)
		return last != 0 && grapheme.JoinsRune(last, cls)
	}
}

// lastValid reports whether the cell printed last is known and in the cursor's line.
func (e *Engine) lastValid() bool { return e.last.ok && e.last.y == e.cur.y }

// attach adds a rune of w columns to the cell printed last. If that is unknown, which only
// a rune of w = 0 may meet, it adds it to the cell left of the cursor, or under the cursor
// while that waits to wrap. The cell becomes as wide as its text (grapheme.ClusterWidth)
// unless the screen has a single column. attach reports whether r needs no more printing. If
// the cell can't become wider, a variation selector is dropped and a rune that takes columns
// is left to stand alone, so that each cell is as wide as its text.
func (e *Engine) attach(r rune, w int) bool {
	if len(e.texts.list) >= e.texts.limit {
		e.texts.collect(&e.screens[0], &e.screens[1])
	}
	x, y := e.cur.x, e.cur.y
	if e.lastValid() {
		x = e.last.x
	} else if !e.cur.pending {
		x--
	}
	if x < 0 {
		return true
	}
	line := e.scr.lines[y]
	if line.cells[x]&kindMask == wideTail {
		x--
	}
	c := line.cells[x]
	if c.empty() {
		return true
	}
	widens := c&kindMask == 0 && (w > 0 || grapheme.Widens(r, e.texts.first(c)))
	if widens && w == 0 && !e.modes.Has(control.Graphemes) {
		return true
	}
	if widens = widens && e.cols > 1; widens && // the cell printed last could have been a wide one
		!(e.lastValid() && (!e.cur.pending || e.modes.Has(control.Wrap) && e.edge()-e.left >= 2)) {
		return w == 0
	}
	known := e.texts.grown(c, r)
	if known.from != c&(runeMask|clusterBit) || known.rune != r {
		e.textBuf = e.texts.appendText(e.textBuf[:0], c)
		if len(e.textBuf)+utf8.RuneLen(r) > maxCluster {
			return w == 0
		}
		e.textBuf = utf8.AppendRune(e.textBuf, r)
		known.from, known.rune, known.to = c&(runeMask|clusterBit), r, e.texts.intern(e.textBuf)
	}
	c = c&^(runeMask|clusterBit) | known.to
	line.cells[x] = c
	e.mark(y, x, x+1)
	if widens {
		e.widen(x, c)
	}
	return true
}

// widen gives the cell printed last, now c, a second column. From the last column it moves
// to the next line, where a wide character would have gone.
func (e *Engine) widen(x int, c cell) {
	ok := e.last
	if e.cur.pending {
		e.scr.lines[e.cur.y].cells[x] = 0
		e.cur.pending = false
		e.place(c, 2, 2)
		e.last.r = ok.r
		return
	}
	e.cur.x = x
	e.place(c, 2, 1)
	e.last.r = ok.r
}

// print prints a character in a cell of its own.
func (e *Engine) print(r rune, p grapheme.Prop) {
	w := p.Width()
	if w == 0 {
		return
	}
	if e.cur.pending && e.modes.Has(control.Wrap) {
		e.wrapLine()
	}
	e.place(cell(r)|e.penCell(), w, w)
	e.last.r = r
}

// place puts a cell of w columns at the cursor and advances the cursor. In insert mode the
// rest of the line moves right by shift columns.
func (e *Engine) place(c cell, w, shift int) {
	limit := e.edge()
	cur := &e.cur
	if e.doubled {
		cur.x = min(cur.x, limit-1) // a block may have entered a line of half the columns
	}
	if w == 2 && cur.x+2 > limit {
		if limit-e.left < 2 {
			w = 1 // no line has room for two columns
		} else if !e.modes.Has(control.Wrap) {
			cur.x = limit - 2
		} else {
			e.pad(limit)
			e.wrapLine()
			if limit = e.edge(); cur.x+2 > limit {
				w = 1
			}
		}
	}
	y, x := cur.y, cur.x
	if e.modes.Has(control.Insert) {
		e.shiftRight(y, x, limit, shift, 0)
	}
	r := e.scr.lines[y]
	if r.cells[x]&kindMask == wideTail {
		e.split(y, x)
	}
	if x+w < e.cols && r.cells[x+w]&kindMask == wideTail {
		e.split(y, x+w)
	}
	if w == 2 {
		r.cells[x] = c&^kindMask | wideLead
		r.cells[x+1] = c&styleMask | wideTail
	} else {
		r.cells[x] = c &^ kindMask
	}
	r.touch(x + w)
	e.mark(y, x, x+w)
	e.last = lastPrint{ok: true, x: x, y: y}
	if x+w < limit {
		cur.x = x + w
		cur.pending = false
	} else {
		cur.x = limit - 1
		cur.pending = true
	}
}

// pad leaves the last column free for a wide character that goes to the next
// line instead.
func (e *Engine) pad(limit int) {
	x, y := e.cur.x, e.cur.y
	if limit != e.cols || e.sideMargins() {
		return
	}
	e.split(y, x)
	r := e.scr.lines[y]
	r.cells[x] = padding
	r.touch(x + 1)
	e.mark(y, x, x+1)
}

// wrapLine moves the cursor to the start of the next line, which continues this
// one.
func (e *Engine) wrapLine() {
	c := &e.cur
	// A line whose last character was erased is not continued.
	full := !e.sideMargins() && e.scr.lines[c.y].cells[e.cols-1]&textMask != 0
	c.pending = false
	switch {
	case c.y == e.bot:
		if c.x >= e.left && c.x <= e.right {
			if full && e.rows == 1 {
				e.scr.lines[0].wrapped = true // it is the row that goes into history
			}
			e.scrollUp(e.top, e.bot, 1)
			if full && e.bot > e.top {
				e.scr.lines[e.bot-1].wrapped = true
			}
		}
	case c.y < e.rows-1:
		if full && e.scr.lines[c.y+1].size == singleSize {
			e.scr.lines[c.y].wrapped = true
		}
		c.y++
	}
	c.x = e.left
}

// intervene keeps REP from repeating the last character, since a control followed it, as in
// xterm, VTE and tmux (vttest 11.7.2). Insert mode and character sets don't count, since a
// snapshot sets them last.
func (e *Engine) intervene() { e.last.r = 0 }

// repeat prints the last character n times again (REP).
func (e *Engine) repeat(n int) {
	if !e.last.ok || e.last.r == 0 {
		return
	}
	n = min(n, e.cols*e.rows)
	r, p := e.last.r, grapheme.Of(e.last.r)
	if e.plain && r < 0x80 {
		var run [256]byte
		for i := range min(n, len(run)) {
			run[i] = byte(r)
		}
		for n > 0 {
			n -= e.printASCII(run[:min(n, len(run))])
		}
		return
	}
	for range n {
		e.print(r, p)
	}
}
