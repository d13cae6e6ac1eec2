package native

import (
	"unicode/utf8"
)

// state is where the parser is between two bytes. The machine is Paul
// Williams's (vt100.net/emu/dec_ansi_parser), without the 8-bit controls: they
// would be bytes of UTF-8.
type state uint8

const (
	stGround    state = iota
	stEscape          // ESC
	stEscInter        // ESC and an intermediate
	stCSI             // CSI, its parameters
	stCSIInter        // CSI, an intermediate was seen
	stCSIIgnore       // a malformed CSI, up to its final byte
	stDCS             // DCS, up to its final byte: as stCSI
	stDCSInter
	stString    // the body of OSC, DCS, APC, PM or SOS
	stStringEsc // ESC within it: ST if a backslash follows
)

// Bounds of what a sequence may have; what is beyond is dropped.
const (
	maxParams   = 64
	maxParam    = 65535
	maxIntermed = 2
	maxString   = 64 << 10   // OSC and DCS
	maxOSC52    = 1400 << 10 // base64 of 1 MiB
	maxImage    = 4 << 20    // kitty graphics, sixel, iTerm2 images
	keepString  = 128 << 10  // a larger buffer is given back after use
)

// parser is the state of a sequence that is not complete yet.
type parser struct {
	state  state
	prefix byte // one of <=>? or 0
	inter  [maxIntermed]byte
	ninter int
	bad    bool // too many intermediates: ignored

	params  [maxParams]int32 // -1 is missing
	nparams int
	sub     uint64 // bit i: parameter i came after a colon

	kind  byte // of a string: ']' OSC, 'P' DCS, '_' APC, '^' PM, 'X' SOS, 'k' title
	final byte // of a DCS
	str   []byte
	over  bool // the string exceeds its bound and is ignored

	utf8  [utf8.UTFMax]byte // an incomplete rune
	nutf8 int
}

// Write implements emulator.Emulator.
func (e *Engine) Write(p []byte) {
	for len(p) > 0 {
		var n int
		switch e.parser.state {
		case stGround:
			n = e.ground(p)
		case stCSI, stDCS:
			n = e.parseParams(p)
		case stString:
			n = e.parseString(p)
		default:
			n = e.step(p[0])
		}
		p = p[n:]
	}
}

// ground consumes text and the controls in it, at least one byte.
func (e *Engine) ground(p []byte) int {
	if e.parser.nutf8 > 0 {
		return e.resumeRune(p[0])
	}
	i := 0
	for i < len(p) {
		b := p[i]
		switch {
		case b-0x20 <= 0x5e:
			i += e.printASCII(p[i:])
		case b >= 0x80:
			if i += e.printText(p[i:]); e.parser.nutf8 > 0 {
				return i
			}
		case b == 0x1b:
			n := e.knownSGR(p[i:])
			if n == 0 {
				n = e.wholeCSI(p[i:])
			}
			if n > 0 {
				i += n
				continue
			}
			e.enterEscape()
			return i + 1
		default:
			e.control(b)
			i++
		}
	}
	return i
}

// wholeCSI executes the control sequence that p begins with if all of it is
// there and it is of the usual form: numbers with separators, then the final
// byte. It returns its length, else zero, having done nothing that counts.
func (e *Engine) wholeCSI(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	ps := &e.parser
	v, n := int32(-1), 0
	var sub uint64
	for i := 2; i < len(p); i++ {
		b := p[i]
		switch {
		case b-'0' <= 9:
			v = min(max(v, 0)*10+int32(b-'0'), maxParam)
		case b-':' <= 1:
			if n == maxParams-1 {
				return 0
			}
			ps.params[n] = v
			v = -1
			n++
			if b == ':' {
				sub |= 1 << n
			}
		case b-0x40 <= 0x3e:
			ps.params[n] = v
			ps.nparams, ps.sub = n+1, sub
			if b == 'm' {
				e.sgr()
				e.intervene()
				e.learnSGR(p, i+1)
				return i + 1
			}
			ps.prefix, ps.ninter, ps.bad = 0, 0, false
			e.csi(b)
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

// badRune handles bytes that are no rune: an incomplete one at the end is kept
// for the next Write, else its maximal prefix is shown as one U+FFFD (Unicode,
// 3.9 table 3-8). It returns the bytes used.
func (e *Engine) badRune(p []byte) int {
	if !utf8.FullRune(p) {
		e.parser.nutf8 = copy(e.parser.utf8[:], p)
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

// resumeRune adds a byte to the incomplete rune and returns how many it used.
func (e *Engine) resumeRune(b byte) int {
	ps := &e.parser
	ps.utf8[ps.nutf8] = b
	got := ps.utf8[:ps.nutf8+1]
	if !utf8.FullRune(got) {
		ps.nutf8++
		return 1
	}
	ps.nutf8 = 0
	r, n := utf8.DecodeRune(got)
	if r == utf8.RuneError && n == 1 {
		e.printRune(utf8.RuneError)
		return 0
	}
	if e.cur.charsets.single != 0 {
		e.cur.charsets.single = 0
		e.setPlain()
	}
	e.printRune(r)
	return 1
}

// enterEscape begins a sequence.
func (e *Engine) enterEscape() {
	ps := &e.parser
	ps.state = stEscape
	ps.ninter, ps.bad = 0, false
}

// step handles one byte in a state that isn't worth a loop.
func (e *Engine) step(b byte) int {
	ps := &e.parser
	if ps.state == stStringEsc {
		return e.stringEsc(b)
	}
	switch {
	case b == 0x1b:
		e.enterEscape()
		return 1
	case b == 0x18 || b == 0x1a:
		ps.state = stGround
		return 1
	case b < 0x20:
		if ps.state != stDCS && ps.state != stDCSInter {
			e.control(b)
		}
		return 1
	case b == 0x7f:
		return 1
	case b >= 0x80:
		ps.state = stGround
		return 0
	}
	switch ps.state {
	case stEscape, stEscInter:
		e.stepEscape(b)
	case stCSIIgnore:
		if b >= 0x40 {
			ps.state = stGround
		}
	case stCSIInter, stDCSInter:
		switch {
		case b < 0x30:
			ps.addInter(b)
		case b < 0x40:
			ps.bad = true
		case ps.state == stDCSInter:
			e.beginDCS(b)
		default:
			ps.state = stGround
			if !ps.bad {
				e.csi(b)
			}
		}
	}
	return 1
}

func (ps *parser) addInter(b byte) {
	if ps.ninter == maxIntermed {
		ps.bad = true
		return
	}
	ps.inter[ps.ninter] = b
	ps.ninter++
}

// stepEscape handles a printable byte after ESC.
func (e *Engine) stepEscape(b byte) {
	ps := &e.parser
	if b < 0x30 {
		ps.addInter(b)
		ps.state = stEscInter
		return
	}
	if ps.state = stGround; ps.ninter > 0 {
		if !ps.bad {
			e.esc(b)
		}
		return
	}
	switch b {
	case '[', 'P':
		ps.state = stCSI
		if b == 'P' {
			ps.state = stDCS
		}
		ps.prefix, ps.sub = 0, 0
		ps.params[0], ps.nparams = -1, 1
	case ']', '_', '^', 'X', 'k':
		ps.beginString(b)
	default:
		e.esc(b)
	}
}

// parseParams consumes the parameters of a CSI or DCS.
func (e *Engine) parseParams(p []byte) int {
	ps := &e.parser
	for i, b := range p {
		switch {
		case b-'0' <= 9:
			if ps.nparams <= maxParams {
				v := &ps.params[ps.nparams-1]
				if *v = max(*v, 0)*10 + int32(b-'0'); *v > maxParam {
					*v = maxParam
				}
			}
		case b == ';' || b == ':':
			if ps.nparams < maxParams {
				ps.params[ps.nparams] = -1
				if b == ':' {
					ps.sub |= 1 << ps.nparams
				}
				ps.nparams++
			} else {
				ps.nparams = maxParams + 1 // The rest goes nowhere.
			}
		case b >= 0x40 && b <= 0x7e:
			ps.nparams = min(ps.nparams, maxParams)
			if ps.state == stDCS {
				e.beginDCS(b)
			} else {
				ps.state = stGround
				e.csi(b)
			}
			return i + 1
		case b >= '<' && b <= '?':
			if ps.nparams == 1 && ps.params[0] < 0 && ps.prefix == 0 {
				ps.prefix = b
			} else if ps.bad = true; ps.state == stCSI {
				ps.state = stCSIIgnore
				return i + 1
			}
		case b >= 0x20 && b < 0x30:
			ps.nparams = min(ps.nparams, maxParams)
			ps.addInter(b)
			ps.state++ // To stCSIInter, stDCSInter.
			return i + 1
		default:
			ps.nparams = min(ps.nparams, maxParams+1)
			return i + e.step(b)
		}
	}
	return len(p)
}

// arg is parameter i, def when it is missing or zero.
func (e *Engine) arg(i, def int) int {
	if i < e.parser.nparams && e.parser.params[i] > 0 {
		return int(e.parser.params[i])
	}
	return def
}

// raw is parameter i, zero when it is missing.
func (e *Engine) raw(i int) int { return e.arg(i, 0) }
