package keymap

import (
	"strings"
	"unicode"
)

// Mod is a set of modifiers.
type Mod uint8

// Modifiers, with the bit values of the kitty keyboard protocol.
const (
	Shift Mod = 1 << iota
	Alt
	Ctrl
	Super
	Hyper
	Meta
)

// Key is one key press in canonical form: equal presses are equal values. The
// zero Key is no key. Make one with Parse or Press.
type Key struct {
	Code rune // a printable rune, Space, or one of the named keys
	Mod  Mod
}

// Codes of the keys that have a name. Those that type a control character have
// its code; the others lie above Unicode.
const (
	Tab       rune = '\t'
	Enter     rune = '\r'
	Esc       rune = 0x1b
	Space     rune = ' '
	Backspace rune = 0x7f

	Up rune = unicode.MaxRune + iota
	Down
	Right
	Left
	Home
	End
	PgUp
	PgDown
	Insert
	Delete
	F1  // F1 to F24 follow each other
	F24 = F1 + 23
)

// modNames are the modifiers in the order in which String writes them.
var modNames = []struct {
	mod  Mod
	name string
}{
	{Ctrl, "ctrl"},
	{Alt, "alt"},
	{Shift, "shift"},
	{Meta, "meta"},
	{Hyper, "hyper"},
	{Super, "super"},
}

// String gives the canonical spelling, which Parse reads back: "ctrl+space",
// "alt+shift+left", "A", "|". The zero Key is "".
func (k Key) String() string {
	if k == (Key{}) {
		return ""
	}
	var b strings.Builder
	for _, m := range modNames {
		if k.Mod&m.mod != 0 {
			b.WriteString(m.name)
			b.WriteByte('+')
		}
	}
	if name, ok := codeNames[k.Code]; ok {
		b.WriteString(name)
	} else {
		b.WriteRune(k.Code)
	}
	return b.String()
}

// Types gives the text that the key types by itself, "" for a command key:
// what a binding without a prefix would keep from programs.
func (k Key) Types() string {
	if k.Mod == 0 && isText(k.Code) {
		return string(k.Code)
	}
	return ""
}

// isText says whether the code stands for a character to be typed.
func isText(code rune) bool {
	return code <= unicode.MaxRune && unicode.IsPrint(code)
}

// canonical gives the one value that stands for the press (see the package's
// comment for the rules and their reasons).
func canonical(k Key) Key {
	if k.Code == '@' && k.Mod&Ctrl != 0 {
		k.Code = Space
	}
	if !isText(k.Code) {
		return k
	}
	if k.Mod&^(Shift|Alt) != 0 {
		if low := unicode.ToLower(k.Code); unicode.ToUpper(low) == k.Code {
			k.Code = low
		}
		return k
	}
	if up := unicode.ToUpper(k.Code); k.Mod&Shift != 0 && unicode.ToLower(up) == k.Code && up != k.Code {
		k.Code = up
	}
	if unicode.IsUpper(k.Code) {
		k.Mod &^= Shift
	}
	return k
}

// Legacy gives the key as which a terminal without the kitty keyboard protocol
// reports this one; ok is false when it can't report it at all.
func (k Key) Legacy() (as Key, ok bool) {
	if k.Mod&(Super|Hyper|Meta) != 0 {
		return Key{}, false
	}
	switch k.Code {
	case Enter, Esc, Space, Backspace:
		// Alt is an escape before them; ctrl and shift are lost, but for NUL.
		if k == (Key{Code: Space, Mod: Ctrl}) || k == (Key{Code: Space, Mod: Ctrl | Alt}) {
			return k, true
		}
		return Key{Code: k.Code, Mod: k.Mod & Alt}, true
	case Tab:
		return Key{Code: Tab, Mod: k.Mod & (Alt | Shift)}, true
	}
	if !isText(k.Code) {
		return k, true
	}
	if k.Mod&Ctrl == 0 {
		if k.Mod&Shift != 0 {
			return Key{}, false // It arrives as the character that it types.
		}
		return k, true
	}
	alt := k.Mod & Alt
	if code, ok := ctrlAlias[k.Code]; ok {
		return canonical(Key{Code: code.Code, Mod: code.Mod | alt}), true
	}
	if k.Code >= 'a' && k.Code <= 'z' || strings.ContainsRune(`\]^_`, k.Code) {
		return Key{Code: k.Code, Mod: Ctrl | alt}, true
	}
	return Key{Code: k.Code, Mod: alt}, true
}

// ctrlAlias is what ctrl with a character arrives as where that is a key of its
// own or another character's control code.
var ctrlAlias = map[rune]Key{
	'i': {Code: Tab}, 'm': {Code: Enter}, '[': {Code: Esc}, '?': {Code: Backspace},
	'/': {Code: '_', Mod: Ctrl}, '-': {Code: '_', Mod: Ctrl},
	'2': {Code: Space, Mod: Ctrl}, '3': {Code: Esc}, '4': {Code: '\\', Mod: Ctrl},
	'5': {Code: ']', Mod: Ctrl}, '6': {Code: '^', Mod: Ctrl}, '7': {Code: '_', Mod: Ctrl},
	'8': {Code: Backspace},
}

// Chord is a sequence of keys pressed one after the other.
type Chord []Key

// MaxChord is the largest number of keys in a chord.
const MaxChord = 4

// String gives the canonical spelling, keys separated by a blank.
func (c Chord) String() string {
	words := make([]string, len(c))
	for i, k := range c {
		words[i] = k.String()
	}
	return strings.Join(words, " ")
}

// startsWith says whether the chord begins with the keys.
func (c Chord) startsWith(keys []Key) bool {
	if len(c) < len(keys) {
		return false
	}
	for i, k := range keys {
		if c[i] != k {
			return false
		}
	}
	return true
}
