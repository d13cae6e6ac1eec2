package keymap

import (
	"fmt"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for spelled, want := range map[string]string{
		// Canonical spellings.
		"|": "|", "-": "-", "+": "+", "a": "a", "A": "A", "é": "é", "日": "日", "f1": "f1", "f24": "f24",
		"enter": "enter", "tab": "tab", "esc": "esc", "backspace": "backspace", "space": "space",
		"delete": "delete", "insert": "insert", "home": "home", "end": "end", "pgup": "pgup", "pgdown": "pgdown",
		"up": "up", "down": "down", "left": "left", "right": "right",
		"ctrl+space": "ctrl+space", "alt+shift+left": "alt+shift+left", "ctrl++": "ctrl++", "ctrl+-": "ctrl+-",
		"ctrl+alt+shift+meta+hyper+super+f5": "ctrl+alt+shift+meta+hyper+super+f5",
		// Order, case and synonyms.
		"Shift+Alt+LEFT": "alt+shift+left", "Control+PageUp": "ctrl+pgup", "option+Return": "alt+enter",
		"cmd+k": "super+k", "win+left": "super+left", "escape": "esc", "Del": "delete", "SPC": "space", " ": "space",
		"ctrl+plus": "ctrl++", "alt+bar": "alt+|", "ctrl-x": "ctrl+x", "alt-minus": "alt+-",
		// tmux's.
		"C-b": "ctrl+b", "M-x": "alt+x", "S-Left": "shift+left", "C-M-Up": "ctrl+alt+up", "M-S-Up": "alt+shift+up",
		"NPage": "pgdown", "PPage": "pgup", "BSpace": "backspace", "DC": "delete", "IC": "insert", "BTab": "shift+tab",
		"C-Space": "ctrl+space", "C-@": "ctrl+space", "M--": "alt+-", "C--": "ctrl+-", "^B": "ctrl+b", "^[": "ctrl+[",
		"^": "^", "^^": "ctrl+^", "M-^": "alt+^", "C-C": "ctrl+c", "A-x": "alt+x",
		// Letters have no case with ctrl and no shift without.
		"ctrl+B": "ctrl+b", "ctrl+shift+a": "ctrl+shift+a", "ctrl+shift+A": "ctrl+shift+a", "super+K": "super+k",
		"shift+a": "A", "shift+A": "A", "alt+shift+a": "alt+A", "alt+A": "alt+A", "shift+é": "É", "ctrl+É": "ctrl+é",
		"shift+1": "shift+1", "shift+ß": "shift+ß", "shift+space": "shift+space", "ctrl+@": "ctrl+space", "alt+ctrl+@": "ctrl+alt+space",
		// Looks like a modifier, and isn't.
		"c": "c", "c+": "", "c+x": "", "s": "s",
	} {
		k, err := Parse(spelled)
		switch {
		case want == "" && err == nil:
			t.Errorf("%q was read as %s", spelled, k)
		case want != "" && err != nil:
			t.Errorf("%q: %v", spelled, err)
		case want != "" && k.String() != want:
			t.Errorf("%q is %s, want %s", spelled, k, want)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for spelled, why := range map[string]string{
		"":                       "missing",
		"ctrl+":                  "no key after the modifiers",
		"C-":                     "no key after the modifiers",
		"ctrl+alt+":              "no key after the modifiers",
		"ctlr+b":                 `"ctlr+b" is no key`,
		"f25":                    `"f25" is no key`,
		"f0":                     `"f0" is no key`,
		"ab":                     `"ab" is no key`,
		"\x01":                   "is no key",
		"\u00a0":                 "is no key",
		"\u200b":                 "is no key",
		"\xff":                   "is no key",
		"ctrl+\n":                "is no key",
		strings.Repeat("C-", 99): "too long",
	} {
		if k, err := Parse(spelled); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q gives %v, %v; want %q", spelled, k, err, why)
		}
	}
}

func TestParseChord(t *testing.T) {
	c, err := parseChord("  C-Space\t| ")
	if err != nil || c.String() != "ctrl+space |" {
		t.Errorf("read as %q, %v", c, err)
	}
	for _, bad := range []string{"", " ", "a b c d e", "a nokey"} {
		if c, err := parseChord(bad); err == nil {
			t.Errorf("%q was read as %q", bad, c)
		}
	}
}

func TestPressTakesWhatIsTyped(t *testing.T) {
	for _, c := range []struct{ keystroke, text, want string }{
		{"a", "a", "a"},
		{"shift+a", "A", "A"},
		{"shift+1", "!", "!"}, // kitty protocol, with alternate keys
		{"shift+7", "/", "/"}, // the same on a German keyboard
		{"shift+space", " ", "space"},
		{"alt+shift+a", "", "alt+A"}, // ESC A
		{"ctrl+space", "", "ctrl+space"},
		{"ctrl+shift+a", "", "ctrl+shift+a"},
		{"shift+left", "", "shift+left"},
		{"plus", "+", "+"}, // keypad
		{"5", "5", "5"},
		{"enter", "", "enter"},
		{"a", "ф", "ф"}, // a base layout's key, another one's text
		{"👍🏽", "👍🏽", ""},
		{"mediaplay", "", ""},
		{"", "", ""},
	} {
		if got := Press(func() string { return c.keystroke }, c.text).String(); got != c.want {
			t.Errorf("%q typing %q is %q, want %q", c.keystroke, c.text, got, c.want)
		}
	}
}

func TestLegacy(t *testing.T) {
	for spelled, want := range map[string]string{
		"a": "a", "A": "A", "alt+A": "alt+A", "up": "up", "ctrl+shift+up": "ctrl+shift+up", "f5": "f5",
		"ctrl+a": "ctrl+a", "ctrl+alt+a": "ctrl+alt+a", "ctrl+shift+a": "ctrl+a", "ctrl+space": "ctrl+space",
		"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+[": "esc", "ctrl+alt+i": "alt+tab", "ctrl+?": "backspace",
		"ctrl+/": "ctrl+_", "ctrl+2": "ctrl+space", "ctrl+1": "1", "ctrl+|": "|", `ctrl+\`: `ctrl+\`,
		"shift+enter": "enter", "ctrl+enter": "enter", "alt+enter": "alt+enter", "ctrl+tab": "tab",
		"shift+tab": "shift+tab", "shift+space": "space", "ctrl+backspace": "backspace",
		"super+a": "", "shift+1": "", "hyper+up": "",
	} {
		k, err := Parse(spelled)
		if err != nil {
			t.Fatal(err)
		}
		as, ok := k.Legacy()
		if ok != (want != "") || as.String() != want {
			t.Errorf("%s arrives as %q, %v; want %q", spelled, as, ok, want)
		}
		if again, ok2 := as.Legacy(); ok && (again != as || !ok2) {
			t.Errorf("%s arrives as %s, which arrives as %s", spelled, as, again)
		}
	}
}

// FuzzParse checks that the canonical spelling reads back as the same key, and
// that it is what a chord made of it says.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"ctrl+space", "C-M-Up", "|", "shift+ǆ", "alt+shift+ß", "^@", "M--", "ctrl++", "S-F24", "İ", "ctrl+K"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		k, err := Parse(s)
		if err != nil {
			if k != (Key{}) {
				t.Fatalf("%q gives %v with %v", s, k, err)
			}
			return
		}
		spelled := k.String()
		again, err := Parse(spelled)
		if err != nil || again != k || again.String() != spelled {
			t.Fatalf("%q is %s, which reads as %s, %v", s, spelled, again, err)
		}
		c, err := parseChord(spelled + " " + spelled)
		if err != nil || len(c) != 2 || c[0] != k || c[1] != k {
			t.Fatalf("%q twice is the chord %q, %v", spelled, c, err)
		}
		if as, ok := k.Legacy(); ok {
			if again, ok := as.Legacy(); !ok || again != as {
				t.Fatalf("%s arrives as %s, which arrives as %s", k, as, again)
			}
		}
	})
}

// TestEveryKeyReadsBack goes through all characters of the smaller scripts and
// all named keys, each with the modifiers that change what is canonical.
func TestEveryKeyReadsBack(t *testing.T) {
	codes := []rune{Tab, Enter, Esc, Backspace, Up, Down, Right, Left, Home, End, PgUp, PgDown, Insert, Delete}
	for c := F1; c <= F24; c++ {
		codes = append(codes, c)
	}
	for r := rune(0); r < 0x3000; r++ {
		if isText(r) {
			codes = append(codes, r)
		}
	}
	for _, code := range codes {
		for _, mod := range []Mod{0, Shift, Alt, Shift | Alt, Ctrl, Ctrl | Shift, Super | Shift, Ctrl | Alt | Shift | Meta | Hyper} {
			k := canonical(Key{Code: code, Mod: mod})
			if again, err := Parse(k.String()); err != nil || again != k {
				t.Errorf("%x with %x is %s, which reads as %s, %v", code, mod, k, again, err)
			}
		}
	}
}

// parseChord reads keys separated by blanks: "ctrl+space |".
func parseChord(s string) (Chord, error) {
	words := strings.Fields(s)
	if len(words) == 0 {
		return nil, fmt.Errorf("a key is missing")
	}
	if len(words) > MaxChord {
		return nil, fmt.Errorf("%d keys in a row are too many; at most %d", len(words), MaxChord)
	}
	c := make(Chord, len(words))
	for i, w := range words {
		k, err := Parse(w)
		if err != nil {
			return nil, err
		}
		c[i] = k
	}
	return c, nil
}
