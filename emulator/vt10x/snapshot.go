package vt10x

import (
	"fmt"
	"maps"
	"slices"

	"tandemux/emulator"
)

// snapshot writes an engine's state as VT bytes.
type snapshot struct {
	e     *engine
	buf   []byte
	pen   emulator.Pen
	cells []emulator.Cell
}

// Snapshot appends VT bytes that rebuild the state in a fresh engine of the
// same size: the main screen with its history first, then the alternate one if
// it shows, then what surrounds them. A sequence in progress comes last, so
// that the rest of it may follow.
func (e *engine) Snapshot(buf []byte, history int) []byte {
	first := -e.history.len()
	if history >= 0 {
		first = max(first, -history)
	}
	screen := e.copyScreen()
	s := &snapshot{e: e, buf: buf}
	if e.altMode != 0 {
		s.alternate(first, e.hidden)
		first = 0
	}
	s.savedCursor(e.saved[e.screen()])
	s.lines(first, screen)
	s.titles()
	s.palette()
	s.tabs()
	s.setPen(emulator.Pen{})
	s.region()
	s.modes()
	s.cursor(screen)
	s.unfinished()
	return s.buf
}

func (s *snapshot) string(text string) { s.buf = append(s.buf, text...) }

// lines writes history from line first on and a whole screen, starting at the
// top of an empty one.
func (s *snapshot) lines(first int, screen grid) {
	get := func(y int) line {
		if y < 0 {
			return s.e.history.at(y)
		}
		return screen.lines[y]
	}
	wrapped, gap := false, false
	for y := first; y < len(screen.lines); y++ {
		l := get(y)
		s.cells = s.e.styles.decode(s.cells[:0], l.glyphs[:min(len(l.glyphs), s.e.cols)])
		for len(s.cells) < s.e.cols { // History lines are trimmed.
			s.cells = append(s.cells, emulator.Cell{Width: 1})
		}
		if wrapped {
			s.wrap(gap)
		}
		s.buf = emulator.AppendLine(s.buf, s.cells, emulator.OnBlank, &s.pen)
		gap = len(l.glyphs) >= s.e.cols && l.glyphs[s.e.cols-1].char == marginGap
		wrapped = y+1 < len(screen.lines) && l.continues(get(y+1), s.e.cols)
		if !wrapped && y+1 < len(screen.lines) {
			s.setPen(emulator.Pen{}) // A scroll fills with the background.
			s.string("\r\n")
		}
	}
}

// wrap moves on to the line in cells by a character in the default style, since
// the wrap may scroll, which fills with the background. It is then taken away
// or written over. After a gap it must be the wide one that left it.
func (s *snapshot) wrap(gap bool) {
	s.setPen(emulator.Pen{})
	if gap {
		s.buf = fmt.Appendf(s.buf, "\x1b[%dG%c\r", s.e.cols, s.cells[0].Rune)
		return
	}
	s.string(" \r\x1b[X")
}

func (s *snapshot) setPen(p emulator.Pen) {
	s.buf = emulator.Full.AppendPen(s.buf, s.pen, p)
	s.pen = p
}

// alternate writes the main screen and goes to the alternate one, the main
// one's cursor saved.
func (s *snapshot) alternate(first int, main grid) {
	at := s.e.saved[0]
	if s.e.altMode == 1049 {
		// It saves the cursor by itself.
		s.lines(first, main)
		s.state(at)
		if at.pending {
			s.again(at.x, at.y, 0, main)
			s.state(saved{x: -1, id: at.id, charset: at.charset})
		}
	} else {
		s.savedCursor(at)
		s.lines(first, main)
	}
	s.private(s.e.altMode, true)
	s.state(saved{})
	s.string("\x1b[2J") // Entering filled it with the background.
}

// savedCursor saves a cursor as DECSC does. It goes before everything else, so
// that places are absolute and the screen is empty.
func (s *snapshot) savedCursor(c saved) {
	if c == (saved{}) {
		return
	}
	s.state(c)
	if c.pending {
		s.string(" ")
	}
	s.string("\x1b7")
	s.state(saved{})
	if c.pending {
		s.string("\x1b[2J")
	}
}

// state makes the cursor, pen and character sets those of c; without a place
// when x is negative.
func (s *snapshot) state(c saved) {
	if c.x >= 0 {
		s.private(6, c.origin)
		s.place(c.x, c.y)
	}
	s.charsets(c.charset)
	pen := s.e.styles.list[c.id]
	pen.Link, pen.LinkID = "", ""
	s.setPen(pen)
}

// again writes the cell at (x, y), in the last column, once more, which leaves
// the cursor waiting to wrap. top is what places are counted from.
func (s *snapshot) again(x, y, top int, screen grid) {
	s.charsets(charset{})
	cells := s.e.styles.decode(s.cells[:0], screen.lines[y].glyphs)
	if cells[x].Width == 0 {
		x--
	}
	s.place(x, y-top)
	if c := cells[x]; c.Rune == 0 {
		s.setPen(emulator.Pen{Style: c.Style})
		s.string(" \x1b[X")
	} else {
		s.buf = emulator.AppendLine(s.buf, cells[x:], emulator.OnSpan, &s.pen)
	}
}

func (s *snapshot) private(n int, on bool) {
	s.string("\x1b[?")
	s.buf = appendInt(s.buf, n)
	if on {
		s.string("h")
	} else {
		s.string("l")
	}
}

func (s *snapshot) place(x, y int) {
	s.buf = fmt.Appendf(s.buf, "\x1b[%d;%dH", y+1, x+1)
}

func (s *snapshot) charsets(c charset) {
	for i, intermediate := range []string{"(", ")", "*", "+"} {
		final := "B"
		if c.drawing[i] {
			final = "0"
		}
		s.string("\x1b" + intermediate + final)
	}
	s.string([]string{"\x0f", "\x0e", "\x1bn", "\x1bo"}[c.gl&3])
}

// palette writes the colours that the child changed, in order.
func (s *snapshot) palette() {
	p := s.e.palette
	for _, i := range slices.Sorted(maps.Keys(p.Indexed)) {
		s.buf = fmt.Appendf(s.buf, "\x1b]4;%d;%s\x1b\\", i, spec(p.Indexed[i]))
	}
	for n, c := range []emulator.Color{p.FG, p.BG, p.Cursor} {
		if !c.IsDefault() {
			s.buf = fmt.Appendf(s.buf, "\x1b]%d;%s\x1b\\", 10+n, spec(c))
		}
	}
}

func (s *snapshot) tabs() {
	standard := make([]bool, len(s.e.tabs))
	setDefaultTabs(standard, 0)
	if slices.Equal(standard, s.e.tabs) {
		return
	}
	s.string("\x1b[3g")
	for x, set := range s.e.tabs {
		if set {
			s.buf = fmt.Appendf(s.buf, "\x1b[%dG\x1bH", x+1)
		}
	}
}

func (s *snapshot) region() {
	if s.e.top != 0 || s.e.bottom != s.e.rows-1 {
		s.buf = fmt.Appendf(s.buf, "\x1b[%d;%dr", s.e.top+1, s.e.bottom+1)
	}
}

// elsewhere are the private modes that other parts of a snapshot write.
var elsewhere = map[int]bool{6: true, 12: true, 47: true, 1047: true, 1048: true, 1049: true}

func (s *snapshot) modes() {
	for _, n := range slices.Sorted(maps.Keys(privateModes)) {
		initially := n == 7 || n == 25 || n == 1007
		if on := privateModes[n].get(s.e); on != initially && !elsewhere[n] {
			s.private(n, on)
		}
	}
	if s.e.modes.Newline {
		s.string("\x1b[20h")
	}
	c := s.e.cursor
	switch {
	case !c.Default:
		n := 2*int(c.Shape) + 2
		if c.Blink {
			n--
		}
		s.buf = fmt.Appendf(s.buf, "\x1b[%d q", n)
	case c.Blink:
		s.private(12, true)
	}
}

// cursor places the cursor and gives it its pen. Waiting to wrap, and the
// character for REP, come from writing what is left of the cursor once more.
func (s *snapshot) cursor(screen grid) {
	e := s.e
	x, y, pending := e.at()
	s.charsets(charset{})
	s.private(6, e.flags.origin)
	top := 0
	if e.flags.origin {
		top = e.top
	}
	from := x - runeWidth(e.last)
	if pending {
		from++
	}
	if e.last != 0 && from >= 0 && (!e.flags.insert || !e.Wrapped(y)) {
		s.place(from, y-top)
		s.setPen(e.pen)
		s.charsets(e.charset)
		if e.flags.insert {
			s.buf = fmt.Appendf(s.buf, "\x1b[%dP\x1b[4h", runeWidth(e.last)) // To come in again.
		}
		s.string(string(e.last))
		return
	}
	if pending {
		s.again(x, y, top, screen)
	} else {
		s.place(x, y-top)
	}
	s.setPen(e.pen)
	s.charsets(e.charset)
	if e.flags.insert {
		s.string("\x1b[4h")
	}
}

func (s *snapshot) titles() {
	for _, t := range s.e.titles {
		s.string("\x1b]2;" + t + "\x1b\\\x1b[22;2t")
	}
	if s.e.title != "" || len(s.e.titles) > 0 {
		s.string("\x1b]2;" + s.e.title + "\x1b\\")
	}
}

// unfinished writes the sequence or character in progress. One that is already
// known to be bad is written as something short that is bad, too.
func (s *snapshot) unfinished() {
	sc := &s.e.scan
	s.buf = append(s.buf, s.e.held...)
	if sc.state == ground {
		return
	}
	intro := map[state]string{
		inEscape: "\x1b", inCSI: "\x1b[", inOSC: "\x1b]", inDCS: "\x1bP", inTitle: "\x1bk", inIgnore: "\x1bX",
	}[sc.state]
	s.string(intro)
	switch {
	case !sc.bad:
		s.buf = append(s.buf, sc.seq...)
	case sc.state == inCSI:
		s.string("!0")
	case sc.state == inEscape:
		s.string("         ")
	default:
		s.string("99999;")
	}
	if sc.esc {
		s.string("\x1b")
	}
}
