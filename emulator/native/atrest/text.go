package atrest

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"

	"tandemux/emulator"
	"tandemux/emulator/control"
	"tandemux/emulator/native/grapheme"
)

// Text writes lines of text as lines at rest. The zero value is ready.
type Text struct {
	Pen  emulator.Style
	Memo *control.SGRMemo
	Tabs control.Tabs
	Cols int

	Buf  []byte // of the rows
	Rows []Row  // that the lines take

	pen control.PenBits // as Pen, within a line
	row
	parser control.Parser
	packed *[1 << packedBits]packedPen // nil until the first
}

// Row is one that a line takes.
type Row struct {
	Bytes, Cells int
	Wrapped      bool // it continues on the next
	Plain        bool // printable ASCII in the default style
}

// row is what is known of the one that is being written.
type row struct {
	from  int             // in Buf
	x     int             // the column that comes next
	gap   int             // columns left empty by a tab, of which nothing is written yet
	style control.PenBits // in force
	fill  emulator.Color  // the background that the row came in with
	last  int             // where the last cell begins, -1 where nothing can join it
	wide  bool            // the last cell is
	lone  bool            // it has one rune, which nothing joins that begins a cell
	plain bool
}

const packedBits = 8

// packedPen is an entry of a table by hash; the zero one stands for none.
type packedPen struct {
	pen control.PenBits
	Packed
}

// maxCluster bounds a cluster that is extended here.
const maxCluster = 64

// ASCII is the length of the printable ASCII that p begins with.
func ASCII(p []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		v := binary.LittleEndian.Uint64(p[i:])
		// The lowest of those above 0x7e or below 0x20 is marked right.
		if stop := (v | (v + ones) | (v - 0x20*ones)) & high; stop != 0 {
			return i + bits.TrailingZeros64(stop)>>3
		}
	}
	for i < len(p) && p[i]-0x20 <= 0x5e {
		i++
	}
	return i
}

// Text7 is the length of what p begins with that has no control characters but, perhaps, DEL.
func Text7(p []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(p); i += 8 {
		v := binary.LittleEndian.Uint64(p[i:])
		if stop := (v - 0x20*ones) &^ v & high; stop != 0 {
			return i + bits.TrailingZeros64(stop)>>3
		}
	}
	for i < len(p) && p[i] >= 0x20 {
		i++
	}
	return i
}

// Line writes the line that p begins with, up to its CR and LF, behind what is in Buf and
// Rows, moves the pen on and returns the line's length. It begins on a blank row of a screen
// whose rows all come in blank. Zero says that it is not written, and the pen as it was.
func (t *Text) Line(p []byte) int {
	bytes, rows := len(t.Buf), len(t.Rows)
	t.pen = control.PackPen(&t.Pen)
	n := t.line(p)
	if n == 0 || t.pen.BG() != 0 { // The next row would not come in blank.
		t.Buf, t.Rows = t.Buf[:bytes], t.Rows[:rows]
		return 0
	}
	t.pen.Unpack(&t.Pen)
	return n
}

func (t *Text) line(p []byte) int {
	t.begin(0)
	for i := 0; i < len(p); {
		n := 0
		switch b := p[i]; {
		case b-0x20 <= 0x5e:
			n = t.ascii(p[i:])
		case b >= 0x80:
			n = t.text(p[i:])
		case b == 0x1b:
			n = t.sgr(p[i:])
		case b == '\t':
			n = t.tab()
		case b == '\r' && i+1 < len(p) && p[i+1] == '\n':
			t.end(false)
			return i + 2
		}
		if n == 0 {
			return 0
		}
		i += n
	}
	return 0
}

// ascii writes the printable ASCII that p begins with, and returns its length.
func (t *Text) ascii(p []byte) int {
	all := ASCII(p)
	for n := all; n > 0; {
		t.room(1)
		at, k := len(t.Buf), min(n, t.Cols-t.x)
		if k <= 8 && len(p) >= 8 && cap(t.Buf)-at >= 8 {
			binary.LittleEndian.PutUint64(t.Buf[at:at+8], binary.LittleEndian.Uint64(p))
			t.Buf = t.Buf[:at+k]
		} else {
			t.Buf = append(t.Buf, p[:k]...)
		}
		p, n, t.x = p[k:], n-k, t.x+k
	}
	t.last, t.wide, t.lone = len(t.Buf)-1, false, true
	return all
}

// begin begins a row that came in with a background.
func (t *Text) begin(bg emulator.Color) {
	t.row = row{from: len(t.Buf), fill: bg, last: -1, lone: true, plain: bg == 0}
}

// end ends the row.
func (t *Text) end(wrapped bool) {
	if t.fill != 0 && t.x < t.Cols {
		t.setStyle(control.PackPen(&emulator.Style{BG: t.fill}))
		t.Buf = AppendEmpty(t.Buf, t.Cols-t.x)
		t.x = t.Cols
	}
	t.Rows = append(t.Rows, Row{len(t.Buf) - t.from, t.x - t.gap, wrapped, t.plain})
}

// room sees to it that a cell of w columns can be appended to the row, in the pen.
func (t *Text) room(w int) {
	if t.gap > 0 {
		t.Buf = AppendEmpty(t.Buf, t.gap)
		t.gap = 0
	}
	if t.x+w > t.Cols {
		if t.x < t.Cols {
			t.setStyle(control.PenBits{})
			t.Buf = append(t.Buf, Pad)
			t.x++
			t.plain = false
		}
		t.end(true)
		t.begin(t.pen.BG())
	}
	t.setStyle(t.pen)
}

// setStyle puts a style in force.
func (t *Text) setStyle(w control.PenBits) {
	if w != t.style {
		t.addStyle(w)
	}
}

func (t *Text) addStyle(w control.PenBits) {
	if t.packed == nil {
		t.packed = new([1 << packedBits]packedPen)
	}
	e := &t.packed[w.Hash()>>(64-packedBits)]
	if e.pen != w || e.N == 0 {
		var s emulator.Style
		w.Unpack(&s)
		e.pen, e.Packed = w, Pack(&s)
	}
	at := len(t.Buf)
	t.Buf = slices.Grow(t.Buf, MaxStyle)
	e.Put(t.Buf[at : at+MaxStyle])
	t.Buf = t.Buf[:at+int(e.N)]
	t.style, t.plain = w, false
}

// sgr executes the SGR that p begins with and returns its length, zero for what is none.
func (t *Text) sgr(p []byte) int {
	if n := t.Memo.ApplyBits(p, &t.pen); n > 0 {
		return n
	}
	n, final := t.parser.Whole(p)
	if final != 'm' {
		return 0
	}
	var s emulator.Style
	t.pen.Unpack(&s)
	t.parser.SGR(&s)
	t.pen = control.PackPen(&s)
	t.Memo.Learn(p, n, &t.parser)
	return n
}

// tab writes a tab, in empty cells of the default style, and returns its length; zero where
// there are none.
func (t *Text) tab() int {
	if t.fill != 0 || t.x >= t.Cols {
		return 0
	}
	n := t.Tabs.Next(t.x, 1, t.Cols-1) - t.x
	if n > 0xff {
		return 0
	}
	if n > 0 {
		if t.gap > 0 {
			t.Buf = AppendEmpty(t.Buf, t.gap)
		}
		t.setStyle(control.PenBits{})
		t.Buf = append(t.Buf, Tab, byte(n))
		t.gap, t.last, t.lone, t.plain = n-1, -1, true, false
		t.x += n
	}
	return 1
}

// text writes characters that p begins with, which is not ASCII. It returns how many bytes
// they have, zero where they are of a kind that it does not write.
func (t *Text) text(p []byte) int {
	r, n := grapheme.Decode(p)
	if r == utf8.RuneError {
		return 0
	}
	pr := grapheme.Of(r)
	if w := pr.Width(); !pr.Starts() || !t.lone && pr.Class() != grapheme.Other {
		switch c := pr.Class(); {
		case c == grapheme.Control, c == grapheme.Prepend, c == grapheme.Other:
			return 0
		case w == 0 || t.last >= 0 && t.continues(pr):
			if !t.attach(r, p[:n], w) {
				return 0
			}
			return n
		}
	}
	w := pr.Width()
	t.room(w)
	t.lone, t.plain = pr.Starts(), false
	used, last, x := 0, 0, t.x
	for { // What begins a cell goes on.
		last = used
		used += n
		x += w
		if !t.lone {
			break
		}
		if w == 2 {
			if k := wide(p[used:], (t.Cols-x)/2); k > 0 {
				used += 3 * k
				x += 2 * k
				last = used - 3
			}
		} else if k := narrow(p[used:], t.Cols-x); k > 0 {
			used += 2 * k
			x += k
			last = used - 2
		}
		if used < len(p) && p[used] < 0x80 && x < t.Cols {
			k := ASCII(p[used:min(len(p), used+t.Cols-x)])
			if k == 0 {
				break
			}
			used += k
			x += k
			last, w = used-1, 1
		}
		if used >= len(p) || p[used] < 0x80 {
			break
		}
		r, n = grapheme.Decode(p[used:])
		pr = grapheme.Of(r)
		if r == utf8.RuneError || !pr.Starts() || x+pr.Width() > t.Cols {
			break
		}
		w = pr.Width()
	}
	t.last, t.wide, t.x = len(t.Buf)+last, w == 2, x
	t.Buf = append(t.Buf, p[:used]...)
	return used
}

// The unified ideographs are wide, all of them.
const firstHan, lastHan = 0x4e00, 0x9fff

// wide is how many ideographs and the like p begins with, at most, all of three bytes and two
// columns. It may leave the last one to others.
func wide(p []byte, most int) (n int) {
	for ; n < most && len(p) >= 4; n++ {
		v := binary.LittleEndian.Uint32(p)
		r := v&0xf<<12 | v>>2&0xfc0 | v>>16&0x3f
		if v&0xc0c0f0 != 0x8080e0 || r-firstHan > lastHan-firstHan && (r-0x1000 > 0xcfff-0x1000 || grapheme.Of(rune(r)) != grapheme.Wide) {
			break
		}
		p = p[3:]
	}
	return n
}

// narrow is how many letters p begins with, at most, of two bytes and one column.
func narrow(p []byte, most int) (n int) {
	for ; n < most && len(p) >= 2; n++ {
		v := rune(binary.LittleEndian.Uint16(p))
		if v&0xc0e0 != 0x80c0 || grapheme.Of(v&0x1f<<6|v>>8&0x3f) != grapheme.Plain {
			break
		}
		p = p[2:]
	}
	return n
}

// cluster is the text of the last cell, and whether it is written as a cluster.
func (t *Text) cluster() (text []byte, is bool) {
	if text = t.Buf[t.last:]; text[0] == Cluster || text[0] == Wide {
		return text[2:], true
	}
	return text, false
}

func first(text []byte) rune {
	r, _ := utf8.DecodeRune(text)
	return r
}

// continues reports whether a rune that takes columns continues the last cell.
func (t *Text) continues(p grapheme.Prop) bool {
	text, _ := t.cluster()
	switch c := p.Class(); c {
	case grapheme.Extend:
		return p.Width() < 2 || grapheme.Of(first(text)).Class() == grapheme.Pict
	case grapheme.ExtendPlain, grapheme.Linker, grapheme.Spacing, grapheme.ZWJ:
		return true
	default:
		return grapheme.Joins(string(text), c)
	}
}

// attach adds a rune of w columns, in raw, to the last cell; false where that is not as
// simple.
func (t *Text) attach(r rune, raw []byte, w int) bool {
	if t.last < 0 {
		return false
	}
	text, is := t.cluster()
	widens := !t.wide && (w > 0 || grapheme.Widens(r, first(text)))
	if widens && t.x == t.Cols || len(text)+len(raw) > maxCluster {
		return false
	}
	if !is {
		n := len(text)
		t.Buf = append(t.Buf, 0, 0)
		copy(t.Buf[t.last+2:], t.Buf[t.last:t.last+n])
		t.Buf[t.last], t.Buf[t.last+1] = Cluster, byte(n)
	}
	t.Buf = append(t.Buf, raw...)
	t.Buf[t.last+1] += byte(len(raw))
	if widens {
		t.x++
		t.wide = true
	}
	if t.wide {
		t.Buf[t.last] = Wide
	}
	t.lone, t.plain = false, false
	return true
}
