package native

import "tandemux/emulator"

// What XTCHECKSUM changes about a checksum (xterm's ctlseqs), as far as it
// matters here.
const (
	sumPositive = 1 << iota // do not negate it
	sumNoAttrs              // leave the attributes out
	sumBlanks               // count the blanks at a line's end
)

// sumAttrs is what an attribute adds to a cell's value (VT420, DECRQCRA).
var sumAttrs = []struct {
	attr  emulator.Attrs
	value int
}{
	{emulator.Protected, 0x04},
	{emulator.Conceal, 0x08},
	{emulator.Reverse, 0x20},
	{emulator.Blink, 0x40},
	{emulator.Bold, 0x80},
}

// reportChecksum is DECRQCRA. The checksum of a single cell is its character:
// whoever can print can read the screen by it, a remote shell what was there
// before it came. So it is zero unless the engine was made to tell it, as in
// Windows Terminal; xterm doesn't answer.
func (e *Engine) reportChecksum() {
	r, ok := e.rectArgs(2)
	sum := 0
	if e.checksums && ok {
		for y := r.top; y <= r.bottom; y++ {
			sum += e.lineSum(y, r.left, r.right)
		}
		if e.sumMode&sumPositive == 0 {
			sum = -sum
		}
	}
	e.sys.Replyf("\x1bP%d!~%04X\x1b\\", e.parser.Raw(0), sum&0xffff)
}

// lineSum is the sum of cells [left, right] of a line.
func (e *Engine) lineSum(y, left, right int) int {
	sum, blanks := 0, 0
	for _, c := range e.scr.lines[y].cells[left : right+1] {
		v := ' '
		switch {
		case c&kindMask == wideTail:
			continue
		case c&clusterBit != 0:
			v, _ = splitCluster(e.texts.list[c&runeMask])
		case !c.empty():
			v = rune(c & runeMask)
		}
		if e.sumMode&sumNoAttrs == 0 {
			v += rune(styleSum(e.styles.list[c.style()].Style))
		}
		if v == ' ' && e.sumMode&sumBlanks == 0 {
			blanks += ' '
			continue
		}
		sum += blanks + int(v)
		blanks = 0
	}
	return sum
}

func styleSum(s emulator.Style) (v int) {
	for _, a := range sumAttrs {
		if s.Attrs&a.attr != 0 {
			v += a.value
		}
	}
	if s.Underline != emulator.NoUnderline {
		v += 0x10
	}
	return v
}
