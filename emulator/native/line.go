package native

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/emulator/native/grapheme"
)

// A line at rest (in history, and in the middle of a resize) is a stream of
// cells and style changes. It names no table, so that tables need only know
// the cells on the screens, and is a fraction of the cells' size.
//
//	bytes of UTF-8     a cell; its width is the rune's
//	tokCluster n text  a cell of n bytes of text, one column wide
//	tokWide n text     the same, two columns wide
//	tokOdd rune        a cell whose width is not its rune's: one column
//	tokPad             the last column, left free by a wide character
//	tokEmpty n         n empty cells
//	tokStyle …         the style of the cells that follow, as appendStyle has it
//	tokTab n           an empty cell, the first of n columns of a tab
//
// A line begins in the default style. Controls are never text, so the tokens
// are.
const (
	tokCluster = 0x01
	tokWide    = 0x02
	tokOdd     = 0x03
	tokPad     = 0x04
	tokEmpty   = 0x05
	tokStyle   = 0x06
	tokTab     = 0x07
)

// What a style token has; the parts follow its mask in this order.
const (
	hasFG = 1 << iota
	hasBG
	hasUnderlineColor
	hasAttrs
	hasUnderline
	hasLink
)

// length is the number of columns up to the last one that isn't empty in the
// default style; all of them when the line is wrapped.
func (r *row) length() int {
	if r.wrapped {
		return len(r.cells)
	}
	n := r.used
	for n > 0 && (r.cells[n-1] == 0 || r.cells[n-1] == padding) {
		n--
	}
	return n
}

// appendPlain appends cells as ASCII up to the first that needs more.
func appendPlain(buf []byte, cells []cell) []byte {
	buf = buf[:min(cap(buf), len(cells))]
	for i := range buf {
		c := cells[i]
		if c-0x20 > 0x5e {
			return buf[:i]
		}
		buf[i] = byte(c)
	}
	return buf
}

// packASCII writes cells into dst up to the first that isn't ASCII in the style
// pen, or to the end of dst, and returns how many that were.
func packASCII(dst []byte, cells []cell, pen cell) int {
	n := min(len(dst), len(cells))
	dst, cells = dst[:n], cells[:n]
	i := 0
	for ; i+4 <= n; i += 4 {
		c := cells[i : i+4 : i+4]
		c0, c1, c2, c3 := c[0]-pen, c[1]-pen, c[2]-pen, c[3]-pen
		if c0-0x20 > 0x5e || c1-0x20 > 0x5e || c2-0x20 > 0x5e || c3-0x20 > 0x5e {
			break
		}
		binary.LittleEndian.PutUint32(dst[i:i+4], uint32(c0|c1<<8|c2<<16|c3<<24))
	}
	rest := cells[i:]
	dst = dst[i:][:len(rest)]
	for j, c := range rest {
		if c-pen-0x20 > 0x5e {
			return i + j
		}
		dst[j] = byte(c)
	}
	return n
}

// maxCellBytes is the most that a cell takes with its style, clusters and links
// left aside.
const maxCellBytes = packedStyle + 1 + utf8.UTFMax

// appendLine appends the first n cells of r. There is always room for the plain
// cells that are left, so that they are written without looking.
func (tb *tables) appendLine(buf []byte, r *row, n int) []byte {
	var pen cell // the style in force
	cells := r.cells[:n]
	buf = slices.Grow(buf, n*maxCellBytes+packedStyle)
	for x := 0; x < n; {
		c := cells[x]
		if s := c & styleMask; s != pen {
			pen = s
			if p := tb.styles.pack(c.style()); p.n > 0 {
				at := len(buf)
				p.put(buf[at : at+packedStyle])
				buf = buf[:at+int(p.n)]
			} else {
				buf = appendStyle(append(buf, tokStyle), &tb.styles.list[c.style()])
				buf = slices.Grow(buf, (n-x)*maxCellBytes+packedStyle)
			}
		}
		switch {
		case c-pen-0x20 <= 0x5e:
			k := packASCII(buf[len(buf):cap(buf)], cells[x:], pen)
			buf = buf[:len(buf)+k]
			x += k
		case c&tabMask != 0:
			buf = append(buf, tokTab, byte(c>>tabShift))
			x++
		case c.empty():
			if r.padded(x) {
				buf = append(buf, tokPad)
				x++
				continue
			}
			from := x
			for x < n && cells[x].empty() && cells[x]&(styleMask|tabMask) == pen && !r.padded(x) {
				x++
			}
			buf = appendEmpty(buf, x-from)
		case c&clusterBit != 0:
			s, tok := tb.texts.list[c&runeMask], byte(tokCluster)
			if c&kindMask == wideLead {
				tok = tokWide
			}
			buf = append(append(buf, tok, byte(len(s))), s...)
			buf = slices.Grow(buf, (n-x)*maxCellBytes+packedStyle)
			x++
		case c&kindMask == wideLead:
			var used int
			used, buf = appendWide(buf, cells[x:], pen)
			x += used
		case c&kindMask == wideTail:
			x++
		default:
			buf = appendNarrow(buf, rune(c&runeMask))
			x++
		}
	}
	return buf
}

// padded reports whether column x is the last one, left free by a wide character
// that went to the next line.
func (r *row) padded(x int) bool {
	return x == len(r.cells)-1 && r.wrapped && r.cells[x]&kindMask == padding
}

// appendWide appends wide characters in the style pen, one at least, and returns
// how many columns they took. There is room for maxCellBytes of each column.
func appendWide(buf []byte, cells []cell, pen cell) (int, []byte) {
	x, n, dst := 0, 0, buf[len(buf):cap(buf)]
	for x < len(cells) && (cells[x]^pen)&^runeMask == wideLead {
		if r := uint32(cells[x] & runeMask); r-0x800 < 0x10000-0x800 {
			binary.LittleEndian.PutUint32(dst[n:n+4], 0x8080e0|r>>12|r<<2&0x3f00|r<<16&0x3f0000)
			n += 3
		} else {
			n += utf8.EncodeRune(dst[n:], rune(r))
		}
		x += 2
	}
	return x, buf[:len(buf)+n]
}

// firstWide is before the first rune that takes two columns.
const firstWide = 0x1100

// appendNarrow appends a character beyond ASCII that is one column wide.
func appendNarrow(buf []byte, r rune) []byte {
	if r >= firstWide && grapheme.Of(r).Width() == 2 {
		buf = append(buf, tokOdd)
	}
	switch {
	case r < 0x80:
		return append(buf, byte(r))
	case r < 0x800:
		return append(buf, 0xc0|byte(r>>6), 0x80|byte(r)&0x3f)
	case r < 0x10000:
		return append(buf, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
	}
	return utf8.AppendRune(buf, r)
}

func appendEmpty(buf []byte, n int) []byte {
	return binary.AppendUvarint(append(buf, tokEmpty), uint64(n))
}

func appendStyle(buf []byte, s *style) []byte {
	at := len(buf)
	buf = append(buf, 0)
	var mask byte
	if s.FG != 0 {
		mask |= hasFG
		buf = appendColor(buf, s.FG)
	}
	if s.BG != 0 {
		mask |= hasBG
		buf = appendColor(buf, s.BG)
	}
	if s.UnderlineColor != 0 {
		mask |= hasUnderlineColor
		buf = appendColor(buf, s.UnderlineColor)
	}
	if s.Attrs != 0 {
		mask |= hasAttrs
		buf = append(buf, byte(s.Attrs), byte(s.Attrs>>8))
	}
	if s.Underline != 0 {
		mask |= hasUnderline
		buf = append(buf, byte(s.Underline))
	}
	if s.link != nil {
		mask |= hasLink
		for _, t := range []string{s.link.uri, s.link.id} {
			buf = append(binary.AppendUvarint(buf, uint64(len(t))), t...)
		}
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

// token is what a line decodes to.
type token struct {
	kind  byte // a tok…, or 0 for a rune of its own width
	text  []byte
	r     rune
	count int // of empty cells, of a tab's columns
}

// nextToken decodes the first token of a line and returns how many bytes it took. A
// style's bytes are left in text for decodeStyle.
func nextToken(b []byte) (token, int) {
	switch kind := b[0]; kind {
	case tokCluster, tokWide:
		n := 2 + int(b[1])
		return token{kind: kind, text: b[2:n]}, n
	case tokOdd:
		r, n := utf8.DecodeRune(b[1:])
		return token{kind: kind, r: r}, n + 1
	case tokPad:
		return token{kind: kind}, 1
	case tokEmpty:
		v, n := binary.Uvarint(b[1:])
		return token{kind: kind, count: int(v)}, n + 1
	case tokStyle:
		n := 1 + styleLen(b[1:])
		return token{kind: kind, text: b[1:n]}, n
	case tokTab:
		return token{kind: kind, count: int(b[1])}, 2
	}
	if b[0] < 0x80 {
		return token{r: rune(b[0])}, 1
	}
	r, n := utf8.DecodeRune(b)
	return token{r: r}, n
}

// width is the number of columns of a token.
func (t *token) width() int {
	switch t.kind {
	case 0:
		if t.r < 0x80 {
			return 1
		}
		return max(1, grapheme.Of(t.r).Width())
	case tokWide:
		return 2
	case tokEmpty:
		return t.count
	case tokStyle:
		return 0
	}
	return 1
}

// styleLen is the length of an encoded style.
func styleLen(b []byte) int {
	n := 1
	for bit := byte(hasFG); bit <= hasUnderlineColor; bit <<= 1 {
		if b[0]&bit != 0 {
			if b[n] == 1 {
				n += 2
			} else {
				n += 4
			}
		}
	}
	if b[0]&hasAttrs != 0 {
		n += 2
	}
	if b[0]&hasUnderline != 0 {
		n++
	}
	if b[0]&hasLink != 0 {
		for range 2 {
			v, used := binary.Uvarint(b[n:])
			n += used + int(v)
		}
	}
	return n
}

// decodeColor decodes a colour and returns how many bytes it took.
func decodeColor(b []byte) (emulator.Color, int) {
	if b[0] == 1 {
		return emulator.Indexed(b[1]), 2
	}
	return emulator.RGB(b[1], b[2], b[3]), 4
}

// decodeStyle decodes what appendStyle wrote and returns how many bytes that
// were.
func (tb *tables) decodeStyle(b []byte) (style, int) {
	var s style
	mask, n, k := b[0], 1, 0
	if mask&hasFG != 0 {
		s.FG, k = decodeColor(b[n:])
		n += k
	}
	if mask&hasBG != 0 {
		s.BG, k = decodeColor(b[n:])
		n += k
	}
	if mask&hasUnderlineColor != 0 {
		s.UnderlineColor, k = decodeColor(b[n:])
		n += k
	}
	if mask&hasAttrs != 0 {
		s.Attrs = emulator.Attrs(b[n]) | emulator.Attrs(b[n+1])<<8
		n += 2
	}
	if mask&hasUnderline != 0 {
		s.Underline = emulator.Underline(b[n])
		n++
	}
	if mask&hasLink != 0 {
		var part [2][]byte
		for i := range part {
			v, used := binary.Uvarint(b[n:])
			n += used
			part[i] = b[n : n+int(v)]
			n += int(v)
		}
		s.link = internLink(&tb.links, part[0], part[1])
	}
	return s, n
}

// historyLine appends the cells of history line i, 0 being the oldest.
func (e *Engine) historyLine(i int, buf []emulator.Cell) []emulator.Cell {
	l := e.hist.at(i)
	return enlarge(e.decodeLine(e.hist.data(l), l, buf), len(buf), l.size())
}

// decodeLine appends the cells of a line at rest.
func (tb *tables) decodeLine(data []byte, l histLine, buf []emulator.Cell) []emulator.Cell {
	if l.flags&linePlain != 0 {
		for _, b := range data {
			buf = append(buf, emulator.Cell{Rune: rune(b), Width: 1})
		}
		return buf
	}
	var c emulator.Cell
	for len(data) > 0 {
		t, n := nextToken(data)
		data = data[n:]
		if t.kind == tokStyle {
			s, _ := tb.decodeStyle(t.text)
			c.Style = s.Style
			c.Link, c.LinkID = "", ""
			if s.link != nil {
				c.Link, c.LinkID = s.link.uri, s.link.id
			}
			continue
		}
		c.Width, c.Tab = 1, 0
		c.Rune, c.Combining = t.r, ""
		switch t.kind {
		case tokCluster, tokWide:
			c.Rune, c.Combining = splitCluster(tb.texts.text(t.text))
		case tokEmpty:
			for range t.count {
				buf = append(buf, c)
			}
			continue
		case tokPad:
			buf = append(buf, emulator.Cell{Width: 1})
			continue
		case tokTab:
			c.Tab = uint8(t.count)
		}
		if t.width() == 2 {
			c.Width = 2
			buf = append(buf, c)
			c.Width, c.Rune, c.Combining = 0, 0, ""
		}
		buf = append(buf, c)
	}
	return buf
}

// decodeRow fills a blank row with an encoded line.
func (e *Engine) decodeRow(r *row, data []byte, l histLine) {
	r.wrapped, r.size = l.wrapped(), l.size()
	if l.flags&linePlain != 0 {
		for x, b := range data {
			r.cells[x] = cell(b)
		}
		r.used = len(data)
		return
	}
	x := 0
	var pen cell
	for len(data) > 0 {
		t, n := nextToken(data)
		data = data[n:]
		w := t.width()
		switch t.kind {
		case tokStyle:
			s, _ := e.decodeStyle(t.text)
			pen = cell(e.styles.intern(s)) << styleShift
			continue
		case tokEmpty:
			if pen != 0 {
				r.fill(x, x+w, pen)
			}
			x += w
			continue
		case tokPad:
			r.cells[x] = padding
		case tokTab:
			r.cells[x] = cell(t.count) << tabShift
		case tokCluster:
			r.cells[x] = e.texts.intern(t.text) | pen
		case tokWide:
			r.cells[x] = e.texts.intern(t.text) | pen | wideLead
		default:
			r.cells[x] = cell(t.r) | pen
			if w == 2 {
				r.cells[x] |= wideLead
			}
		}
		if w == 2 {
			r.cells[x+1] = pen | wideTail
		}
		x += w
		r.touch(x)
	}
}
