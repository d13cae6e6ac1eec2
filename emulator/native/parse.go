package native

import "unicode/utf8"

// write executes p at once, unlike Write.
func (e *Engine) write(p []byte) {
	for len(p) > 0 {
		if e.parser.Ground() {
			p = p[e.ground(p):]
		} else {
			p = p[e.parser.Feed(p, e):]
		}
	}
}

// ground consumes text and the controls in it, at least one byte.
func (e *Engine) ground(p []byte) int {
	if e.parser.NHeld > 0 {
		return e.resumeRune(p[0])
	}
	i := 0
	for i < len(p) {
		b := p[i]
		switch {
		case b-0x20 <= 0x5e:
			i += e.printASCII(p[i:])
		case b >= 0x80:
			if i += e.printText(p[i:]); e.parser.NHeld > 0 {
				return i
			}
		case b == 0x1b:
			if n := e.memo.Apply(p[i:], &e.cur.pen); n > 0 {
				e.penChanged()
				e.intervene()
				i += n
				continue
			}
			if n := e.wholeCSI(p[i:]); n > 0 {
				i += n
				continue
			}
			e.parser.Escape()
			return i + 1
		default:
			e.Control(b)
			i++
		}
	}
	return i
}

// wholeCSI executes the control sequence that p begins with if it is complete and has a
// common form (Parser.Whole). It returns its length in bytes, or zero.
func (e *Engine) wholeCSI(p []byte) int {
	n, final := e.parser.Whole(p)
	switch {
	case n == 0:
	case final == 'm':
		e.sgr()
		e.intervene()
		e.memo.Learn(p, n, &e.parser)
	default: // as CSI does, without prefix and intermediate
		if do := csiTable[0][0][final-0x40]; do != nil {
			do(e)
			if e.doubled {
				fit(e)
			}
		}
		if final != 'h' && final != 'l' {
			e.intervene()
		}
	}
	return n
}

// badRune handles bytes that are no rune. An incomplete rune at the end is held for the
// next Write; otherwise the maximal prefix of a rune is shown as one U+FFFD (Unicode, 3.9
// table 3-8). It returns how many bytes it used.
func (e *Engine) badRune(p []byte) int {
	if !utf8.FullRune(p) {
		e.parser.NHeld = copy(e.parser.Held[:], p)
		return len(p)
	}
	n := 1
	for n < len(p) && n < utf8.UTFMax && !utf8.FullRune(p[:n+1]) {
		n++
	}
	if utf8.FullRune(p[:n]) && n > 1 {
		n--
	}
	e.printRune(utf8.RuneError)
	return n
}

// resumeRune adds a byte to the held rune. It returns how many bytes it used, 0 or 1.
func (e *Engine) resumeRune(b byte) int {
	ps := &e.parser
	ps.Held[ps.NHeld] = b
	got := ps.Held[:ps.NHeld+1]
	if !utf8.FullRune(got) {
		ps.NHeld++
		return 1
	}
	ps.NHeld = 0
	r, n := utf8.DecodeRune(got)
	if r == utf8.RuneError && n == 1 {
		e.printRune(utf8.RuneError)
		return 0
	}
	if e.cur.charsets.Single != 0 {
		e.cur.charsets.Single = 0
		e.setPlain()
	}
	e.printRune(r)
	return 1
}
