package tty

import (
	"bytes"
	"cmp"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"tandemux/internal/plaintext"
)

// Input is the messages of one read from the terminal: tea's messages for keys, mouse, focus and
// reports, and this package's types.
type Input []tea.Msg

// Paste is a piece of a bracketed paste. First and Last mark its ends; a short
// paste is one piece that is both.
type Paste struct {
	Text        string
	First, Last bool
}

// Continued is a key whose sequence came in two reads, the first of which had only the ESC. That
// ESC was already reported as the Escape key.
type Continued struct{ tea.KeyPressMsg }

// maxSequence is the longest incomplete sequence that is kept, in bytes.
const maxSequence = 64 << 10

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// consoleKeys is the Linux console's F1 to F5, by the last byte of their sequences.
var consoleKeys = map[byte]rune{'A': tea.KeyF1, 'B': tea.KeyF2, 'C': tea.KeyF3, 'D': tea.KeyF4, 'E': tea.KeyF5}

// Decoder turns what is read from a terminal into messages. The zero value is ready. Only one
// goroutine may use it at a time.
type Decoder struct {
	// Expecting says that answers to queries may arrive, so ESC ] and the like start one; else
	// they are Alt with a key.
	Expecting bool
	// Due says that answers are about to arrive, so an ESC at the end of a read may start one;
	// else it is Escape.
	Due bool

	keys    uv.EventDecoder
	buf     []byte
	pasting bool
	first   bool // no part of the paste was returned yet
	lone    bool // the last byte was a single ESC
}

// Feed decodes bytes. more says that an incomplete sequence is left: call Flush if nothing
// follows within EscTimeout. soon says that p arrived within EscTimeout of the previous bytes.
func (d *Decoder) Feed(p []byte, soon bool) (in Input, more bool) {
	cont := false
	if d.lone && soon && len(p) > 1 && (p[0] == '[' || p[0] == 'O') {
		d.buf = append(d.buf, 0x1b)
		cont = true
	}
	d.lone = false
	d.buf = append(d.buf, p...)
	in = d.decode(nil, false)
	if cont && len(in) > 0 {
		if k, ok := in[0].(tea.KeyPressMsg); ok {
			in[0] = Continued{k}
		}
	}
	return in, len(d.buf) > 0
}

// Flush decodes an incomplete sequence as what it means by itself.
func (d *Decoder) Flush() Input {
	return d.decode(nil, true)
}

func (d *Decoder) decode(in Input, flush bool) Input {
	b := d.buf
	if len(b) == 1 && !d.pasting && plain(b[0]) {
		d.buf = d.buf[:0]
		return append(in, tea.KeyPressMsg{Code: rune(b[0]), Text: string(b)})
	}
	for len(b) > 0 {
		if d.pasting {
			var ok bool
			if in, b, ok = d.paste(in, b, flush); !ok {
				break
			}
			continue
		}
		n, ok := sequence(b, d.Expecting)
		if d.Due && len(b) == 1 && b[0] == 0x1b {
			ok = false
		}
		if !ok && !flush {
			if len(b) > maxSequence {
				b = b[len(b):]
			}
			break
		}
		if !ok {
			n = len(b)
			if !d.Expecting && n > 2 && b[1] == ']' {
				n = 2 // it was not an answer
			}
		}
		if bytes.Equal(b[:n], pasteStart) {
			d.pasting, d.first = true, true
			b = b[n:]
			continue
		}
		in = d.one(in, b[:n])
		d.lone = n == 1 && b[0] == 0x1b && len(b) == 1
		b = b[n:]
	}
	d.buf = append(d.buf[:0], b...)
	return in
}

// plain reports whether a byte is a key that types it, apart from upper case. Such a key, as most
// typing is, needs no decoder.
func plain(b byte) bool { return b > ' ' && b < 0x7f && (b < 'A' || b > 'Z') }

// paste appends the available part of a paste. It returns the bytes after it, and whether the
// paste has ended.
func (d *Decoder) paste(in Input, b []byte, flush bool) (Input, []byte, bool) {
	text, rest, last := b, []byte(nil), false
	if i := bytes.Index(b, pasteEnd); i >= 0 {
		text, rest, last = b[:i], b[i+len(pasteEnd):], true
		d.pasting = false
	} else if !flush {
		// The read may have cut the end mark or a character.
		keep := 0
		for k := min(len(b), len(pasteEnd)-1); k > 0; k-- {
			if bytes.HasPrefix(pasteEnd, b[len(b)-k:]) {
				keep = k
				break
			}
		}
		keep = cmp.Or(keep, plaintext.Unfinished(b))
		text, rest = b[:len(b)-keep], b[len(b)-keep:]
	}
	if len(text) > 0 || last {
		in = append(in, Paste{Text: strings.ToValidUTF8(string(text), "\ufffd"), First: d.first, Last: last})
		d.first = false
	}
	return in, rest, last
}

// one appends the messages of a complete sequence or of text.
func (d *Decoder) one(in Input, b []byte) Input {
	if len(b) == 4 && b[0] == 0x1b && b[1] == '[' && b[2] == '[' {
		if code, ok := consoleKeys[b[3]]; ok {
			return append(in, tea.KeyPressMsg{Code: code})
		}
		return in
	}
	if len(b) > 2 && b[0] == 0x1b && b[1] == ']' {
		if msg, ok := colorOf(b); ok {
			return append(in, msg)
		}
	}
	if msg, ok := sixelColorsOf(b); ok {
		return append(in, msg)
	}
	for len(b) > 0 {
		n, ev := d.keys.Decode(b)
		if n <= 0 || n > len(b) {
			return in
		}
		if multi, ok := ev.(uv.MultiEvent); ok {
			for _, e := range multi {
				in = translate(in, e)
			}
		} else {
			in = translate(in, ev)
		}
		b = b[n:]
	}
	return in
}

// translate appends the decoder's event as Bubble Tea's message. Events that nobody here needs
// are dropped.
func translate(in Input, ev uv.Event) Input {
	switch e := ev.(type) {
	case uv.KeyPressEvent:
		return append(in, tea.KeyPressMsg(e))
	case uv.KeyReleaseEvent:
		return append(in, tea.KeyReleaseMsg(e))
	case uv.MouseClickEvent:
		return append(in, tea.MouseClickMsg(e))
	case uv.MouseReleaseEvent:
		return append(in, tea.MouseReleaseMsg(e))
	case uv.MouseMotionEvent:
		return append(in, tea.MouseMotionMsg(e))
	case uv.MouseWheelEvent:
		return append(in, tea.MouseWheelMsg(e))
	case uv.FocusEvent:
		return append(in, tea.FocusMsg(e))
	case uv.BlurEvent:
		return append(in, tea.BlurMsg(e))
	case uv.ModeReportEvent:
		return append(in, tea.ModeReportMsg(e))
	case uv.KeyboardEnhancementsEvent:
		return append(in, tea.KeyboardEnhancementsMsg(e))
	case uv.TerminalVersionEvent:
		return append(in, tea.TerminalVersionMsg(e))
	case uv.DarkColorSchemeEvent:
		return append(in, Scheme{Dark: true})
	case uv.LightColorSchemeEvent:
		return append(in, Scheme{})
	case uv.KittyGraphicsEvent:
		return append(in, Graphics{OK: e.Options.ID == graphicsQueryID && string(e.Payload) == "OK"})
	case uv.PrimaryDeviceAttributesEvent:
		return append(in, attributes(e))
	case uv.CellSizeEvent:
		return append(in, CellSize{W: e.Width, H: e.Height})
	}
	return in
}

// sequence returns the length of the key, character or sequence at the start of b. ok is false if
// it is incomplete.
func sequence(b []byte, expecting bool) (n int, ok bool) {
	if b[0] != 0x1b {
		if b[0] < utf8.RuneSelf {
			return 1, true
		}
		return text(b)
	}
	if len(b) == 1 {
		return 1, true
	}
	switch b[1] {
	case '[':
		return csi(b)
	case 'O':
		i := 2
		for i < len(b) && b[i] >= '0' && b[i] <= '9' {
			i++
		}
		return i + 1, i < len(b)
	case ']', 'P', '_', '^', 'X':
		if !expecting {
			return lateAnswer(b)
		}
		return stringSequence(b)
	case 0x1b:
		if len(b) > 2 && (b[2] == '[' || b[2] == 'O') {
			n, ok = sequence(b[1:], false)
			return n + 1, ok
		}
		return 1, true // two presses over a slow line; few keyboards have alt+esc
	}
	if b[1] < utf8.RuneSelf {
		return 2, true
	}
	n, ok = text(b[1:])
	return n + 1, ok
}

// text returns the length of all characters above ASCII at the start of b: the decoder needs
// whole clusters.
func text(b []byte) (n int, ok bool) {
	for n < len(b) && b[n] >= utf8.RuneSelf {
		if !utf8.FullRune(b[n:]) {
			return max(n, 1), n > 0
		}
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	return n, true
}

func csi(b []byte) (n int, ok bool) {
	if len(b) > 2 && b[2] == '[' {
		return 4, len(b) >= 4
	}
	i := 2
	for i < len(b) && b[i] >= 0x20 && b[i] <= 0x3f {
		i++
	}
	switch {
	case i == len(b):
		return i, false
	case b[i] < 0x40 || b[i] > 0x7e:
		return i, true // another sequence interrupted it
	case i == 2 && b[i] == 'M':
		return 6, len(b) >= 6
	}
	return i + 1, true
}

func stringSequence(b []byte) (n int, ok bool) {
	for i := 2; i < len(b); i++ {
		switch b[i] {
		case 0x07:
			return i + 1, true
		case 0x1b:
			if i+1 == len(b) {
				return i, false
			}
			if b[i+1] == '\\' {
				return i + 2, true
			}
			return i, true
		}
	}
	return len(b), false
}
