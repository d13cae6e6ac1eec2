package native

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/emulator/native/atrest"
	"tandemux/emulator/native/grapheme"
)

// length returns the number of columns to encode: up to the last one that isn't empty in
// the default style, or all if the line is wrapped.
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

// appendPlain appends cells as ASCII, up to the first that isn't ASCII in the default
// style or to the capacity of buf. buf must be empty.
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

// packASCII writes cells into dst, up to the first that isn't ASCII in the style pen or to
// the end of dst, and returns how many.
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

// maxCellBytes bounds the encoded bytes of a cell with its style, without cluster and
// link.
const maxCellBytes = atrest.MaxStyle + 1 + utf8.UTFMax

// appendLine appends the first n cells of r, encoded. It keeps room for the remaining
// cells, so that most are written without a check.
func (tb *tables) appendLine(buf []byte, r *row, n int) []byte {
	var pen cell // the style in force
	cells := r.cells[:n]
	buf = slices.Grow(buf, n*maxCellBytes+atrest.MaxStyle)
	for x := 0; x < n; {
		c := cells[x]
		if s := c & styleMask; s != pen {
			pen = s
			if p := tb.styles.pack(c.style()); p.N > 0 {
				at := len(buf)
				p.Put(buf[at : at+atrest.MaxStyle])
				buf = buf[:at+int(p.N)]
			} else {
				buf = appendStyle(append(buf, atrest.Style), &tb.styles.list[c.style()])
				buf = slices.Grow(buf, (n-x)*maxCellBytes+atrest.MaxStyle)
			}
		}
		switch {
		case c-pen-0x20 <= 0x5e:
			k := packASCII(buf[len(buf):cap(buf)], cells[x:], pen)
			buf = buf[:len(buf)+k]
			x += k
		case c&tabMask != 0:
			buf = append(buf, atrest.Tab, byte(c>>tabShift))
			x++
		case c.empty():
			if r.padded(x) {
				buf = append(buf, atrest.Pad)
				x++
				continue
			}
			from := x
			for x < n && cells[x].empty() && cells[x]&(styleMask|tabMask) == pen && !r.padded(x) {
				x++
			}
			buf = atrest.AppendEmpty(buf, x-from)
		case c&clusterBit != 0:
			s, tok := tb.texts.list[c&runeMask], byte(atrest.Cluster)
			if c&kindMask == wideLead {
				tok = atrest.Wide
			}
			buf = append(append(buf, tok, byte(len(s))), s...)
			buf = slices.Grow(buf, (n-x)*maxCellBytes+atrest.MaxStyle)
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

// padded reports whether x is the last column, left free by a wide character that wrapped.
func (r *row) padded(x int) bool {
	return x == len(r.cells)-1 && r.wrapped && r.cells[x]&kindMask == padding
}

// appendWide appends the wide characters in the style pen that cells begin with, at least
// one, and returns how many columns they have. buf must have room for maxCellBytes per
// column.
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

// appendStyle is atrest.AppendStyle, followed by the link.
func appendStyle(buf []byte, s *style) []byte {
	at := len(buf)
	if buf = atrest.AppendStyle(buf, &s.Style); s.link != nil {
		buf[at] |= atrest.HasLink
		for _, t := range []string{s.link.uri, s.link.id} {
			buf = append(binary.AppendUvarint(buf, uint64(len(t))), t...)
		}
	}
	return buf
}

// firstWide is a lower bound of the runes that take two columns.
const firstWide = 0x1100

// appendNarrow appends a character that takes one column, also one that is two wide
// (atrest.Odd).
func appendNarrow(buf []byte, r rune) []byte {
	if r >= firstWide && grapheme.Of(r).Width() == 2 {
		buf = append(buf, atrest.Odd)
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

// decodeStyle decodes a style of appendStyle and returns its length in bytes.
func (tb *tables) decodeStyle(b []byte) (style, int) {
	var s style
	mask, n, k := b[0], 1, 0
	if mask&atrest.HasFG != 0 {
		s.FG, k = atrest.DecodeColor(b[n:])
		n += k
	}
	if mask&atrest.HasBG != 0 {
		s.BG, k = atrest.DecodeColor(b[n:])
		n += k
	}
	if mask&atrest.HasUnderlineColor != 0 {
		s.UnderlineColor, k = atrest.DecodeColor(b[n:])
		n += k
	}
	if mask&atrest.HasAttrs != 0 {
		s.Attrs = emulator.Attrs(b[n]) | emulator.Attrs(b[n+1])<<8
		n += 2
	}
	if mask&atrest.HasUnderline != 0 {
		s.Underline = emulator.Underline(b[n])
		n++
	}
	if mask&atrest.HasLink != 0 {
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

// decodeLine appends the cells of an encoded line.
func (tb *tables) decodeLine(data []byte, l histLine, buf []emulator.Cell) []emulator.Cell {
	if l.flags&linePlain != 0 {
		for _, b := range data {
			buf = append(buf, emulator.Cell{Rune: rune(b), Width: 1})
		}
		return buf
	}
	var c emulator.Cell
	for len(data) > 0 {
		t, n := atrest.Next(data)
		data = data[n:]
		if t.Kind == atrest.Style {
			s, _ := tb.decodeStyle(t.Text)
			c.Style = s.Style
			c.Link, c.LinkID = "", ""
			if s.link != nil {
				c.Link, c.LinkID = s.link.uri, s.link.id
			}
			continue
		}
		c.Width, c.Tab = 1, 0
		c.Rune, c.Combining = t.Rune, ""
		switch t.Kind {
		case atrest.Cluster, atrest.Wide:
			c.Rune, c.Combining = splitCluster(tb.texts.text(t.Text))
		case atrest.Empty:
			for range t.Count {
				buf = append(buf, c)
			}
			continue
		case atrest.Pad:
			buf = append(buf, emulator.Cell{Width: 1})
			continue
		case atrest.Tab:
			c.Tab = uint8(t.Count)
		}
		if t.Width() == 2 {
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
		t, n := atrest.Next(data)
		data = data[n:]
		w := t.Width()
		switch t.Kind {
		case atrest.Style:
			s, _ := e.decodeStyle(t.Text)
			pen = cell(e.styles.intern(s)) << styleShift
			continue
		case atrest.Empty:
			if pen != 0 {
				r.fill(x, x+w, pen)
			}
			x += w
			continue
		case atrest.Pad:
			r.cells[x] = padding
		case atrest.Tab:
			r.cells[x] = cell(t.Count) << tabShift
		case atrest.Cluster:
			r.cells[x] = e.texts.intern(t.Text) | pen
		case atrest.Wide:
			r.cells[x] = e.texts.intern(t.Text) | pen | wideLead
		default:
			r.cells[x] = cell(t.Rune) | pen
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
