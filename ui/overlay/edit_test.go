package overlay

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
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
		l := newLine(c.from)
		for _, k := range c.keys {
			l.key(key(k))
		}
		if l.String() != c.want || l.at != c.at {
			t.Errorf("%q with %v is %q at %d, want %q at %d", c.from, c.keys, l.String(), l.at, c.want, c.at)
		}
	}
}

func TestLineKeepsOutControls(t *testing.T) {
	l := newLine("")
	l.insert("a\x1b[2J\x00b\tc\nd\u009be")
	if got := l.String(); got != "a[2Jb c de" {
		t.Errorf("got %q", got)
	}
	l.insert(string(make([]byte, maxLine+1)))
	for range 3 {
		l.insert(string(slices.Repeat([]rune{'x'}, maxLine/2)))
	}
	if n := len(l.String()); n > maxLine {
		t.Errorf("a line of %d bytes", n)
	}
}

func TestLineViewFollowsTheCursor(t *testing.T) {
	l := newLine("0123456789")
	if text, x := l.view(5); text != "6789" || x != 4 {
		t.Errorf("at the end: %q, cursor %d", text, x)
	}
	l.at = 0
	if text, x := l.view(5); text != "01234" || x != 0 {
		t.Errorf("at the start: %q, cursor %d", text, x)
	}
}

func TestMatching(t *testing.T) {
	rows := []string{"Close pane", "Split right", "Rename pane", "Send to the background", "Detach"}
	for query, want := range map[string][]int{
		"":      {0, 1, 2, 3, 4},
		"pane":  {0, 2},
		"PANE":  {0, 2},
		"ren":   {2},
		"back":  {3},
		"spr":   {1},
		"p c":   {0},
		"zzz":   nil,
		"de":    {4, 3},
		"right": {1},
	} {
		got := matching(len(rows), query, func(i int) string { return rows[i] })
		if query == "de" {
			if len(got) == 0 || got[0] != 4 {
				t.Errorf("%q finds %v, want Detach first", query, got)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %v, want %v", query, got, want)
		}
	}
}
