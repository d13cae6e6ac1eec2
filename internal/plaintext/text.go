package plaintext

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxLine bounds the line that a Writer holds, in bytes.
const MaxLine = 256 << 10

// Writer turns a VT stream of valid UTF-8, in pieces split between any two
// characters, into plain text. The zero value is ready.
type Writer struct {
	line []byte // the present line, as long as nothing moved in it
	edit edit   // the present line once something did
	over bool   // then set
	cr   bool   // a CR came last

	state  state
	alt    bool // the alternate screen shows
	kind   byte // what introduced a string
	params []byte
}

type state uint8

const (
	ground state = iota
	escape
	charset // one more byte
	csi
	str    // OSC, DCS, APC, PM, SOS
	strEsc // ESC in it
)

const (
	esc = 0x1b
	can = 0x18
	sub = 0x1a
	bel = 0x07
	// maxParams bounds what is kept of a CSI.
	maxParams = 64
)

// Convert gives the plain text of a whole stream.
func Convert(s string) string {
	var t Writer
	return string(t.Flush(t.Write(make([]byte, 0, len(s)), []byte(s))))
}

// special are the bytes that are not text to be copied.
var special = func() (t [256]bool) {
	for b := range 0x20 {
		t[b] = b != '\t'
	}
	t[0x7f], t[0xc2] = true, true
	return t
}()

// Write takes output and appends the lines that it completes.
func (t *Writer) Write(dst, p []byte) []byte {
	for i := 0; i < len(p); {
		if t.state != ground {
			dst = t.step(dst, p[i])
			i++
			continue
		}
		n := i
		for n < len(p) && !special[p[n]] {
			n++
		}
		if n > i {
			dst = t.text(dst, p[i:n])
		}
		if i = n; i == len(p) {
			break
		}
		// The common end of a line needs no copy.
		if b := p[i]; b == '\n' || b == '\r' && i+1 < len(p) && p[i+1] == '\n' {
			dst = t.newline(dst)
			i++
			if b == '\r' {
				i++
			}
			continue
		}
		if p[i] == 0xc2 && i+1 < len(p) { // A C1 control, or a character.
			if p[i+1] >= 0xa0 {
				dst = t.text(dst, p[i:i+2])
			}
			i += 2
			continue
		}
		t.control(p[i])
		i++
	}
	return dst
}

// Flush appends the present line, without an end, and begins a new one.
func (t *Writer) Flush(dst []byte) []byte {
	dst = t.AppendLine(dst)
	t.begin()
	return dst
}

// AppendLine appends the present line as it stands.
func (t *Writer) AppendLine(dst []byte) []byte {
	if t.over {
		return t.edit.appendTo(dst)
	}
	return append(dst, t.line...)
}

func (t *Writer) begin() {
	if cap(t.line) > 16<<10 {
		t.line = nil
	}
	if cap(t.edit.cells) > 4<<10 {
		t.edit.cells = nil
	}
	t.line, t.over, t.cr = t.line[:0], false, false
}

func (t *Writer) newline(dst []byte) []byte {
	if t.alt {
		return dst
	}
	dst = append(t.AppendLine(dst), '\n')
	t.begin()
	return dst
}

func (t *Writer) text(dst, p []byte) []byte {
	if t.alt {
		return dst
	}
	if t.cr {
		t.modify().x = 0
		t.cr = false
	}
	if t.over {
		t.edit.put(p)
		if 4*len(t.edit.cells) > MaxLine {
			dst = t.Flush(dst)
		}
		return dst
	}
	t.line = append(t.line, p...)
	if len(t.line) > MaxLine {
		// What comes out ends with a whole character.
		end := len(t.line)
		for end > 0 && end > len(t.line)-utf8.UTFMax && !utf8.Valid(t.line[:end]) {
			end--
		}
		rest := slices.Clone(t.line[end:])
		dst = append(dst, t.line[:end]...)
		t.line = append(t.line[:0], rest...)
	}
	return dst
}

// modify gives the present line as one that can be drawn over.
func (t *Writer) modify() *edit {
	if !t.over {
		t.over = true
		t.edit = edit{cells: t.edit.cells[:0]}
		t.edit.put(t.line)
		t.line = t.line[:0]
	}
	return &t.edit
}

// control takes a byte that special names.
func (t *Writer) control(b byte) {
	switch b {
	case '\r':
		t.cr = true
	case '\b':
		if !t.alt {
			e := t.moved()
			e.x = max(e.x-1, 0)
		}
	case esc:
		t.state = escape
	}
}

// moved is the present line, with the cursor where it is.
func (t *Writer) moved() *edit {
	e := t.modify()
	if t.cr {
		e.x, t.cr = 0, false
	}
	return e
}

// step takes a byte inside a sequence.
func (t *Writer) step(dst []byte, b byte) []byte {
	switch {
	case b == can || b == sub:
		t.state = ground
		return dst
	case b == esc && t.state != str:
		t.state = escape
		return dst
	}
	switch t.state {
	case escape:
		t.escape(b)
	case charset:
		t.state = ground
	case csi:
		if b >= 0x40 && b < 0x7f {
			t.state = ground
			t.csi(b)
		} else if b >= 0x20 && len(t.params) < maxParams {
			t.params = append(t.params, b)
		} else if b == '\n' { // Controls act inside a sequence.
			dst = t.newline(dst)
		}
	case str:
		if b == esc {
			t.state = strEsc
		} else if b == bel && (t.kind == ']' || t.kind == 'k') {
			t.state = ground
		}
	case strEsc:
		if t.state = ground; b != '\\' {
			t.escape(b)
		}
	}
	return dst
}

func (t *Writer) escape(b byte) {
	switch {
	case b == '[':
		t.state, t.params = csi, t.params[:0]
	case b == ']' || b == 'P' || b == '_' || b == '^' || b == 'X' || b == 'k':
		t.state, t.kind = str, b
	case b >= 0x20 && b < 0x30:
		t.state = charset
	default:
		t.state = ground
	}
}

func (t *Writer) csi(final byte) {
	screens := final == 'h' || final == 'l'
	do := moves[final]
	if do == nil && !screens {
		return
	}
	p := string(t.params)
	if strings.HasPrefix(p, "?") && screens {
		for _, mode := range strings.Split(p[1:], ";") {
			if mode == "1049" || mode == "1047" || mode == "47" {
				t.alt = final == 'h'
			}
		}
		return
	}
	if do == nil || t.alt || strings.ContainsFunc(p, func(r rune) bool { return r != ';' && (r < '0' || r > '9') }) {
		return
	}
	n := 0
	first, _, _ := strings.Cut(p, ";")
	for _, d := range []byte(first) {
		n = min(n*10+int(d-'0'), MaxLine)
	}
	if final == 'K' && n == 0 && !t.over && !t.cr {
		return // At the end of the line, as most programs do.
	}
	do(t.moved(), n)
}

// moves are the sequences that act on the present line; n is 0 when absent.
var moves = [128]func(e *edit, n int){
	'C': func(e *edit, n int) { e.x = min(e.x+max(n, 1), maxColumn) },
	'D': func(e *edit, n int) { e.x = max(e.x-max(n, 1), 0) },
	'G': func(e *edit, n int) { e.x = min(max(n, 1)-1, maxColumn) },
	'`': func(e *edit, n int) { e.x = min(max(n, 1)-1, maxColumn) },
	'K': (*edit).erase,
	'P': func(e *edit, n int) { e.remove(max(n, 1)) },
	'@': func(e *edit, n int) { e.insert(max(n, 1)) },
	'X': func(e *edit, n int) { e.blank(e.x, e.x+max(n, 1)) },
}

// Hidden reports whether a character does something to a terminal, or to the order and
// the lines in which others show, instead of showing: the controls, newline and tab with
// them, and those that Unicode has for directions, lines and paragraphs.
func Hidden(r rune) bool {
	if r < 0x300 {
		return r < ' ' || r >= 0x7f && r < 0xa0
	}
	return r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Bidi_Control, r)
}

// Clean takes the hidden characters out of a text, but for those named.
func Clean(s, but string) string {
	return Without(s, func(r rune) bool { return Hidden(r) && !strings.ContainsRune(but, r) })
}

// Without takes characters out of a text.
func Without(s string, out func(r rune) bool) string {
	return strings.Map(func(r rune) rune {
		if out(r) {
			return -1
		}
		return r
	}, s)
}
