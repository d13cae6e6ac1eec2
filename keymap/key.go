package keymap

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
// zero Key is no key. Make one with Parse, Press or Rune.
type Key struct {
	Code rune // a printable rune, or one of the named keys below
	Mod  Mod
}

// Parse reads a key: "ctrl+space", "alt+shift+left", "|", "f12", and tmux's
// spellings "C-b", "M-x", "S-Left", "C-M-Up", "NPage".
func Parse(s string) (Key, error) { return Key{}, nil }

// Press makes a Key of what a decoder reports: keystroke is the key with its
// modifiers as Bubble Tea's Key.Keystroke writes it ("ctrl+shift+a",
// "shift+1"), text what the key types ("!"), if anything. A key that has no
// name here gives the zero Key.
func Press(keystroke, text string) Key { return Key{} }

// String gives the canonical spelling; Parse reads it back.
func (k Key) String() string { return "" }

// Chord is a sequence of keys.
type Chord []Key

// ParseChord reads keys separated by blanks: "ctrl+space |".
func ParseChord(s string) (Chord, error) { return nil, nil }

func (c Chord) String() string { return "" }
