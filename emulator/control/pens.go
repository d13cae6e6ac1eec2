package control

import (
	"fmt"

	"tandemux/emulator"
)

// maxPens bounds XTPUSHSGR's stack, maxPushed how many it counts beyond.
const (
	maxPens   = 10
	maxPushed = 100
)

// penParts are the parameters of XTPUSHSGR by their bit in savedPen: attributes, those of
// an underline, and colours.
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

// savedPen is a pen and which parts of it come back; 0 is all.
type savedPen struct {
	pen   emulator.Style
	parts uint16
}

// Pens is the stack of XTPUSHSGR. What is pushed when it is full is counted, and does not
// come back, as in xterm.
type Pens struct {
	kept  []savedPen
	extra int
}

// Push is XTPUSHSGR.
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

// Pop is XTPOPSGR.
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

// Common is what two styles have in common (XTREPORTSGR).
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
