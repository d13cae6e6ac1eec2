package vt10x

import (
	"tandemux/emulator"
)

// sequence is a CSI.
type sequence struct {
	key    [3]byte // prefix, intermediate, final; 0 where there is none
	params []param
}

// param is a parameter; -1 stands for one left out. sub says that a colon, not
// a semicolon, came before it.
type param struct {
	n   int
	sub bool
}

// parseCSI takes a CSI apart. It refuses what no terminal sends.
func parseCSI(seq []byte, final byte) (sequence, bool) {
	var s sequence
	s.key[2] = final
	if len(seq) > 0 && seq[0] >= '<' && seq[0] <= '?' {
		s.key[0] = seq[0]
		seq = seq[1:]
	}
	if n := len(seq); n > 0 && seq[n-1] < 0x30 {
		s.key[1] = seq[n-1]
		seq = seq[:n-1]
	}
	if len(seq) == 0 {
		return s, true
	}
	p := param{n: -1}
	for _, b := range seq {
		switch {
		case b >= '0' && b <= '9':
			p.n = min(max(p.n, 0)*10+int(b-'0'), maxParam)
		case b == ';' || b == ':':
			s.params = append(s.params, p)
			p = param{n: -1, sub: b == ':'}
		default:
			return s, false
		}
	}
	s.params = append(s.params, p)
	if len(s.params) > maxParams {
		s.params = s.params[:maxParams]
	}
	return s, true
}

// at is parameter i, def when it is left out.
func (s sequence) at(i, def int) int {
	if i < len(s.params) && s.params[i].n >= 0 {
		return s.params[i].n
	}
	return def
}

// count is parameter i as a count: at least 1.
func (s sequence) count() int { return max(1, s.at(0, 1)) }

// csi runs a CSI by the table.
func (e *engine) csi(s sequence) {
	if s.key != repeatKey {
		e.last = 0
	}
	if fn := sequences[s.key]; fn != nil {
		fn(e, s)
	}
	e.last = 0 // REP comes but once, too.
}

// sequences are the CSI sequences. Those that vt10x reads rightly are sent on
// with a bounded count.
var sequences map[[3]byte]func(*engine, sequence)

// repeatKey is REP's.
var repeatKey = key("b")

func key(s string) (k [3]byte) {
	k[2] = s[len(s)-1]
	for _, b := range []byte(s[:len(s)-1]) {
		if b < 0x30 {
			k[1] = b
		} else {
			k[0] = b
		}
	}
	return k
}

func init() {
	sequences = map[[3]byte]func(*engine, sequence){}
	for k, fn := range map[string]func(*engine, sequence){
		"@": across, "P": across, "X": across,
		"C": move, "D": move, "a": move, "I": move, "Z": move,
		"A": (*engine).up, "B": (*engine).down, "e": (*engine).down,
		"E": func(e *engine, s sequence) { e.down(s); e.sendString("\r") },
		"F": func(e *engine, s sequence) { e.up(s); e.sendString("\r") },
		"G": move, "`": move,
		"d": func(e *engine, s sequence) { e.moveTo(s.count(), -1) },
		"H": func(e *engine, s sequence) { e.moveTo(s.count(), max(1, s.at(1, 1))) },
		"f": func(e *engine, s sequence) { e.moveTo(s.count(), max(1, s.at(1, 1))) },
		"J": (*engine).eraseDisplay, "?J": (*engine).eraseDisplay,
		"K": (*engine).eraseLine, "?K": (*engine).eraseLine,
		"L": (*engine).lines, "M": (*engine).lines,
		"S": (*engine).scrollUp,
		"T": (*engine).scrollDown,
		"b": func(e *engine, s sequence) { e.repeat(s.count()) },
		"g": func(e *engine, s sequence) { e.clearTabs(s.at(0, 0)) },
		"h": func(e *engine, s sequence) { e.setModes(s, ansiModes, true) },
		"l": func(e *engine, s sequence) { e.setModes(s, ansiModes, false) },
		"m": (*engine).sgr,
		"r": (*engine).setRegion,
		"s": func(e *engine, s sequence) {
			if len(s.params) == 0 {
				e.save()
			}
		},
		"u":   func(e *engine, _ sequence) { e.restore() },
		"?h":  func(e *engine, s sequence) { e.setModes(s, privateModes, true) },
		"?l":  func(e *engine, s sequence) { e.setModes(s, privateModes, false) },
		"!p":  func(e *engine, _ sequence) { e.softReset() },
		" q":  (*engine).cursorStyle,
		"t":   (*engine).window,
		"n":   (*engine).status,
		"?n":  (*engine).privateStatus,
		"c":   func(e *engine, s sequence) { e.attributes(s, deviceAttributes) },
		">c":  func(e *engine, s sequence) { e.attributes(s, secondaryAttributes) },
		"=c":  func(e *engine, s sequence) { e.attributes(s, tertiaryAttributes) },
		">q":  (*engine).reportVersion,
		"$p":  func(e *engine, s sequence) { e.reportMode(s, "", ansiModes) },
		"?$p": func(e *engine, s sequence) { e.reportMode(s, "?", privateModes) },
	} {
		sequences[key(k)] = fn
	}
}

// move sends on a move along the line. Tabbing on from the margin does not end
// waiting to wrap.
func move(e *engine, s sequence) {
	if _, _, pending := e.at(); pending && s.key[2] == 'I' {
		return
	}
	e.sendCSI(min(s.count(), e.cols), s.key[2])
}

// across sends on a change within the line.
func across(e *engine, s sequence) {
	n := min(s.count(), e.cols)
	if s.key[2] == 'X' {
		e.sendPen()
		e.sendCSI(n, 'X')
		return
	}
	e.settle()
	_, y, _ := e.at()
	e.unmark(e.cols-1, y)
	e.splitWide(true)
	e.sendPen()
	e.sendCSI(n, s.key[2])
	e.splitWide(false)
}

// splitWide erases the second half of a wide character under the cursor, with
// its first half if both: shifting must not join it to another's first half.
func (e *engine) splitWide(both bool) {
	x, y, _ := e.at()
	if g, _ := e.glyph(x, y); g.char != secondHalf {
		return
	}
	if both && x > 0 {
		if g, _ := e.glyph(x-1, y); runeWidth(g.char) == 2 {
			e.sendID(g.id)
			e.sendString("\x1b[D\x1b[2X\x1b[C")
			return
		}
	}
	g, _ := e.glyph(x, y)
	e.sendID(g.id)
	e.sendString("\x1b[X")
}

// up and down (CUU, CUD) stop at the margins when they begin inside them.
func (e *engine) up(s sequence) {
	_, y, _ := e.at()
	n := min(s.count(), y)
	if y >= e.top {
		n = min(n, y-e.top)
	}
	e.vertical(n, 'A')
}

func (e *engine) down(s sequence) {
	_, y, _ := e.at()
	n := min(s.count(), e.rows-1-y)
	if y <= e.bottom {
		n = min(n, e.bottom-y)
	}
	e.vertical(n, 'B')
}

// vertical sends a move that may be by nothing, which still ends waiting to
// wrap.
func (e *engine) vertical(n int, final byte) {
	if n > 0 {
		e.sendCSI(n, final)
		return
	}
	e.settle()
}

// settle ends waiting to wrap, which vt10x does for moves but not for erasing.
func (e *engine) settle() {
	if x, _, pending := e.at(); pending {
		e.sendCSI(x+1, 'G')
	}
}

// moveTo sends CUP; col -1 keeps the column.
func (e *engine) moveTo(row, col int) {
	if col < 0 {
		x, _, _ := e.at()
		col = x + 1
	}
	e.out = appendInt(append(e.out[:0], "\x1b["...), row)
	e.out = appendInt(append(e.out, ';'), col)
	e.send(append(e.out, 'H'))
}

func (e *engine) eraseDisplay(s sequence) {
	mode := s.at(0, 0)
	if mode == 3 {
		e.history.clear()
		e.damage.all = true
		return
	}
	x, y, pending := e.at()
	switch {
	case mode > 3:
		return
	case mode == 0 && pending:
		if y+1 < e.rows {
			e.anywhere(0, y+1, "\x1b[J")
			e.await(x, y)
		}
		return
	case mode == 1 && y == 1:
		e.anywhere(0, 0, "\x1b[2K") // vt10x forgets row 0 then.
		e.putBack(x, y, pending)
	}
	e.sendPen()
	e.sendCSI(mode, 'J')
}

// eraseLine is EL. While the line waits to wrap the cursor is behind its last
// character.
func (e *engine) eraseLine(s sequence) {
	mode := s.at(0, 0)
	if _, _, pending := e.at(); mode > 2 || mode == 0 && pending {
		return
	}
	e.sendPen()
	e.sendCSI(mode, 'K')
}

// anywhere does what bytes do at an absolute place, which the scroll region is
// opened for so that even origin mode lets the cursor there. The cursor is
// elsewhere afterwards.
func (e *engine) anywhere(x, y int, bytes string) {
	top, bottom := e.top, e.bottom
	e.sendRegion(0, e.rows-1)
	e.place(x, y)
	e.sendPen()
	e.sendString(bytes)
	e.sendRegion(top, bottom)
}

// putBack moves the cursor to where it was.
func (e *engine) putBack(x, y int, pending bool) {
	if pending {
		e.await(x, y)
	} else {
		e.place(x, y)
	}
}

// await puts the cursor into the last column waiting to wrap, by writing what
// is there once more.
func (e *engine) await(x, y int) {
	g, _ := e.glyph(x, y)
	e.place(x, y)
	e.sendID(g.id)
	e.sendString(string(g.char))
}

// lines is IL and DL, which also move the cursor to the first column. DL on the
// top line scrolls into history, as in xterm.
func (e *engine) lines(s sequence) {
	_, y, _ := e.at()
	if y < e.top || y > e.bottom {
		return
	}
	n := min(s.count(), e.rows)
	if y == 0 && s.key[2] == 'M' {
		e.saveTop(n)
	}
	e.sendPen()
	e.sendCSI(n, s.key[2])
	e.sendString("\r")
	e.endBottom()
}

func (e *engine) scrollUp(s sequence) {
	n := min(s.count(), e.rows)
	e.saveTop(n)
	e.sendPen()
	e.sendCSI(n, 'S')
	e.awaitAgain()
}

func (e *engine) scrollDown(s sequence) {
	if len(s.params) > 1 {
		return // Highlight tracking, not SD.
	}
	e.sendPen()
	e.sendCSI(min(s.count(), e.rows), 'T')
	e.awaitAgain()
	e.endBottom()
}

// awaitAgain makes sure that the line that waits to wrap, which a scroll may
// just have brought here, has not wrapped before: only then can a snapshot make
// it wait.
func (e *engine) awaitAgain() {
	x, y, pending := e.at()
	if _, wrapped := e.glyph(x, y); pending && wrapped {
		e.await(x, y)
	}
}

// setRegion is DECSTBM. A region of less than two lines is refused.
func (e *engine) setRegion(s sequence) {
	top := max(1, s.at(0, 1))
	bottom := s.at(1, e.rows)
	if bottom == 0 || bottom > e.rows {
		bottom = e.rows
	}
	if top >= bottom {
		return
	}
	e.sendRegion(top-1, bottom-1)
}

// cursorStyle is DECSCUSR.
func (e *engine) cursorStyle(s sequence) {
	n := s.at(0, 0)
	if n > 6 {
		return
	}
	e.cursor.Default = n == 0
	e.cursor.Shape = emulator.CursorShape(max(0, n-1) / 2)
	e.cursor.Blink = n%2 == 1
}
