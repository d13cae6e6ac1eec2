package keymap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
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
	return len(c) >= len(keys) && slices.Equal(c[:len(keys)], keys)
}

// codeNames are the canonical names; names has these and the accepted others.
var codeNames = map[rune]string{
	Tab: "tab", Enter: "enter", Esc: "esc", Space: "space", Backspace: "backspace",
	Up: "up", Down: "down", Right: "right", Left: "left", Home: "home", End: "end",
	PgUp: "pgup", PgDown: "pgdown", Insert: "insert", Delete: "delete",
}

// names maps what people and other programs write, in lower case, to keys.
var names = map[string]Key{
	"return": {Code: Enter}, "cr": {Code: Enter}, "escape": {Code: Esc}, "bspace": {Code: Backspace},
	"bs": {Code: Backspace}, "spc": {Code: Space}, "del": {Code: Delete}, "dc": {Code: Delete},
	"ins": {Code: Insert}, "ic": {Code: Insert}, "pageup": {Code: PgUp}, "page_up": {Code: PgUp},
	"ppage": {Code: PgUp}, "pagedown": {Code: PgDown}, "page_down": {Code: PgDown},
	"pgdn": {Code: PgDown}, "npage": {Code: PgDown}, "btab": {Code: Tab, Mod: Shift},
	"backtab": {Code: Tab, Mod: Shift}, "plus": {Code: '+'}, "minus": {Code: '-'},
	"equal": {Code: '='}, "mul": {Code: '*'}, "div": {Code: '/'}, "comma": {Code: ','},
	"period": {Code: '.'}, "bar": {Code: '|'}, "pipe": {Code: '|'}, "bslash": {Code: '\\'},
}

// modifiers maps the words before "+" or "-" to modifiers. The short ones are
// tmux's and need "-", since "c+x" would be three keys elsewhere.
var modifiers = map[string]Mod{
	"ctrl": Ctrl, "control": Ctrl, "alt": Alt, "opt": Alt, "option": Alt, "shift": Shift,
	"meta": Meta, "hyper": Hyper, "super": Super, "cmd": Super, "command": Super, "win": Super,
	"c": Ctrl, "m": Alt, "a": Alt, "s": Shift,
}

func init() {
	for n := rune(1); n <= 24; n++ {
		codeNames[F1+n-1] = "f" + strconv.Itoa(int(n))
	}
	for code, name := range codeNames {
		names[name] = Key{Code: code}
	}
}

// Parse reads a key: "ctrl+space", "alt+shift+left", "|", "f12", and tmux's
// spellings "C-b", "M-x", "S-Left", "C-M-Up", "NPage", "^B". Names are read in
// any case; a single letter stands for itself.
func Parse(s string) (Key, error) {
	if s == "" {
		return Key{}, fmt.Errorf("a key is missing")
	}
	if len(s) > maxKey {
		return Key{}, fmt.Errorf("%q is too long for a key", s[:maxKey]+"…")
	}
	rest, mod := s, Mod(0)
	for {
		m, after, ok := cutModifier(rest)
		if !ok {
			break
		}
		mod |= m
		rest = after
	}
	if len(rest) > 1 && rest[0] == '^' {
		mod |= Ctrl
		rest = rest[1:]
	}
	if named, ok := names[strings.ToLower(rest)]; ok {
		return canonical(Key{Code: named.Code, Mod: named.Mod | mod}), nil
	}
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case size == len(rest) && isText(r) && (r != utf8.RuneError || size > 1):
		return canonical(Key{Code: r, Mod: mod}), nil
	case rest == "":
		return Key{}, fmt.Errorf("%q names no key after the modifiers", s)
	default:
		return Key{}, fmt.Errorf("%q is no key; write for example %q, %q, %q or %q", s, "ctrl+b", "alt+left", "f5", "|")
	}
}

// maxKey bounds the spelling of a key in bytes.
const maxKey = 64

// cutModifier takes a modifier and its separator off the front, but never the
// key itself: "ctrl++" is ctrl with "+", and "-" is a key.
func cutModifier(s string) (m Mod, rest string, ok bool) {
	i := strings.IndexAny(s, "+-")
	if i <= 0 {
		return 0, s, false
	}
	m, ok = modifiers[strings.ToLower(s[:i])]
	if !ok || i == 1 && s[i] != '-' {
		return 0, s, false
	}
	return m, s[i+1:], true
}

// Press makes a Key of what a decoder reports: keystroke gives the key with its
// modifiers as Bubble Tea's Key.Keystroke writes it ("ctrl+shift+a",
// "shift+1"), text what the key types ("!"), if anything. A key that has no
// name here, such as a volume key, gives the zero Key.
func Press(keystroke func() string, text string) Key {
	if r, size := utf8.DecodeRuneInString(text); size > 0 && size == len(text) && isText(r) {
		// What a key types is what the person means, whatever its modifiers and
		// the keyboard's layout; the modifiers of a command type nothing.
		return canonical(Key{Code: r})
	}
	k, err := Parse(keystroke())
	if err != nil {
		return Key{}
	}
	return k
}
