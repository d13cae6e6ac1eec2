package control

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// state is where the parser is between two bytes. The machine is Paul Williams's
// (vt100.net/emu/dec_ansi_parser) without the 8-bit controls, which would be bytes of UTF-8.
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

// Bounds of a sequence; what is beyond them is dropped.
const (
	MaxParams   = 64
	MaxParam    = 65535
	MaxIntermed = 2
	maxString   = 64 << 10   // OSC and DCS
	maxOSC52    = 1400 << 10 // base64 of 1 MiB
	maxImage    = 4 << 20    // kitty graphics, sixel, iTerm2 images
	keepString  = 128 << 10  // a larger buffer is freed after use
)

// Parser is the state of an incomplete sequence. While a Handler executes a complete one, it holds
// that one's parts.
type Parser struct {
	state  state
	Prefix byte // one of <=>? or 0
	Inter  [MaxIntermed]byte
	NInter int
	Bad    bool // too many intermediates: ignored

	Params  [MaxParams]int32 // -1 is missing
	NParams int
	Sub     uint64 // bit i: parameter i came after a colon

	kind  byte // of a string, as Command has it
	Final byte // of a DCS
	str   []byte
	over  bool // the string exceeds its bound and is ignored

	// Held is an incomplete rune, for whoever decodes text.
	Held  [utf8.UTFMax]byte
	NHeld int
}

// Handler executes sequences.
type Handler interface {
	Control(b byte) // C0
	Esc(final byte) // ESC, with the parser's intermediates
	CSI(final byte) // with its prefix, parameters and intermediates
	ControlString(c Command)
}

// Command is a control string.
type Command struct {
	Kind byte // ']' OSC, 'P' DCS, '_' APC, 'k' title; 0 for one to be ignored
	Body []byte
	Bell bool // ended by BEL
}

// Ground reports whether text comes next.
func (ps *Parser) Ground() bool { return ps.state == stGround }

// Escape begins a sequence, after its ESC.
func (ps *Parser) Escape() {
	ps.state = stEscape
	ps.NInter, ps.Bad = 0, false
}

// Feed consumes some of p while Ground is false. It may consume no byte when it becomes true.
func (ps *Parser) Feed(p []byte, h Handler) int {
	switch ps.state {
	case stCSI, stDCS:
		return ps.parameters(p, h)
	case stString:
		return ps.body(p, h)
	}
	return ps.step(p[0], h)
}

// step handles one byte in a state that isn't worth a loop.
func (ps *Parser) step(b byte, h Handler) int {
	if ps.state == stStringEsc {
		return ps.stringEsc(b, h)
	}
	switch {
	case b == 0x1b:
		ps.Escape()
		return 1
	case b == 0x18 || b == 0x1a:
		ps.state = stGround
		return 1
	case b < 0x20:
		if ps.state != stDCS && ps.state != stDCSInter {
			h.Control(b)
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
		ps.escape(b, h)
	case stCSIIgnore:
		if b >= 0x40 {
			ps.state = stGround
		}
	case stCSIInter, stDCSInter:
		switch {
		case b < 0x30:
			ps.addInter(b)
		case b < 0x40:
			ps.Bad = true
		case ps.state == stDCSInter:
			ps.beginDCS(b)
		default:
			ps.state = stGround
			if !ps.Bad {
				h.CSI(b)
			}
		}
	}
	return 1
}

func (ps *Parser) addInter(b byte) {
	if ps.NInter == MaxIntermed {
		ps.Bad = true
		return
	}
	ps.Inter[ps.NInter] = b
	ps.NInter++
}

// escape handles a printable byte after ESC.
func (ps *Parser) escape(b byte, h Handler) {
	if b < 0x30 {
		ps.addInter(b)
		ps.state = stEscInter
		return
	}
	if ps.state = stGround; ps.NInter > 0 {
		if !ps.Bad {
			h.Esc(b)
		}
		return
	}
	switch b {
	case '[', 'P':
		ps.state = stCSI
		if b == 'P' {
			ps.state = stDCS
		}
		ps.Prefix, ps.Sub = 0, 0
		ps.Params[0], ps.NParams = -1, 1
	case ']', '_', '^', 'X', 'k':
		ps.beginString(b)
	default:
		h.Esc(b)
	}
}

// parameters consumes the parameters of a CSI or DCS.
func (ps *Parser) parameters(p []byte, h Handler) int {
	for i, b := range p {
		switch {
		case b-'0' <= 9:
			if ps.NParams <= MaxParams {
				v := &ps.Params[ps.NParams-1]
				if *v = max(*v, 0)*10 + int32(b-'0'); *v > MaxParam {
					*v = MaxParam
				}
			}
		case b == ';' || b == ':':
			if ps.NParams < MaxParams {
				ps.Params[ps.NParams] = -1
				if b == ':' {
					ps.Sub |= 1 << ps.NParams
				}
				ps.NParams++
			} else {
				ps.NParams = MaxParams + 1 // The rest goes nowhere.
			}
		case b >= 0x40 && b <= 0x7e:
			ps.NParams = min(ps.NParams, MaxParams)
			if ps.state == stDCS {
				ps.beginDCS(b)
			} else {
				ps.state = stGround
				h.CSI(b)
			}
			return i + 1
		case b >= '<' && b <= '?':
			if ps.NParams == 1 && ps.Params[0] < 0 && ps.Prefix == 0 {
				ps.Prefix = b
			} else if ps.Bad = true; ps.state == stCSI {
				ps.state = stCSIIgnore
				return i + 1
			}
		case b >= 0x20 && b < 0x30:
			ps.NParams = min(ps.NParams, MaxParams)
			ps.addInter(b)
			ps.state++ // To stCSIInter, stDCSInter.
			return i + 1
		default:
			ps.NParams = min(ps.NParams, MaxParams+1)
			return i + ps.step(b, h)
		}
	}
	return len(p)
}

// Whole takes apart the control sequence with which p begins, at ESC, if it is complete and of the
// usual form: numbers with separators, then the final byte. It returns the sequence's length, or zero
// with no effect that counts.
func (ps *Parser) Whole(p []byte) (n int, final byte) {
	if len(p) < 3 || p[1] != '[' {
		return 0, 0
	}
	v, params := int32(-1), 0
	var sub uint64
	for i := 2; i < len(p); i++ {
		b := p[i]
		switch {
		case b-'0' <= 9:
			v = min(max(v, 0)*10+int32(b-'0'), MaxParam)
		case b-':' <= 1:
			if params == MaxParams-1 {
				return 0, 0
			}
			ps.Params[params] = v
			v = -1
			params++
			if b == ':' {
				sub |= 1 << params
			}
		case b-0x40 <= 0x3e:
			ps.Params[params] = v
			ps.NParams, ps.Sub = params+1, sub
			ps.Prefix, ps.NInter, ps.Bad = 0, 0, false
			return i + 1, b
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// WholeSGR is the length of the SGR, with parameters that Whole takes, that p, which begins
// with ESC, begins with: zero where something else comes, less where the end is not there yet.
func WholeSGR(p []byte) int {
	if len(p) > 1 && p[1] != '[' {
		return 0
	}
	i := 2
	for ; i+8 <= len(p); i += 8 {
		v := binary.LittleEndian.Uint64(p[i:])
		// Bytes other than digits and separators get a bit set; only the lowest such bit is reliable.
		other := v&0xf0f0f0f0f0f0f0f0 ^ 0x3030303030303030 | (v&0x0f0f0f0f0f0f0f0f+0x0404040404040404)&0x1010101010101010
		if other != 0 {
			i += bits.TrailingZeros64(other) >> 3
			break
		}
	}
	for ; i < len(p); i++ {
		if b := p[i]; b == 'm' {
			return i + 1
		} else if b-'0' > ';'-'0' {
			return 0
		}
	}
	return -1
}

// Arg returns parameter i, or def if it is missing or zero.
func (ps *Parser) Arg(i, def int) int {
	if i < ps.NParams && ps.Params[i] > 0 {
		return int(ps.Params[i])
	}
	return def
}

// Raw returns parameter i, or zero if it is missing.
func (ps *Parser) Raw(i int) int { return ps.Arg(i, 0) }

// AppendPending appends the incomplete sequence or rune that was read so far.
func (ps *Parser) AppendPending(buf []byte) []byte {
	buf = append(buf, ps.Held[:ps.NHeld]...)
	switch ps.state {
	case stGround:
	case stEscape, stEscInter:
		buf = ps.appendInter(append(buf, "\x1b"...))
	case stCSI, stCSIInter:
		buf = ps.appendInter(ps.appendParams(append(buf, "\x1b["...)))
	case stCSIIgnore:
		buf = append(buf, "\x1b[0?"...)
	case stDCS, stDCSInter:
		buf = ps.appendInter(ps.appendParams(append(buf, "\x1bP"...)))
	case stString, stStringEsc:
		switch {
		case !ps.over:
			buf = append(buf, 0x1b, ps.kind)
			if ps.kind == 'P' {
				buf = append(ps.appendInter(ps.appendParams(buf)), ps.Final)
			}
			buf = append(buf, ps.str...)
		case ps.kind == ']':
			buf = append(buf, "\x1b]999999;"...) // An unknown OSC, likewise ignored.
		case ps.kind == 'k':
			buf = append(buf, "\x1bk"...)
		default:
			buf = append(buf, "\x1bX"...) // It ends as DCS, APC and PM do.
		}
		if ps.state == stStringEsc {
			buf = append(buf, 0x1b)
		}
	}
	return buf
}

func (ps *Parser) appendInter(buf []byte) []byte {
	buf = append(buf, ps.Inter[:ps.NInter]...)
	if ps.Bad {
		// Too many, as they may not be the reason.
		for range MaxIntermed + 1 - ps.NInter {
			buf = append(buf, ' ')
		}
	}
	return buf
}

func (ps *Parser) appendParams(buf []byte) []byte {
	if ps.Prefix != 0 {
		buf = append(buf, ps.Prefix)
	}
	for i := range min(ps.NParams, MaxParams) {
		if i > 0 {
			sep := byte(';')
			if ps.Sub>>i&1 != 0 {
				sep = ':'
			}
			buf = append(buf, sep)
		}
		if v := ps.Params[i]; v >= 0 {
			buf = strconv.AppendInt(buf, int64(v), 10)
		}
	}
	if ps.NParams > MaxParams {
		buf = append(buf, ';')
	}
	return buf
}

// beginString starts the body of a control string; kind is what followed ESC.
func (ps *Parser) beginString(kind byte) {
	ps.state, ps.kind = stString, kind
	ps.str, ps.over = ps.str[:0], false
}

// beginDCS starts a DCS body after its final byte.
func (ps *Parser) beginDCS(final byte) {
	ps.beginString('P')
	ps.Final = final
}

// bound returns how many bytes the string may have.
func (ps *Parser) bound() int {
	switch {
	case ps.kind == 'P' && ps.Final == 'q' && ps.NInter == 0, ps.kind == '_', ps.kind == ']' && len(ps.str) > 3 && string(ps.str[:4]) == "1337":
		return maxImage
	case ps.kind == ']' && len(ps.str) > 3 && string(ps.str[:3]) == "52;":
		return maxOSC52
	case ps.kind == 'X' || ps.kind == '^':
		return 0
	}
	return maxString
}

// body consumes a string's body.
func (ps *Parser) body(p []byte, h Handler) int {
	for i, b := range p {
		if b >= 0x20 {
			continue
		}
		switch b {
		case 0x1b:
			ps.collect(p[:i])
			ps.state = stStringEsc
			return i + 1
		case 0x07:
			if ps.kind != ']' && ps.kind != 'k' {
				continue
			}
			ps.collect(p[:i])
			ps.end(true, h)
			return i + 1
		case 0x18, 0x1a:
			ps.drop()
			return i + 1
		}
	}
	ps.collect(p)
	return len(p)
}

// collect keeps a part of the body. Length alone decides whether the bound is exceeded, so that it
// does not depend on how the input is split.
func (ps *Parser) collect(b []byte) {
	if ps.over || len(b) == 0 {
		return
	}
	if ps.kind == ']' && len(ps.str) < 4 {
		// The bound depends on the OSC's number.
		n := min(4-len(ps.str), len(b))
		ps.str = append(ps.str, b[:n]...)
		b = b[n:]
	}
	if len(ps.str)+len(b) > ps.bound() {
		ps.over = true
		ps.str = ps.str[:min(len(ps.str), 4)]
		return
	}
	ps.str = append(ps.str, b...)
}

// drop forgets the string.
func (ps *Parser) drop() {
	ps.state = stGround
	if cap(ps.str) > keepString {
		ps.str = nil
	}
	ps.str, ps.over = ps.str[:0], false
}

// stringEsc handles the byte after an ESC within a string: a backslash ends it,
// anything else drops it and begins a sequence of its own, as in xterm.
func (ps *Parser) stringEsc(b byte, h Handler) int {
	if b == '\\' {
		ps.end(false, h)
		return 1
	}
	ps.drop()
	ps.Escape()
	return 0
}

// end handles a complete string.
func (ps *Parser) end(bell bool, h Handler) {
	ps.state = stGround
	if c := (Command{ps.kind, ps.str, bell}); ps.over {
		h.ControlString(Command{})
	} else {
		h.ControlString(c)
	}
	ps.drop()
}
