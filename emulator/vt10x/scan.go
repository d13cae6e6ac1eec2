package vt10x

import "unicode/utf8"

// Bounds of what a sequence may carry.
const (
	maxParam  = 9999    // a parameter's value
	maxParams = 32      // parameters; further ones are dropped
	maxCSI    = 512     // bytes of a CSI; longer ones are dropped
	maxString = 1 << 20 // bytes of an OSC or DCS; longer ones are dropped
)

// state is the scanner's place in a sequence.
type state uint8

const (
	ground state = iota
	inEscape
	inCSI
	inOSC
	inDCS
	inTitle  // ESC k
	inIgnore // APC, PM, SOS
)

// scanner is the sequence in progress.
type scanner struct {
	state state
	seq   []byte // its bytes after the introducer
	bad   bool   // malformed or too long: dropped at its end
	esc   bool   // in a string: the last byte was ESC
}

func (s *scanner) begin(st state) {
	s.state, s.seq, s.bad, s.esc = st, s.seq[:0], false, false
}

func (s *scanner) add(b byte, limit int) {
	if len(s.seq) >= limit {
		s.bad = true
		return
	}
	s.seq = append(s.seq, b)
}

// Write feeds the child's output.
func (e *engine) Write(p []byte) {
	if len(e.held) > 0 {
		p = append(e.held, p...)
		e.held = nil
	}
	for len(p) > 0 {
		if e.scan.state == ground {
			n := e.text(p)
			p = p[n:]
			if len(p) > 0 && p[0] >= 0x80 {
				e.held = append(e.held, p...)
				return
			}
			if len(p) == 0 {
				return
			}
		}
		if p[0] >= 0x80 && e.scan.state == inEscape {
			e.scan.begin(ground) // No escape sequence: text again.
			continue
		}
		e.step(p[0])
		p = p[1:]
	}
}

// text prints the characters at the start of p and gives their length. It stops
// before a control and before an incomplete character.
func (e *engine) text(p []byte) int {
	i := 0
	run := e.run[:0]
	for i < len(p) && len(run) < 4096 {
		b := p[i]
		if b < 0x20 || b == 0x7f {
			break
		}
		if b < 0x80 {
			run = append(run, rune(b))
			i++
			continue
		}
		if !utf8.FullRune(p[i:]) {
			break
		}
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			n = badLen(p[i:])
		}
		if r >= 0xa0 { // C1 controls are dropped.
			run = append(run, r)
		}
		i += n
	}
	e.run = run
	e.print(run)
	if i < len(p) && len(run) == 4096 {
		return i + e.text(p[i:])
	}
	return i
}

// badLen is the length of the invalid sequence at the start of p that becomes
// one U+FFFD: the longest that could have begun a character.
func badLen(p []byte) int {
	for n := 2; n <= len(p) && n <= utf8.UTFMax; n++ {
		if utf8.FullRune(p[:n]) {
			return n - 1
		}
	}
	return 1
}

// step takes a byte that is no text.
func (e *engine) step(b byte) {
	s := &e.scan
	switch s.state {
	case inOSC, inDCS, inTitle, inIgnore:
		e.inString(b)
		return
	}
	switch {
	case b == 0x18 || b == 0x1a: // CAN, SUB
		s.begin(ground)
	case b == 0x1b:
		s.begin(inEscape)
	case b < 0x20:
		e.control(b)
	case b == 0x7f:
	case s.state == inEscape:
		e.inEscape(b)
	case s.state == inCSI:
		e.inCSI(b)
	}
}

// inString takes a byte of an OSC, DCS or the like.
func (e *engine) inString(b byte) {
	s := &e.scan
	switch {
	case s.esc && b == '\\':
		e.finish("\x1b\\")
	case s.esc:
		// Any other escape sequence ends the string without effect.
		s.begin(inEscape)
		e.step(b)
	case b == 0x1b:
		s.esc = true
	case b == 0x18 || b == 0x1a:
		s.begin(ground)
	case b == 0x07 && s.state == inOSC:
		e.finish("\a")
	case s.state != inIgnore:
		s.add(b, maxString)
	}
}

// finish runs a whole string; end is how it was ended.
func (e *engine) finish(end string) {
	s := &e.scan
	st, text := s.state, string(s.seq)
	bad := s.bad
	s.begin(ground)
	e.last = 0
	if cap(s.seq) > 1<<16 {
		s.seq = nil
	}
	if bad {
		return
	}
	switch st {
	case inOSC:
		e.osc(text, end)
	case inDCS:
		e.dcs(text)
	case inTitle:
		e.setTitle(text)
	}
}

// introducers are the escape sequences that begin something longer.
var introducers = map[byte]state{
	'[': inCSI, ']': inOSC, 'P': inDCS, 'k': inTitle, '_': inIgnore, '^': inIgnore, 'X': inIgnore,
}

func (e *engine) inEscape(b byte) {
	s := &e.scan
	if b < 0x30 {
		s.add(b, 8)
		return
	}
	if st, ok := introducers[b]; ok && len(s.seq) == 0 {
		s.begin(st)
		return
	}
	seq, bad := string(s.seq)+string(rune(b)), s.bad
	s.begin(ground)
	e.last = 0
	if fn := escapes[seq]; fn != nil && !bad {
		fn(e)
	}
}

func (e *engine) inCSI(b byte) {
	s := &e.scan
	switch {
	case b >= 0x80:
		s.bad = true
	case b < 0x40:
		s.add(b, maxCSI)
	default:
		bad := s.bad
		c, ok := parseCSI(s.seq, b)
		s.begin(ground)
		if ok && !bad {
			e.csi(c)
		}
	}
}
