package filter

import (
	"bytes"
	"strconv"
)

// verdict is what becomes of a sequence.
type verdict uint8

const (
	open  verdict = iota // not known yet
	stays                // for viewers
	goes                 // a question, answered here, or a mark
)

// csiQuestion is a CSI that asks. Zero prefix or inter means none.
type csiQuestion struct {
	final, prefix, inter byte
	// asks looks at the first parameter; nil means always.
	asks func(first int) bool
}

const anyPrefix = 0xff

// csiQuestions are the CSIs that a terminal answers.
var csiQuestions = []csiQuestion{
	{'c', anyPrefix, 0, nil}, // DA1, DA2, DA3
	{'n', 0, 0, nil},         // DSR, CPR
	{'n', '?', 0, nil},       // DECDSR
	{'p', 0, '$', nil},       // DECRQM, ANSI
	{'p', '?', '$', nil},     // DECRQM, private
	{'q', '>', 0, nil},       // XTVERSION
	{'u', '?', 0, nil},       // kitty keyboard flags
	{'u', 0, '$', nil},       // DECRQTSR
	{'u', 0, '&', nil},       // DECRQUPSS
	{'x', 0, 0, nil},         // DECREQTPARM
	{'w', 0, '$', nil},       // DECRQPSR
	{'y', 0, '*', nil},       // DECRQCRA
	{'v', 0, '"', nil},       // DECRQDE
	{'|', 0, '\'', nil},      // DECRQLP
	{'|', 0, '#', nil},       // XTREPORTSGR
	{'R', 0, '#', nil},       // XTREPORTCOLORS
	{'S', '?', 0, nil},       // XTSMGRAPHICS
	{'m', '?', 0, nil},       // XTQMODKEYS
	{'g', '?', 0, nil},       // XTQFMTKEYS
	{'t', 0, 0, windowReport},
}

// windowReport tells XTWINOPS that report from those that do.
func windowReport(op int) bool {
	switch op {
	case 11, 13, 14, 15, 16, 18, 19, 20, 21:
		return true
	}
	return false
}

// csiByFinal is csiQuestions by final byte, as most CSIs are no question.
var csiByFinal = func() (t [128][]csiQuestion) {
	for _, q := range csiQuestions {
		t[q.final] = append(t[q.final], q)
	}
	return t
}()

// plainAsks are the final bytes of questions with neither prefix nor
// intermediate.
var plainAsks = func() (t [128]bool) {
	for _, q := range csiQuestions {
		if q.inter == 0 && (q.prefix == 0 || q.prefix == anyPrefix) {
			t[q.final] = true
		}
	}
	return t
}()

// sizing reports whether a CSI may ask for another size: XTWINOPS, DECSCPP, DECSNLS,
// DECCOLM.
func (f *Filter) sizing(final byte) bool {
	switch final {
	case 't':
		return f.prefix == 0 && f.inter == 0
	case '|':
		return f.inter == '$' || f.inter == '*'
	}
	return f.prefix == '?' && (final == 'h' || final == 'l')
}

// questionCSI reports whether the CSI that ends before p[i] has to go.
func (f *Filter) questionCSI(c *cursor, final byte) bool {
	for _, q := range csiByFinal[final&0x7f] {
		if q.inter != f.inter || q.prefix != anyPrefix && q.prefix != f.prefix {
			continue
		}
		if q.asks == nil || q.asks(firstParam(f.sequence(c, c.i))) {
			return true
		}
	}
	return false
}

// sequence is the undecided sequence up to p[stop], valid until the next call.
func (f *Filter) sequence(c *cursor, stop int) []byte {
	if len(f.held) == 0 {
		return c.p[c.seq:stop]
	}
	return append(f.held[:len(f.held):len(f.held)], c.p[c.seq:stop]...)
}

// firstParam is the first number in a sequence, -1 when it has none.
func firstParam(seq []byte) int {
	n, any := 0, false
	for _, b := range seq {
		switch {
		case b >= '0' && b <= '9':
			n, any = min(n*10+int(b-'0'), 1<<20), true
		case any || b == ';':
			if !any {
				return -1
			}
			return n
		}
	}
	return -1
}

// oscRule judges an OSC by its body, which is all of it after the number and
// the semicolon when final is set, and a part otherwise. A verdict other than
// open on a part must hold for the whole. With goes, what is left of it may
// come along.
type oscRule func(number int, body []byte, final bool) (verdict, []byte)

// oscRules are the OSCs that ask or mark; all others stay.
var oscRules = map[int]oscRule{
	4: pairs, 5: pairs, // palette
	10: colors, 11: colors, 12: colors, 13: colors, 14: colors,
	15: colors, 16: colors, 17: colors, 18: colors, 19: colors,
	21:   keyed,     // kitty's colours
	22:   asksFirst, // pointer shape
	50:   asksFirst, // font
	52:   clipboard,
	60:   mark, // xterm's allowed features
	61:   mark, // and disallowed ones
	99:   notification,
	7:    mark, // working directory: viewers get terminal/cwdChanged
	133:  mark, // FinalTerm
	633:  mark, // VS Code
	7501: mark, // reserved for marks of our own
	1337: iterm,
}

// mark judges what always goes.
func mark(_ int, _ []byte, final bool) (verdict, []byte) {
	if final {
		return goes, nil
	}
	return open, nil
}

// pairs judges "index;spec;index;spec…".
func pairs(number int, body []byte, final bool) (verdict, []byte) {
	if !final {
		return open, nil
	}
	fields := bytes.Split(body, []byte(";"))
	var keep []byte
	asked := false
	for i := 0; i+1 < len(fields); i += 2 {
		if string(fields[i+1]) == "?" {
			asked = true
			continue
		}
		keep = append(append(append(append(keep, ';'), fields[i]...), ';'), fields[i+1]...)
	}
	return rest(asked, number, keep)
}

// keyed judges "key=value;key=value…".
func keyed(number int, body []byte, final bool) (verdict, []byte) {
	if !final {
		return open, nil
	}
	var keep []byte
	asked := false
	for _, field := range bytes.Split(body, []byte(";")) {
		if bytes.HasSuffix(field, []byte("=?")) {
			asked = true
			continue
		}
		keep = append(append(keep, ';'), field...)
	}
	return rest(asked, number, keep)
}

// rest is the verdict on an OSC of which keep, if anything, does not ask.
func rest(asked bool, number int, keep []byte) (verdict, []byte) {
	switch {
	case !asked:
		return stays, nil
	case len(keep) == 0:
		return goes, nil
	}
	out := strconv.AppendInt([]byte("\x1b]"), int64(number), 10)
	return goes, append(append(out, keep...), "\x1b\\"...)
}

// colors judges "spec;spec…", where each spec is for the next number.
func colors(number int, body []byte, final bool) (verdict, []byte) {
	if !final {
		return open, nil
	}
	var keep []byte
	asked := false
	for i, spec := range bytes.Split(body, []byte(";")) {
		switch {
		case string(spec) == "?":
			asked = true
		case len(spec) > 0 && number+i <= 19:
			keep = strconv.AppendInt(append(keep, "\x1b]"...), int64(number+i), 10)
			keep = append(append(append(keep, ';'), spec...), "\x1b\\"...)
		}
	}
	if !asked {
		return stays, nil
	}
	return goes, keep
}

// asksFirst judges an OSC that asks with a question mark in front.
func asksFirst(_ int, body []byte, final bool) (verdict, []byte) {
	switch {
	case len(body) > 0 && body[0] == '?':
		return mark(0, nil, final)
	case len(body) > 0 || final:
		return stays, nil
	}
	return open, nil
}

// clipboard judges OSC 52: reading the clipboard asks, setting it stays.
func clipboard(_ int, body []byte, final bool) (verdict, []byte) {
	_, data, ok := bytes.Cut(body, []byte(";"))
	if !ok {
		data = nil
	}
	return asksFirst(0, data, final)
}

// notification judges kitty's OSC 99, which asks with p=? in its metadata.
func notification(_ int, body []byte, final bool) (verdict, []byte) {
	meta, _, whole := bytes.Cut(body, []byte(";"))
	if !whole && !final {
		return open, nil
	}
	for _, field := range bytes.Split(meta, []byte(":")) {
		if string(field) == "p=?" {
			return mark(0, nil, final)
		}
	}
	return stays, nil
}

// iterm judges iTerm2's OSC 1337: files stay, all else are marks and questions.
func iterm(_ int, body []byte, final bool) (verdict, []byte) {
	for _, file := range []string{"File=", "MultipartFile=", "FilePart=", "FileEnd"} {
		if bytes.HasPrefix(body, []byte(file)) {
			return stays, nil
		}
	}
	return mark(0, nil, final)
}

// maxGlance is how much of an OSC is looked at before its end.
const maxGlance = 256

// judge applies an OSC's rule to the undecided sequence up to p[stop], or, when
// that is not its end, to no more than the first bytes of it: what comes byte
// by byte must not be read anew each time.
func (f *Filter) judge(c *cursor, stop int, final bool) (verdict, []byte) {
	rule := oscRules[f.number]
	if rule == nil {
		return stays, nil
	}
	var body []byte
	switch {
	case final:
		body = f.sequence(c, stop)
	case len(f.held) >= maxGlance:
		body = f.held[:maxGlance]
	default:
		body = f.sequence(c, min(stop, c.seq+maxGlance-len(f.held)))
	}
	body = bytes.TrimLeft(body[min(len(body), f.introLen()):], "0123456789")
	return rule(f.number, bytes.TrimPrefix(body, []byte(";")), final)
}

// introLen is how much of "ESC ]" is undecided: its ESC may be gone already.
func (f *Filter) introLen() int { return 2 - len(f.begun) }

// settle ends an OSC whose body ends before p[stop], and which as a whole ends
// before p[end].
func (f *Filter) settle(c *cursor, stop, end int) {
	v, left := f.judge(c, stop, true)
	if v != goes {
		f.finish(c)
		return
	}
	f.take(c, stop, end)
	c.dst = append(c.dst, left...)
}

// marking are the OSCs that shells mark with (docs/from-tmux.md).
var marking = map[int]bool{7: true, 133: true, 633: true, 1337: true, 7501: true}

// take drops an OSC whose body ends before p[stop], and notes it if it is a
// shell's mark.
func (f *Filter) take(c *cursor, stop, end int) {
	if !marking[f.number] {
		f.drop(c, end)
		return
	}
	from := len(f.bodies)
	f.bodies = append(f.bodies, f.sequence(c, stop)[f.introLen():]...)
	f.drop(c, end)
	f.Marks = append(f.Marks, Mark{At: len(c.dst), In: end, from: from, to: len(f.bodies)})
}

func (f *Filter) stepOSCNumber(c *cursor) {
	b := c.p[c.i]
	switch {
	case b >= '0' && b <= '9':
		c.i++
		f.number = min(f.number*10+int(b-'0'), 1<<20)
		f.full(c, passString)
	case b == ';' && oscRules[f.number] != nil:
		c.i++
		f.state = inOSC
		f.full(c, passString)
	case b == bel || b == esc || b == can || b == sub:
		f.endOSC(c, b)
	default:
		f.passOn(c)
		f.state = passString
	}
}

func (f *Filter) stepOSC(c *cursor) {
	if !f.scan(c, f.room(c)) {
		f.full(c, passString)
		return
	}
	f.endOSC(c, c.p[c.i])
}

// endOSC takes a byte that ends an OSC's body.
func (f *Filter) endOSC(c *cursor, b byte) {
	c.i++
	switch b {
	case bel:
		f.settle(c, c.i-1, c.i)
	case esc:
		f.state = inOSCEscape
	default: // cancelled: it means nothing to anyone
		f.finish(c)
	}
}

func (f *Filter) stepOSCEscape(c *cursor) {
	if c.p[c.i] != '\\' {
		f.splitEscape(c)
		return
	}
	c.i++
	// The ESC before the backslash may be held.
	if c.i-2 >= c.seq {
		f.settle(c, c.i-2, c.i)
		return
	}
	f.held = f.held[:len(f.held)-1]
	if v, left := f.judge(c, c.seq, true); v == goes {
		f.take(c, c.seq, c.i)
		c.dst = append(c.dst, left...)
		return
	}
	f.held = append(f.held, esc)
	f.finish(c)
}
