package editor

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/paint"
)

func TestLineEditing(t *testing.T) {
	key := func(name string) tea.Key {
		switch name {
		case "left":
			return tea.Key{Code: tea.KeyLeft}
		case "right":
			return tea.Key{Code: tea.KeyRight}
		case "home":
			return tea.Key{Code: tea.KeyHome}
		case "end":
			return tea.Key{Code: tea.KeyEnd}
		case "backspace":
			return tea.Key{Code: tea.KeyBackspace}
		case "delete":
			return tea.Key{Code: tea.KeyDelete}
		case "^w", "^u", "^k", "^a", "^e":
			return tea.Key{Code: rune(name[1]), Mod: tea.ModCtrl}
		}
		return tea.Key{Code: []rune(name)[0], Text: name}
	}
	for _, c := range []struct {
		from string
		keys []string
		want string
		at   int
	}{
		{"", []string{"a", "b"}, "ab", 2},
		{"héllo", []string{"left", "left", "x"}, "hélxlo", 4},
		{"abc", []string{"backspace", "backspace"}, "a", 1},
		{"abc", []string{"home", "delete", "right", "delete"}, "b", 1},
		{"one two  ", []string{"^w"}, "one ", 4},
		{"one two", []string{"left", "^u"}, "o", 0},
		{"one two", []string{"^a", "right", "^k"}, "o", 1},
		{"x", []string{"home", "left", "backspace", "end", "right", "delete"}, "x", 1},
	} {
		l := Line(c.from)
		for _, k := range c.keys {
			l.Key(key(k))
		}
		if l.String() != c.want || l.at != c.at {
			t.Errorf("%q with %v is %q at %d, want %q at %d", c.from, c.keys, l.String(), l.at, c.want, c.at)
		}
	}
}

func TestLineKeepsOutControls(t *testing.T) {
	l := Line("")
	l.Insert("a\x1b[2J\x00b\tc\nd\u009be\u202e")
	if got := l.String(); got != "a[2Jb c de" {
		t.Errorf("got %q", got)
	}
	pasted := Line("")
	if pasted.Insert("one\r\ntwo\r\n"); pasted.String() != "one two" {
		t.Errorf("lines are pasted as %q", pasted.String())
	}
	l.Insert(string(make([]byte, maxLine+1)))
	for range 3 {
		l.Insert(string(slices.Repeat([]rune{'x'}, maxLine/2)))
	}
	if n := len(l.String()); n > maxLine {
		t.Errorf("a line of %d bytes", n)
	}
}

func TestLineViewFollowsTheCursor(t *testing.T) {
	l := Line("0123456789")
	if text, x := l.Window(5); text != "6789" || x != 4 {
		t.Errorf("at the end: %q, cursor %d", text, x)
	}
	l.at = 0
	if text, x := l.Window(5); text != "01234" || x != 0 {
		t.Errorf("at the start: %q, cursor %d", text, x)
	}
}

// TestCharacters: what a person sees as one character is one for the cursor, and
// has the cells that it is drawn in.
func TestCharacters(t *testing.T) {
	for _, char := range []string{"👩\u200d👩\u200d👧", "กำ", "क्षि", "e\u0301", "🇹🇭"} {
		var e Text
		e.Insert("a" + char)
		if _, x, _ := e.View(40, 1); x != 1+paint.Width(char) {
			t.Errorf("the cursor behind %q is in column %d", char, x)
		}
		e.Key(tea.Key{Code: tea.KeyLeft})
		if got := e.Before(); got != "a" {
			t.Errorf("left of %q is %q", char, got)
		}
		e.Key(tea.Key{Code: tea.KeyRight})
		e.Key(tea.Key{Code: tea.KeyBackspace})
		if got := e.String(); got != "a" {
			t.Errorf("backspace leaves %q of %q", got, char)
		}
	}
}

// TestUndo: typing is one edit, and what was cut comes back.
func TestUndo(t *testing.T) {
	var e Text
	press := func(keys ...tea.Key) {
		for _, k := range keys {
			e.Key(k)
		}
	}
	ctrl := func(r rune) tea.Key { return tea.Key{Code: r, Mod: tea.ModCtrl} }
	for _, r := range "one" {
		press(tea.Key{Code: r, Text: string(r)})
	}
	press(ctrl('w'), ctrl('y'), ctrl('y'))
	if got := e.String(); got != "oneone" {
		t.Errorf("cut and put twice: %q", got)
	}
	for _, want := range []string{"", "one", ""} {
		if press(ctrl('z')); e.String() != want {
			t.Errorf("undone: %q, want %q", e.String(), want)
		}
	}
}
