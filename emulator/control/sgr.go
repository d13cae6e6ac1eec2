package control

import (
	"fmt"

	"tandemux/emulator"
)

// sgrAttr maps a parameter to the attributes that it sets and clears.
var sgrAttr = [...]struct{ set, clear emulator.Attrs }{
	1:  {set: emulator.Bold},
	2:  {set: emulator.Faint},
	3:  {set: emulator.Italic},
	5:  {set: emulator.Blink},
	6:  {set: emulator.Blink},
	7:  {set: emulator.Reverse},
	8:  {set: emulator.Conceal},
	9:  {set: emulator.Strike},
	22: {clear: emulator.Bold | emulator.Faint},
	23: {clear: emulator.Italic},
	25: {clear: emulator.Blink},
	27: {clear: emulator.Reverse},
	28: {clear: emulator.Conceal},
	29: {clear: emulator.Strike},
	53: {set: emulator.Overline},
	55: {clear: emulator.Overline},

	// These clear one of the two that 22 clears together (kitty, "SGR 221 and 222").
	221: {clear: emulator.Bold},
	222: {clear: emulator.Faint},
}

// SGR applies the parameters of SGR to a pen. Except for 21, what becomes of a bit of the pen does not
// depend on other bits.
func (ps *Parser) SGR(pen *emulator.Style) {
	for i := 0; i < ps.NParams; {
		n := int(max(ps.Params[i], 0))
		i++
		subs := i // Sub-parameters of n are [subs, i).
		for i < ps.NParams && ps.Sub>>i&1 != 0 {
			i++
		}
		switch {
		case n == 0:
			*pen = emulator.Style{Attrs: pen.Attrs & emulator.Protected}
		case n == 4:
			setUnderline(pen, ps.Params[subs:i])
		case n >= 30 && n <= 37:
			pen.FG = emulator.Indexed(uint8(n - 30))
		case n >= 40 && n <= 47:
			pen.BG = emulator.Indexed(uint8(n - 40))
		case n == 38 || n == 48 || n == 58:
			c, ok := emulator.Color(0), false
			if i > subs {
				c, ok = colonColor(ps.Params[subs:i])
			} else {
				var used int
				c, used, ok = semicolonColor(ps.Params[i:ps.NParams])
				i += used
			}
			if !ok {
				break
			}
			switch n {
			case 38:
				pen.FG = c
			case 48:
				pen.BG = c
			default:
				pen.UnderlineColor = c
			}
		case n == 39:
			pen.FG = 0
		case n == 49:
			pen.BG = 0
		case n == 59:
			pen.UnderlineColor = 0
		case n == 21:
			// Doubly underlined (ECMA-48); but those who mean "not bold" should
			// not take a style away that was asked for by name.
			if pen.Underline <= emulator.Single {
				pen.Underline = emulator.Double
			}
		case n == 24:
			pen.Underline = emulator.NoUnderline
		case n >= 90 && n <= 97:
			pen.FG = emulator.Indexed(uint8(n - 90 + 8))
		case n >= 100 && n <= 107:
			pen.BG = emulator.Indexed(uint8(n - 100 + 8))
		case n < len(sgrAttr):
			pen.Attrs = pen.Attrs&^sgrAttr[n].clear | sgrAttr[n].set
		}
	}
}

// setUnderline executes SGR 4, alone or with a style after a colon.
func setUnderline(pen *emulator.Style, sub []int32) {
	style := emulator.Single
	if len(sub) > 0 && sub[0] >= 0 {
		if sub[0] > int32(emulator.Dashed) {
			return
		}
		style = emulator.Underline(sub[0])
	}
	pen.Underline = style
}

// colonColor reads 5:n, 2:r:g:b, and 2:space:r:g:b with what may follow
// (ITU-T T.416).
func colonColor(p []int32) (emulator.Color, bool) {
	switch {
	case p[0] == 5 && len(p) >= 2:
		return indexColor(p[1])
	case p[0] == 2 && len(p) == 4:
		return rgbColor(p[1:4])
	case p[0] == 2 && len(p) > 4:
		return rgbColor(p[2:5])
	}
	return 0, false
}

// semicolonColor reads 5;n and 2;r;g;b and returns how many parameters they
// took.
func semicolonColor(p []int32) (c emulator.Color, used int, ok bool) {
	switch {
	case len(p) >= 2 && p[0] == 5:
		c, ok = indexColor(p[1])
		return c, 2, ok
	case len(p) >= 4 && p[0] == 2:
		c, ok = rgbColor(p[1:4])
		return c, 4, ok
	case len(p) > 0 && (p[0] == 5 || p[0] == 2):
		return 0, len(p), false
	}
	return 0, min(1, len(p)), false
}

func indexColor(n int32) (emulator.Color, bool) {
	n = max(n, 0)
	return emulator.Indexed(uint8(n)), n <= 255
}

func rgbColor(p []int32) (emulator.Color, bool) {
	var v [3]uint8
	for i := range v {
		n := max(p[i], 0)
		if n > 255 {
			return 0, false
		}
		v[i] = uint8(n)
	}
	return emulator.RGB(v[0], v[1], v[2]), true
}

// maxPens bounds XTPUSHSGR's stack, maxPushed how many pushes are counted beyond it.
const (
	maxPens   = 10
	maxPushed = 100
)

// penParts are the parameters of XTPUSHSGR by their bit in savedPen: attributes, those of an
// underline, and colours.
var penParts = []struct {
	n     int
	attrs emulator.Attrs
}{
	{1, emulator.Bold},
	{2, emulator.Faint},
	{3, emulator.Italic},
	{4, 0},
	{5, emulator.Blink},
	{7, emulator.Reverse},
	{8, emulator.Conceal},
	{9, emulator.Strike},
	{21, 0},
	{30, 0},
	{31, 0},
}

// savedPen is a pen and the parts of it that are restored; 0 means all.
type savedPen struct {
	pen   emulator.Style
	parts uint16
}

// Pens is the stack of XTPUSHSGR. Pushes onto a full stack are counted but not restored, as in xterm.
type Pens struct {
	kept  []savedPen
	extra int
}

// Push executes XTPUSHSGR.
func (p *Pens) Push(ps *Parser, pen emulator.Style) {
	if len(p.kept) == maxPens {
		p.extra = min(p.extra+1, maxPushed)
		return
	}
	s := savedPen{pen: pen}
	s.pen.Attrs &^= emulator.Protected
	for _, n := range ps.Params[:ps.NParams] {
		for i, part := range penParts {
			if int(n) == part.n {
				s.parts |= 1 << i
			}
		}
	}
	p.kept = append(p.kept, s)
}

// Pop executes XTPOPSGR.
func (p *Pens) Pop(pen *emulator.Style) {
	last := len(p.kept) - 1
	if last < 0 || p.extra > 0 {
		p.extra = max(0, p.extra-1)
		return
	}
	s := p.kept[last]
	p.kept = p.kept[:last]
	if s.parts == 0 {
		s.pen.Attrs |= pen.Attrs & emulator.Protected
		*pen = s.pen
		return
	}
	for i, part := range penParts {
		switch {
		case s.parts>>i&1 == 0:
		case part.attrs != 0:
			pen.Attrs = pen.Attrs&^part.attrs | s.pen.Attrs&part.attrs
		case part.n == 30:
			pen.FG = s.pen.FG
		case part.n == 31:
			pen.BG = s.pen.BG
		default:
			pen.Underline, pen.UnderlineColor = s.pen.Underline, s.pen.UnderlineColor
		}
	}
}

// Append appends to a snapshot what fills the stack; style sets the receiver's pen.
func (p *Pens) Append(buf []byte, style func(buf []byte, s emulator.Style) []byte) []byte {
	for _, s := range p.kept {
		buf = append(style(buf, s.pen), "\x1b["...)
		for i, part := range penParts {
			if s.parts>>i&1 != 0 {
				buf = fmt.Appendf(buf, "%d;", part.n)
			}
		}
		buf = append(buf, "#{"...)
	}
	for range p.extra {
		buf = append(buf, "\x1b[#{"...)
	}
	return buf
}

// Common returns what two styles have in common (XTREPORTSGR).
func Common(a, b emulator.Style) emulator.Style {
	a.Attrs &= b.Attrs
	if a.FG != b.FG {
		a.FG = 0
	}
	if a.BG != b.BG {
		a.BG = 0
	}
	if a.Underline != b.Underline || a.UnderlineColor != b.UnderlineColor {
		a.Underline, a.UnderlineColor = 0, 0
	}
	return a
}
