package native

import (
	"tandemux/emulator"
	"tandemux/emulator/control"
	"tandemux/emulator/native/grapheme"
)

// rect is a rectangle of cells, all four sides inclusive.
type rect struct{ top, left, bottom, right int }

// rectArgs reads a rectangle from parameters i to i+3; a missing one means the edge. In
// origin mode the rectangle counts from the margins and is kept within them, otherwise the
// margins don't matter. ok is false if it has no cells.
func (e *Engine) rectArgs(i int) (r rect, ok bool) {
	b := e.bounds()
	r = e.corners(i)
	ok = r.top <= r.bottom && r.left <= r.right && r.top <= b.bottom && r.left <= b.right
	r.bottom, r.right = min(r.bottom, b.bottom), min(r.right, b.right)
	return r, ok
}

// corners reads the corners of a rectangle from parameters i to i+3.
func (e *Engine) corners(i int) rect {
	b := e.bounds()
	return rect{
		top:    b.top + e.parser.Arg(i, 1) - 1,
		left:   b.left + e.parser.Arg(i+1, 1) - 1,
		bottom: b.top + e.parser.Arg(i+2, emulator.MaxRows) - 1,
		right:  b.left + e.parser.Arg(i+3, emulator.MaxCols) - 1,
	}
}

// bounds returns the area that the cursor and rectangles may be placed in: the scroll region
// in origin mode, else the screen.
func (e *Engine) bounds() rect {
	if e.cur.origin {
		return rect{e.top, e.left, e.bot, e.right}
	}
	return rect{0, 0, e.rows - 1, e.cols - 1}
}

// onRect makes a sequence that calls do with the rectangle in its parameters i to i+3.
func onRect(i int, do func(*Engine, rect)) func(*Engine) {
	return func(e *Engine) {
		if r, ok := e.rectArgs(i); ok {
			do(e, r)
		}
	}
}

// overwrite returns cells [left, right] of a line, which the caller replaces. It splits wide
// characters across the edges.
func (e *Engine) overwrite(y, left, right int) []cell {
	r := e.scr.lines[y]
	if right = min(right, r.columns()-1); left > right {
		return nil
	}
	e.last.ok = false
	e.split(y, left)
	e.split(y, right+1)
	r.touch(right + 1)
	e.mark(y, left, right+1)
	return r.cells[left : right+1]
}

// overwritten makes line y no longer wrapped if its last column is empty.
func (e *Engine) overwritten(y int) {
	if r := e.scr.lines[y]; r.cells[e.cols-1]&textMask == 0 {
		r.wrapped = false
	}
}

// fillRect is DECFRA: it fills with the character of the first parameter in the pen's
// style.
func (e *Engine) fillRect() {
	r, ok := e.rectArgs(1)
	ch := rune(e.parser.Raw(0))
	if ch < 0x80 {
		if ch < 0x20 || ch > 0x7e {
			return
		}
		sets := e.cur.charsets
		ch = sets.Map(byte(ch))
	}
	if p := grapheme.Of(ch); !ok || ch > 0x7f && (ch < 0xa0 || p.Width() != 1 || p.Class() != grapheme.Other) {
		return
	}
	c := cell(ch) | e.penCell()
	for y := r.top; y <= r.bottom; y++ {
		cells := e.overwrite(y, r.left, r.right)
		for x := range cells {
			cells[x] = c
		}
	}
}

// eraseRect is DECERA, which erases protected cells, too, and, if selective, DECSERA.
func eraseRect(selective bool) func(*Engine) {
	return onRect(0, func(e *Engine, r rect) {
		for y := r.top; y <= r.bottom; y++ {
			e.erase(y, r.left, r.right+1, selective && !e.modes.Has(control.ISOProtect))
		}
	})
}

// copyRect is DECCRA. There is one page only.
func (e *Engine) copyRect() {
	src, ok := e.rectArgs(0)
	b := e.bounds()
	top, left := b.top+e.parser.Arg(5, 1)-1, b.left+e.parser.Arg(6, 1)-1
	w := min(src.right-src.left, b.right-left) + 1
	h := min(src.bottom-src.top, b.bottom-top) + 1
	if !ok || w <= 0 || h <= 0 {
		return
	}
	block := make([]cell, 0, w*h)
	for y := src.top; y < src.top+h; y++ {
		block = append(block, e.scr.lines[y].cells[src.left:src.left+w]...)
		e.tidy(block[len(block)-w:])
	}
	for y := range h {
		copy(e.overwrite(top+y, left, left+w-1), block[y*w:])
		e.overwritten(top + y)
	}
}

// tidy repairs the ends of a piece of a line: halves of wide characters become spaces,
// padding an empty cell.
func (e *Engine) tidy(cells []cell) {
	last := len(cells) - 1
	if cells[0]&kindMask == wideTail {
		cells[0] = e.half(cells[0])
	}
	switch cells[last] & kindMask {
	case wideLead:
		cells[last] = e.half(cells[last])
	case padding:
		cells[last] = 0
	}
}

// rectAttrs are the attributes by parameter of DECCARA and DECRARA. Those above 20 reset.
var rectAttrs = map[int]emulator.Attrs{
	1: emulator.Bold, 5: emulator.Blink, 7: emulator.Reverse, 8: emulator.Conceal,
	22: emulator.Bold, 25: emulator.Blink, 27: emulator.Reverse, 28: emulator.Conceal,
}

const allRectAttrs = emulator.Bold | emulator.Blink | emulator.Reverse | emulator.Conceal

// changeAttr applies a parameter of DECCARA.
func changeAttr(s *emulator.Style, n int) {
	switch {
	case n == 0:
		s.Attrs &^= allRectAttrs
		s.Underline = emulator.NoUnderline
	case n == 4:
		s.Underline = emulator.Single
	case n == 24:
		s.Underline = emulator.NoUnderline
	case n < 20:
		s.Attrs |= rectAttrs[n]
	default:
		s.Attrs &^= rectAttrs[n]
	}
}

// reverseAttr applies a parameter of DECRARA.
func reverseAttr(s *emulator.Style, n int) {
	if n == 0 {
		s.Attrs ^= allRectAttrs
	} else if n < 20 {
		s.Attrs ^= rectAttrs[n]
	}
	if n == 0 || n == 4 {
		if s.Underline == emulator.NoUnderline {
			s.Underline = emulator.Single
		} else {
			s.Underline = emulator.NoUnderline
		}
	}
}

// restyleRect is DECCARA and DECRARA: it calls change with each parameter from the fifth on,
// for the style of each cell in a rectangle or, by DECSACE, in the stream of cells between
// its corners.
func (e *Engine) restyleRect(change func(*emulator.Style, int)) {
	r, ok := e.rectArgs(0)
	b := e.bounds()
	if e.extent != 2 && !ok {
		// A stream may end further to the left than it begins.
		r = e.corners(0)
		ok = r.top < r.bottom && r.top <= b.bottom && r.left <= b.right
		r.bottom, r.right = min(r.bottom, b.bottom), min(r.right, b.right)
	}
	if !ok {
		return
	}
	e.penChanged() // makes room for new styles
	args := []int{0}
	if n := e.parser.NParams; n > 4 {
		args = args[:0]
		for i := 4; i < n; i++ {
			args = append(args, e.parser.Raw(i))
		}
	}
	for y := r.top; y <= r.bottom; y++ {
		left, right := r.left, r.right
		if e.extent != 2 {
			if y > r.top {
				left = b.left
			}
			if y < r.bottom {
				right = b.right
			}
		}
		if left <= right {
			e.restyle(y, left, right, args, change)
		}
	}
}

// restyle changes the styles of cells [left, right] of a line. A wide character changes with
// its first half. An empty cell whose style changes becomes a space.
func (e *Engine) restyle(y, left, right int, args []int, change func(*emulator.Style, int)) {
	e.last.ok = false
	r := e.scr.lines[y]
	right = min(right, r.columns()-1)
	e.mark(y, left, min(right+2, e.cols))
	from, to := ^cell(0), cell(0) // the last style, before and after
	for x := left; x <= right; x++ {
		c := r.cells[x]
		if c&kindMask == wideTail {
			continue
		}
		if c&styleMask != from {
			st := e.styles.list[c.style()]
			for _, n := range args {
				change(&st.Style, n)
			}
			from, to = c&styleMask, cell(e.styles.intern(st))<<styleShift
		}
		if from == to {
			continue
		}
		if c.empty() {
			c = ' '
		}
		r.cells[x] = c&^styleMask | to
		if c&kindMask == wideLead {
			r.cells[x+1] = wideTail | to
		}
		r.touch(x + 1)
	}
}

// weights are the values that attributes add to a checksum.
var weights = map[emulator.Attrs]int{
	emulator.Conceal: 0x08, emulator.Reverse: 0x20, emulator.Blink: 0x40, emulator.Bold: 0x80,
}

// checksum is DECRQCRA, as xterm computes it: the negated sum of characters and attributes
// of the written cells. It is zero unless emulator.Checksums is allowed.
func checksum(e *Engine) {
	sum := 0
	if r, ok := e.rectArgs(2); ok && e.allow&emulator.Checksums != 0 {
		for y := r.top; y <= r.bottom; y++ {
			for x, bits := range e.scr.lines[y].cells[r.left : r.right+1] {
				c := e.decode(bits)
				n := int(c.Rune)
				if n == 0 && (x > 0 || y > r.top) {
					continue
				}
				n = max(n, ' ')
				for _, r := range c.Combining {
					n += int(r)
				}
				for a, w := range weights {
					if c.Style.Attrs&a != 0 {
						n += w
					}
				}
				if c.Style.Underline != emulator.NoUnderline {
					n += 0x10
				}
				sum += n
			}
		}
	}
	e.sys.Replyf("\x1bP%d!~%04X\x1b\\", e.parser.Raw(0), -sum&0xffff)
}

// pushPen is XTPUSHSGR.
func pushPen(e *Engine) { e.pens.Push(&e.parser, e.cur.pen) }

// popPen is XTPOPSGR.
func popPen(e *Engine) {
	e.pens.Pop(&e.cur.pen)
	e.penChanged()
}

// reportPen is XTREPORTSGR: the style that all cells of a rectangle have in common.
func reportPen(e *Engine, r rect) {
	common := e.styles.list[e.scr.lines[r.top].cells[r.left].style()].Style
	for y := r.top; y <= r.bottom; y++ {
		for _, c := range e.scr.lines[y].cells[r.left : r.right+1] {
			common = control.Common(common, e.styles.list[c.style()].Style)
		}
	}
	e.sys.Reply("\x1b[" + emulator.StyleReport(common) + "m")
}

// setExtent is DECSACE.
func (e *Engine) setExtent() {
	if n := e.parser.Raw(0); n <= 2 {
		e.extent = n
	}
}
