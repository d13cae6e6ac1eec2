package input

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
)

// The kitty keyboard protocol's progressive flags.
const (
	kittyDisambiguate = 1 << iota
	kittyEvents
	kittyAlternates
	kittyAll
	kittyText
)

// Event is what happened to a key.
type Event uint8

// The events, with kitty's numbers.
const (
	Press Event = iota + 1
	Repeat
	Release
)

// function is how a key without text is written: CSI number ; modifiers final.
// Number 1 is left out without modifiers. SS3 keys start with ESC O when they
// have no modifiers: always, or in application cursor mode.
type function struct {
	number int
	final  byte
	ss3    ss3
}

type ss3 uint8

const (
	never ss3 = iota
	appCursor
	always
)

var functions = map[rune]function{
	tea.KeyUp: {1, 'A', appCursor}, tea.KeyDown: {1, 'B', appCursor},
	tea.KeyRight: {1, 'C', appCursor}, tea.KeyLeft: {1, 'D', appCursor},
	tea.KeyBegin: {1, 'E', appCursor}, tea.KeyEnd: {1, 'F', appCursor}, tea.KeyHome: {1, 'H', appCursor},
	tea.KeyInsert: {2, '~', never}, tea.KeyDelete: {3, '~', never},
	tea.KeyPgUp: {5, '~', never}, tea.KeyPgDown: {6, '~', never},
	tea.KeyFind: {1, '~', never}, tea.KeySelect: {4, '~', never},
	tea.KeyF1: {1, 'P', always}, tea.KeyF2: {1, 'Q', always}, tea.KeyF3: {1, 'R', always}, tea.KeyF4: {1, 'S', always},
	tea.KeyF5: {15, '~', never}, tea.KeyF6: {17, '~', never}, tea.KeyF7: {18, '~', never}, tea.KeyF8: {19, '~', never},
	tea.KeyF9: {20, '~', never}, tea.KeyF10: {21, '~', never}, tea.KeyF11: {23, '~', never}, tea.KeyF12: {24, '~', never},
	tea.KeyF13: {25, '~', never}, tea.KeyF14: {26, '~', never}, tea.KeyF15: {28, '~', never}, tea.KeyF16: {29, '~', never},
	tea.KeyF17: {31, '~', never}, tea.KeyF18: {32, '~', never}, tea.KeyF19: {33, '~', never}, tea.KeyF20: {34, '~', never},
	tea.KeyMenu: {29, '~', never},
}

// keypad is how a key of the numeric keypad is written in application keypad
// mode (SS3 final), as text otherwise, and its kitty code.
type keypad struct {
	final byte
	text  byte
	like  rune // the key that it acts as when it types nothing
	kitty int
}

var keypads = map[rune]keypad{
	tea.KeyKp0: {'p', '0', 0, 57399}, tea.KeyKp1: {'q', '1', 0, 57400}, tea.KeyKp2: {'r', '2', 0, 57401},
	tea.KeyKp3: {'s', '3', 0, 57402}, tea.KeyKp4: {'t', '4', 0, 57403}, tea.KeyKp5: {'u', '5', 0, 57404},
	tea.KeyKp6: {'v', '6', 0, 57405}, tea.KeyKp7: {'w', '7', 0, 57406}, tea.KeyKp8: {'x', '8', 0, 57407},
	tea.KeyKp9: {'y', '9', 0, 57408}, tea.KeyKpDecimal: {'n', '.', 0, 57409}, tea.KeyKpDivide: {'o', '/', 0, 57410},
	tea.KeyKpMultiply: {'j', '*', 0, 57411}, tea.KeyKpMinus: {'m', '-', 0, 57412}, tea.KeyKpPlus: {'k', '+', 0, 57413},
	tea.KeyKpEnter: {'M', 0, tea.KeyEnter, 57414}, tea.KeyKpEqual: {'X', '=', 0, 57415},
	tea.KeyKpSep: {'l', ',', 0, 57416}, tea.KeyKpComma: {'l', ',', 0, 57416},
	tea.KeyKpLeft: {0, 0, tea.KeyLeft, 57417}, tea.KeyKpRight: {0, 0, tea.KeyRight, 57418},
	tea.KeyKpUp: {0, 0, tea.KeyUp, 57419}, tea.KeyKpDown: {0, 0, tea.KeyDown, 57420},
	tea.KeyKpPgUp: {0, 0, tea.KeyPgUp, 57421}, tea.KeyKpPgDown: {0, 0, tea.KeyPgDown, 57422},
	tea.KeyKpHome: {0, 0, tea.KeyHome, 57423}, tea.KeyKpEnd: {0, 0, tea.KeyEnd, 57424},
	tea.KeyKpInsert: {0, 0, tea.KeyInsert, 57425}, tea.KeyKpDelete: {0, 0, tea.KeyDelete, 57426},
	tea.KeyKpBegin: {0, 0, tea.KeyBegin, 57427},
}

// AppendKey appends what a terminal in these modes sends for a key; nothing
// for keys and events that it has no bytes for.
func AppendKey(buf []byte, k tea.Key, ev Event, m emulator.Modes) []byte {
	if k.IsRepeat && ev == Press {
		ev = Repeat
	}
	if m.Kitty != 0 {
		return appendKitty(buf, k, ev, m)
	}
	if ev == Release {
		return buf
	}
	return appendLegacy(buf, k, m)
}

// xtermMod is the modifier parameter: 1 plus shift 1, alt 2, ctrl 4.
func xtermMod(k tea.Key) int {
	return 1 + int(k.Mod&(tea.ModShift|tea.ModAlt|tea.ModCtrl))
}

func appendLegacy(buf []byte, k tea.Key, m emulator.Modes) []byte {
	if p, ok := keypads[k.Code]; ok {
		switch {
		case m.AppKeypad && p.final != 0 && xtermMod(k) == 1:
			return append(buf, 0x1b, 'O', p.final)
		case p.text != 0:
			k.Code, k.Text = rune(p.text), string(rune(p.text))
		default:
			k.Code = p.like
		}
	}
	if f, ok := functions[k.Code]; ok {
		return appendFunction(buf, f, xtermMod(k), m.AppCursor)
	}
	switch k.Code {
	case tea.KeyEnter, tea.KeyTab, tea.KeyBackspace, tea.KeyEscape:
		return appendControlKey(buf, k, m)
	}
	if k.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModSuper|tea.ModHyper|tea.ModMeta) == 0 && k.Text != "" {
		return append(buf, k.Text...)
	}
	if k.Mod&(tea.ModSuper|tea.ModHyper) != 0 {
		return buf
	}
	return appendModified(buf, k, m)
}

func appendFunction(buf []byte, f function, mod int, app bool) []byte {
	if mod == 1 {
		if f.ss3 == always || f.ss3 == appCursor && app {
			return append(buf, 0x1b, 'O', f.final)
		}
		buf = append(buf, "\x1b["...)
		if f.number != 1 || f.final == '~' {
			buf = strconv.AppendInt(buf, int64(f.number), 10)
		}
		return append(buf, f.final)
	}
	buf = append(buf, "\x1b["...)
	buf = strconv.AppendInt(buf, int64(f.number), 10)
	buf = append(buf, ';')
	buf = strconv.AppendInt(buf, int64(mod), 10)
	return append(buf, f.final)
}

// appendOther is xterm's modifyOtherKeys form.
func appendOther(buf []byte, mod int, code rune) []byte {
	buf = append(buf, "\x1b[27;"...)
	buf = strconv.AppendInt(buf, int64(mod), 10)
	buf = append(buf, ';')
	buf = strconv.AppendInt(buf, int64(code), 10)
	return append(buf, '~')
}

// appendControlKey writes Enter, Tab, Backspace and Escape, whose bytes are
// control characters of their own.
func appendControlKey(buf []byte, k tea.Key, m emulator.Modes) []byte {
	mod := xtermMod(k)
	shift, ctrl := k.Mod&tea.ModShift != 0, k.Mod&tea.ModCtrl != 0
	code := rune(0x1b)
	seq := "\x1b"
	switch k.Code {
	case tea.KeyEnter:
		code, seq = '\r', "\r"
		if m.Newline {
			seq = "\r\n"
		}
	case tea.KeyTab:
		code, seq = '\t', "\t"
		if shift && !ctrl {
			seq = "\x1b[Z"
		}
	case tea.KeyBackspace:
		code, seq = 0x7f, "\x7f"
		if m.BackspaceSendsBS != ctrl {
			seq = "\b"
		}
	}
	known := !shift && !ctrl || k.Code == tea.KeyTab && !ctrl || k.Code == tea.KeyBackspace
	if m.ModifyOtherKeys >= 1 && !known || m.ModifyOtherKeys >= 2 && mod != 1 {
		return appendOther(buf, mod, code)
	}
	if k.Mod&tea.ModAlt != 0 {
		buf = append(buf, 0x1b)
	}
	return append(buf, seq...)
}

// typed is the character that the key types without ctrl and alt.
func typed(k tea.Key) rune {
	if r, n := utf8.DecodeRuneInString(k.Text); n > 0 && n == len(k.Text) {
		return r
	}
	if k.Mod&tea.ModShift != 0 {
		return cmp.Or(k.ShiftedCode, unicode.ToUpper(k.Code))
	}
	return k.Code
}

// appendModified writes a character with ctrl or alt.
func appendModified(buf []byte, k tea.Key, m emulator.Modes) []byte {
	char := typed(k)
	if char <= 0 || char > unicode.MaxRune {
		return append(buf, k.Text...)
	}
	mod := xtermMod(k)
	if k.Mod&tea.ModCtrl == 0 {
		// Alt with a character stays ESC with it, also under modifyOtherKeys:
		// from an outer terminal without the kitty protocol it may have been
		// Escape and then the character, typed fast, and every program reads
		// the pair right either way.
		buf = append(buf, 0x1b)
		return utf8.AppendRune(buf, char)
	}
	b, ok := controlByte(char)
	shifted := k.Mod&tea.ModShift != 0 && unicode.IsLetter(char)
	if m.ModifyOtherKeys >= 2 || m.ModifyOtherKeys == 1 && (!ok || shifted) {
		return appendOther(buf, mod, char)
	}
	if k.Mod&tea.ModAlt != 0 {
		buf = append(buf, 0x1b)
	}
	if ok {
		return append(buf, b)
	}
	return utf8.AppendRune(buf, char)
}

// controlByte is the control character that ctrl and a character give, as VT
// terminals and xterm have it.
func controlByte(r rune) (byte, bool) {
	switch {
	case r >= 'a' && r <= 'z':
		return byte(r) & 0x1f, true
	case r >= '@' && r <= '_':
		return byte(r) & 0x1f, true
	case r == ' ' || r == '2':
		return 0, true
	case r >= '3' && r <= '7':
		return byte(r-'3') + 0x1b, true
	case r == '/':
		return 0x1f, true
	case r == '~' || r == '`':
		return map[rune]byte{'~': 0x1e, '`': 0}[r], true
	case r == '8' || r == '?':
		return 0x7f, true
	}
	return 0, false
}

// The marks of a bracketed paste.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// Paste gives what a terminal in these modes sends for pasted text: line ends
// as Enter sends them, between marks when the program asked for marks. Marks in
// the text itself lose their ESC, so that it can't end the paste early and go on
// as typed keys. first and last say that this is the start and the end of what
// was pasted.
func Paste(text string, first, last bool, m emulator.Modes) string {
	text = strings.ReplaceAll(text, "\r\n", "\r")
	text = strings.ReplaceAll(text, "\n", "\r")
	text = strings.ReplaceAll(text, pasteStart, pasteStart[1:])
	text = strings.ReplaceAll(text, pasteEnd, pasteEnd[1:])
	if !m.BracketedPaste {
		return text
	}
	if first {
		text = pasteStart + text
	}
	if last {
		text += pasteEnd
	}
	return text
}

// Focus gives the report of the pane gaining or losing the focus, "" for a
// program that did not ask for it.
func Focus(gained bool, m emulator.Modes) string {
	switch {
	case !m.FocusEvents:
		return ""
	case gained:
		return "\x1b[I"
	}
	return "\x1b[O"
}
