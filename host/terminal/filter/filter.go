package filter

import (
	"bytes"
)

// Filter takes questions to the terminal and shell marks out of the child's
// output (AHP, Terminal Channel, docs/from-tmux.md). It is a byte machine after Paul
// Williams's, without 8-bit controls (they are bytes of UTF-8), and its output
// doesn't depend on how its input is split.
//
// A sequence is undecided until it is known whether it must go. Bytes of an
// undecided one that arrived in earlier chunks are held; the others are still
// in the chunk:
//
//	earlier chunks        this chunk
//	passed │ held         from ─ pass ─▶ seq ─ undecided ─▶ i ─ unread
//
// Sequences that stay are not held but begun: what viewers have of them is kept
// so that a snapshot taken in their middle can repeat it. Inside DCS, APC, PM
// and SOS nothing is looked at; a DCS that is itself a question goes as a whole.
type Filter struct {
	Settings
	state  state
	held   []byte // undecided, not passed on
	begun  []byte // of a sequence not yet complete, passed on
	kind   byte   // what introduced a string: ] P _ ^ X k
	long   bool   // begun is over its bound; it is given up
	torn   bool   // viewers have a sequence that this one cut short
	prefix byte   // of a CSI, one of <=>?, or 0
	inter  byte   // the only intermediate, 0 when there is none, many for more
	number int    // of an OSC; 1 when a CSI or DCS has parameters
	tmux   int    // bytes of "tmux;" seen at a DCS's start
	gap    bool   // something was taken out behind the last character

	// What the last add found, for the caller.
	Marks  []Mark
	bodies []byte // of the marks
	at     cursor // of Add; kept, so that it is allocated once
}

// Mark is a shell mark that was taken out, or the end of what may be a request for a
// size, without a body.
type Mark struct {
	At       int // where in dst it was
	In       int // where in p it ended
	from, to int // its body, in bodies
}

// Body is what a mark, of the last Add, has between "ESC ]" and the terminator.
func (f *Filter) Body(m Mark) []byte { return f.bodies[m.from:m.to] }

// Settings are for the caller to set; they stay when the state is set anew.
type Settings struct {
	Sizes bool // a CSI that may be a request for a size is marked
	// Media reads what a graphics command (what is between ESC _ G and the terminator)
	// names, and gives sequences that have it in them, or nil. Nil: none is read.
	Media func(command []byte) []byte
}

type state uint8

const (
	ground      state = iota
	inEscape          // undecided: ESC, intermediates
	inCSI             // undecided: up to its final byte
	inOSCNumber       // undecided: digits after ESC ]
	inOSC             // undecided: an OSC that may have to go
	inOSCEscape       // undecided: ESC in the two above
	inDCS             // undecided: up to its final byte
	inKeys            // undecided: the keys of a graphics command (ESC _ G)
	inQuery           // undecided: the body of a DCS that has to go
	inQueryEsc        // undecided: ESC in it
	passCSI           // an overlong CSI
	passString        // the body of a string that stays
	passEscape        // ESC in it; alone undecided
)

const (
	// maxHeld bounds an undecided sequence; a longer one is passed on.
	maxHeld = 64 << 10
	// maxBegun bounds what is kept of a sequence passed on in part.
	maxBegun = 64 << 10

	esc = 0x1b
	can = 0x18
	sub = 0x1a
	bel = 0x07

	manyInter = 0xff
)

// cursor is where the filter is in a chunk; see Filter.
type cursor struct {
	p            []byte
	dst          []byte
	from, seq, i int
}

// Add filters p and appends what stays to dst. The shell marks that ended in p
// are in Marks then, until the next call.
func (f *Filter) Add(dst, p []byte) []byte {
	if len(f.Marks) > 0 {
		f.Marks, f.bodies = f.Marks[:0], f.bodies[:0]
	}
	c := &f.at
	*c = cursor{p: p, dst: dst}
	for c.i < len(p) {
		if f.state == ground {
			n := bytes.IndexByte(p[c.i:], esc)
			f.gap = f.gap && n == 0
			if n < 0 {
				break
			}
			c.seq = c.i + n
			if end := plainCSI(p, c.seq); end > 0 {
				c.i = end
				continue
			}
			c.i = c.seq + 1
			f.begin()
			continue
		}
		steps[f.state](f, c)
	}
	dst = f.end(c)
	*c = cursor{}
	return dst
}

// plainCSI is the end of the sequence at p[at] if it is whole and a CSI that
// needs no second look, as most are; else 0.
func plainCSI(p []byte, at int) int {
	if at+2 >= len(p) || p[at+1] != '[' {
		return 0
	}
	for i, b := range p[at+2:] {
		if b-'0' <= ';'-'0' {
			continue
		}
		if b >= 0x40 && b < 0x7f && !plainAsks[b] && b != 'b' {
			return at + 2 + i + 1
		}
		return 0
	}
	return 0
}

// steps handles at least one byte in each state, or changes the state.
var steps = [...]func(*Filter, *cursor){
	inEscape: (*Filter).stepEscape, inCSI: (*Filter).stepCSI,
	inOSCNumber: (*Filter).stepOSCNumber, inOSC: (*Filter).stepOSC, inOSCEscape: (*Filter).stepOSCEscape,
	inDCS: (*Filter).stepDCS, inKeys: (*Filter).stepKeys, inQuery: (*Filter).stepQuery, inQueryEsc: (*Filter).stepQueryEscape,
	passCSI: (*Filter).stepPassCSI, passString: (*Filter).stepPassString, passEscape: (*Filter).stepPassEscape,
}

// undecided reports whether the present sequence may still have to go.
func (s state) undecided() bool { return s >= inEscape && s <= inQueryEsc }

// begin starts a sequence at an ESC.
func (f *Filter) begin() {
	f.state = inEscape
	f.prefix, f.inter, f.number, f.tmux, f.kind = 0, 0, 0, 0, 0
}

// end settles the rest of a chunk.
func (f *Filter) end(c *cursor) []byte {
	switch {
	case f.state == ground:
		return append(c.dst, c.p[c.from:]...)
	case f.state.undecided():
		if f.state == inOSC {
			if v, _ := f.judge(c, len(c.p), false); v == stays {
				f.passOn(c)
				f.state = passString
				return f.end(c)
			}
		}
		f.hold(c, len(c.p))
		return c.dst
	}
	stop := len(c.p)
	if f.state == passEscape && stop > c.from {
		stop-- // That ESC may begin a question.
	}
	c.dst = append(c.dst, c.p[c.from:stop]...)
	f.keep(c.p[c.seq:stop])
	if stop < len(c.p) {
		f.held = append(f.held, esc)
	}
	return c.dst
}

// hold moves the undecided part up to p[:stop] out of the chunk.
func (f *Filter) hold(c *cursor, stop int) {
	c.dst = append(c.dst, c.p[c.from:c.seq]...)
	f.held = append(f.held, c.p[c.seq:stop]...)
	c.from, c.seq = stop, stop
}

// keep remembers what was passed on of an incomplete sequence.
func (f *Filter) keep(b []byte) {
	if f.long {
		return
	}
	if len(f.begun)+len(b) > maxBegun {
		f.begun, f.long = nil, true
		return
	}
	f.begun = append(f.begun, b...)
}

// passOn decides that the sequence stays.
func (f *Filter) passOn(c *cursor) {
	if len(f.held) > 0 { // then from == seq
		c.dst = append(c.dst, f.held...)
		f.keep(f.held)
		f.release()
	}
}

// release empties held, keeping a small buffer.
func (f *Filter) release() {
	if cap(f.held) > 4<<10 {
		f.held = nil
	}
	f.held = f.held[:0]
}

// finish is the end of a sequence that stays, before p[i].
func (f *Filter) finish(c *cursor) {
	f.passOn(c)
	f.state = ground
	f.torn = false
	f.forget()
}

// forget clears what was begun.
func (f *Filter) forget() {
	if cap(f.begun) > 4<<10 {
		f.begun = nil
	}
	f.begun, f.long = f.begun[:0], false
}

// drop is the end of a sequence that goes, before p[stop]. If viewers are left
// with a sequence that is not complete, they are told to give it up.
func (f *Filter) drop(c *cursor, stop int) {
	f.gap = true
	f.discard(c, stop)
	if f.torn || len(f.begun) > 0 {
		c.dst = append(c.dst, can)
	}
	f.finish(c)
}

// discard takes out what is undecided before p[stop].
func (f *Filter) discard(c *cursor, stop int) {
	c.dst = append(c.dst, c.p[c.from:c.seq]...)
	c.from, c.seq = stop, stop
	f.release()
}

// cutShort ends a sequence that another begins in: it means nothing. What
// viewers have of it stays open for them until they see the new one.
func (f *Filter) cutShort() {
	if len(f.begun) > 0 || f.long {
		f.torn = true
	}
	f.forget()
	f.begin()
}

// Held is what is undecided: what the filter was given and viewers were not. It is
// valid until the next call.
func (f *Filter) Held() []byte { return f.held }

// Open reports that the output is in the middle of a sequence.
func (f *Filter) Open() bool { return f.state != ground }

// AppendUnseen appends what brings a terminal that was given what viewers have, and no
// more, to where one is that was given what came in: in the same sequence, and with
// nothing to repeat (REP) where something was taken out.
func (f *Filter) AppendUnseen(dst []byte) []byte {
	if f.gap && !f.long {
		dst = append(append(dst, can, can), f.begun...)
	}
	return append(dst, f.held...)
}

// full reports that the undecided sequence has reached its bound, and then
// passes it on and goes to state next.
func (f *Filter) full(c *cursor, next state) bool {
	if len(f.held)+c.i-c.seq < maxHeld {
		return false
	}
	f.passOn(c)
	f.state = next
	return true
}

// room is how many bytes the undecided sequence may still take of the chunk.
func (f *Filter) room(c *cursor) []byte {
	rest := c.p[c.i:]
	return rest[:min(len(rest), maxHeld-(len(f.held)+c.i-c.seq))]
}

// control handles what is common to escape sequences and CSI: controls inside
// them act at once, before the sequence, and so leave it here too.
func (f *Filter) control(c *cursor, b byte) (done bool) {
	switch {
	case b == esc:
		f.restart(c)
	case b == can || b == sub:
		c.i++
		f.finish(c)
	case b < 0x20:
		f.hold(c, c.i)
		if f.torn { // It must not become part of what was cut short.
			c.dst = append(c.dst, can)
			f.torn = false
		}
		c.dst = append(c.dst, b)
		c.i++
		c.from, c.seq = c.i, c.i
	case b == 0x7f:
		c.i++
	case b >= 0x80: // a character: it ends the sequence without effect
		f.finish(c)
	default:
		return false
	}
	return true
}

// part keeps viewers from repeating (REP) a character that something was behind
// which they did not get: nothing may come between the two.
func (f *Filter) part(c *cursor) {
	f.hold(c, c.i)
	if f.torn { // The first only ends what was cut short.
		c.dst = append(c.dst, can)
	}
	c.dst = append(c.dst, can)
}

// restart ends a sequence without effect and begins one at the ESC at p[i].
func (f *Filter) restart(c *cursor) {
	if f.state.undecided() {
		f.discard(c, c.i)
	} else {
		f.torn = true
	}
	c.seq = c.i
	c.i++
	f.cutShort()
}

func (f *Filter) stepEscape(c *cursor) {
	b := c.p[c.i]
	if f.control(c, b) {
		return
	}
	c.i++
	switch {
	case b < 0x30:
		f.addInter(b)
		f.full(c, passCSI) // a flood of intermediates ends as a CSI does
	case f.inter != 0:
		f.finish(c)
	case b == '[':
		f.state = inCSI
	case b == ']':
		f.kind, f.state = b, inOSCNumber
	case b == 'P':
		f.kind, f.state = b, inDCS
	case b == '_':
		f.kind, f.state = b, inKeys
	case b == '^' || b == 'X' || b == 'k':
		f.passOn(c)
		f.kind, f.state = b, passString
	case b == 'Z': // DECID, an old DA1
		f.drop(c, c.i)
	default:
		if f.finish(c); b == 'c' && f.Sizes { // RIS ends 132 columns.
			f.cut(c)
		}
	}
}

// cut marks the end of what may be a request for a size, before p[i].
func (f *Filter) cut(c *cursor) {
	c.dst = append(c.dst, c.p[c.from:c.i]...)
	c.from = c.i
	f.Marks = append(f.Marks, Mark{At: len(c.dst), In: c.i})
}

func (f *Filter) addInter(b byte) {
	if f.inter == 0 {
		f.inter = b
	} else {
		f.inter = manyInter
	}
}

func (f *Filter) stepCSI(c *cursor) {
	b := c.p[c.i]
	if f.control(c, b) {
		return
	}
	c.i++
	switch {
	case b >= 0x40:
		if f.questionCSI(c, b) {
			f.drop(c, c.i)
			return
		}
		if b == 'b' && f.gap {
			f.part(c)
		}
		f.finish(c)
		if f.Sizes && f.sizing(b) {
			f.cut(c)
		}
		return
	case b >= '<' && b <= '?':
		if f.prefix == 0 && f.inter == 0 && f.number == 0 {
			f.prefix = b
		} else {
			f.inter = manyInter // Malformed, so no question.
		}
	case b < 0x30:
		f.addInter(b)
	case f.inter != 0:
		f.inter = manyInter // A parameter after an intermediate.
	default:
		f.number = 1
	}
	f.full(c, passCSI)
}

func (f *Filter) stepPassCSI(c *cursor) {
	b := c.p[c.i]
	switch {
	case b == esc:
		f.restart(c)
	case b < 0x20 && b != can && b != sub, b >= 0x20 && b < 0x40, b == 0x7f:
		c.i++
	case b >= 0x80:
		f.finish(c)
	default:
		c.i++
		f.finish(c)
	}
}

// Lone reports that all that is held is an ESC that may have been meant as it
// is.
func (f *Filter) Lone() bool { return len(f.held) == 1 && f.held[0] == esc }

// Flush passes on what is held, at the end of the output or when a lone ESC has
// waited long enough.
func (f *Filter) Flush(dst []byte) []byte {
	c := cursor{dst: dst}
	f.passOn(&c)
	return c.dst
}

// Resume appends what a viewer must have seen of the sequence that the output
// is in the middle of, after a snapshot of the emulator, which has seen more.
func (f *Filter) Resume(dst []byte) []byte {
	switch {
	case f.state == ground:
		return dst
	case f.long && f.kind == ']':
		// Its head is gone: an OSC that means nothing takes the rest up.
		return append(dst, "\x18\x1b]99999;"...)
	case f.long && f.kind != 0:
		return append(dst, "\x18\x1b^"...)
	case f.long:
		return append(dst, "\x18\x1b[>99999"...)
	}
	dst = append(dst, can)
	return append(dst, f.begun...)
}
