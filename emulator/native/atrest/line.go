package atrest

import (
	"encoding/binary"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/emulator/native/grapheme"
)

// A line at rest (in history, and in the middle of a resize) is a stream of
// cells and style changes. It names no table, so that tables need only know
// the cells on the screens, and is a fraction of the cells' size.
//
//	bytes of UTF-8     a cell; its width is the rune's
//	Cluster n text  a cell of n bytes of text, one column wide
//	Wide n text     the same, two columns wide
//	Odd rune        a cell whose width is not its rune's: one column
//	Pad             the last column, left free by a wide character
//	Empty n         n empty cells
//	Style …         the style of the cells that follow, as AppendStyle has it
//	Tab n           an empty cell, the first of n columns of a tab
//
// A line begins in the default style. Controls are never text, so the tokens
// are.
const (
	Cluster = 0x01
	Wide    = 0x02
	Odd     = 0x03
	Pad     = 0x04
	Empty   = 0x05
	Style   = 0x06
	Tab     = 0x07
)

// What a style token has; the parts follow its mask in this order.
const (
	HasFG = 1 << iota
	HasBG
	HasUnderlineColor
	HasAttrs
	HasUnderline
	HasLink
)

// AppendEmpty appends n empty cells.
func AppendEmpty(buf []byte, n int) []byte {
	return binary.AppendUvarint(append(buf, Empty), uint64(n))
}

// AppendStyle appends a style that has no link: the mask of its parts, then these.
func AppendStyle(buf []byte, s *emulator.Style) []byte {
	at := len(buf)
	buf = append(buf, 0)
	var mask byte
	if s.FG != 0 {
		mask |= HasFG
		buf = appendColor(buf, s.FG)
	}
	if s.BG != 0 {
		mask |= HasBG
		buf = appendColor(buf, s.BG)
	}
	if s.UnderlineColor != 0 {
		mask |= HasUnderlineColor
		buf = appendColor(buf, s.UnderlineColor)
	}
	if s.Attrs != 0 {
		mask |= HasAttrs
		buf = append(buf, byte(s.Attrs), byte(s.Attrs>>8))
	}
	if s.Underline != 0 {
		mask |= HasUnderline
		buf = append(buf, byte(s.Underline))
	}
	buf[at] = mask
	return buf
}

func appendColor(buf []byte, c emulator.Color) []byte {
	if i, ok := c.Index(); ok {
		return append(buf, 1, i)
	}
	return append(buf, 2, byte(c>>16), byte(c>>8), byte(c))
}

// MaxStyle bounds an encoded style without a link, its token included.
const MaxStyle = 18

// Packed is a style with its token; N is zero where there is none.
type Packed struct {
	first, next uint64
	last        uint16
	N           uint8
}

// Pack encodes a style that has no link.
func Pack(s *emulator.Style) (p Packed) {
	var b [MaxStyle]byte
	p.N = uint8(len(AppendStyle(append(b[:0], Style), s)))
	p.first, p.next = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	p.last = binary.LittleEndian.Uint16(b[16:])
	return p
}

// Put writes all of MaxStyle bytes, of which N count.
func (p *Packed) Put(buf []byte) {
	_ = buf[MaxStyle-1]
	binary.LittleEndian.PutUint64(buf, p.first)
	binary.LittleEndian.PutUint64(buf[8:], p.next)
	binary.LittleEndian.PutUint16(buf[16:], p.last)
}

// Token is what a line decodes to.
type Token struct {
	Kind  byte // one of the above, or 0 for a rune of its own width
	Text  []byte
	Rune  rune
	Count int // of empty cells, of a tab's columns
}

// Next decodes the first token of a line and returns how many bytes it took. A
// style's bytes are left in text for decodeStyle.
func Next(b []byte) (Token, int) {
	switch kind := b[0]; kind {
	case Cluster, Wide:
		n := 2 + int(b[1])
		return Token{Kind: kind, Text: b[2:n]}, n
	case Odd:
		r, n := utf8.DecodeRune(b[1:])
		return Token{Kind: kind, Rune: r}, n + 1
	case Pad:
		return Token{Kind: kind}, 1
	case Empty:
		v, n := binary.Uvarint(b[1:])
		return Token{Kind: kind, Count: int(v)}, n + 1
	case Style:
		n := 1 + StyleLen(b[1:])
		return Token{Kind: kind, Text: b[1:n]}, n
	case Tab:
		return Token{Kind: kind, Count: int(b[1])}, 2
	}
	if b[0] < 0x80 {
		return Token{Rune: rune(b[0])}, 1
	}
	r, n := utf8.DecodeRune(b)
	return Token{Rune: r}, n
}

// Bytes is the text of a character's token, whose encoding is raw.
func (t *Token) Bytes(raw []byte) []byte {
	switch t.Kind {
	case Cluster, Wide:
		return t.Text
	case Odd:
		return raw[1:]
	}
	return raw
}

// Width is the number of columns of a token.
func (t *Token) Width() int {
	switch t.Kind {
	case 0:
		if t.Rune < 0x80 {
			return 1
		}
		return max(1, grapheme.Of(t.Rune).Width())
	case Wide:
		return 2
	case Empty:
		return t.Count
	case Style:
		return 0
	}
	return 1
}

// StyleLen is the length of an encoded style.
func StyleLen(b []byte) int {
	n := 1
	for bit := byte(HasFG); bit <= HasUnderlineColor; bit <<= 1 {
		if b[0]&bit != 0 {
			if b[n] == 1 {
				n += 2
			} else {
				n += 4
			}
		}
	}
	if b[0]&HasAttrs != 0 {
		n += 2
	}
	if b[0]&HasUnderline != 0 {
		n++
	}
	if b[0]&HasLink != 0 {
		for range 2 {
			v, used := binary.Uvarint(b[n:])
			n += used + int(v)
		}
	}
	return n
}

// DecodeColor decodes a colour and returns how many bytes it took.
func DecodeColor(b []byte) (emulator.Color, int) {
	if b[0] == 1 {
		return emulator.Indexed(b[1]), 2
	}
	return emulator.RGB(b[1], b[2], b[3]), 4
}
