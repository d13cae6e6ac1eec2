package keymap

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

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

// Press makes a Key of what a decoder reports: keystroke is the key with its
// modifiers as Bubble Tea's Key.Keystroke writes it ("ctrl+shift+a",
// "shift+1"), text what the key types ("!"), if anything. A key that has no
// name here, such as a volume key, gives the zero Key.
func Press(keystroke, text string) Key {
	if r, size := utf8.DecodeRuneInString(text); size > 0 && size == len(text) && isText(r) {
		// What a key types is what the person means, whatever its modifiers and
		// the keyboard's layout; the modifiers of a command type nothing.
		return canonical(Key{Code: r})
	}
	k, err := Parse(keystroke)
	if err != nil {
		return Key{}
	}
	return k
}
