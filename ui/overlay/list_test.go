package overlay

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
)

// kinds makes every overlay with rows to choose from, with rows "first", "second"
// and "third", the second one being the current one where there is such a thing.
// done gets what is called.
func kinds(done func(what string)) map[string]Overlay {
	names := []string{"first", "second", "third"}
	uri := func(what string) func(ahp.URI) { return func(u ahp.URI) { done(what + " " + string(u)) } }
	text := func(what string) func(string) { return func(s string) { done(what + " " + s) } }
	number := func(what string) func(int) { return func(n int) { done(what + " " + names[n]) } }
	none := func(what string) func() { return func() { done(what) } }
	var terminals []Terminal
	var sessions []Session
	var layouts []Layout
	var buffers []Buffer
	var ran []Ran
	var commands []Command
	var changed []Changed
	for i, n := range names {
		terminals = append(terminals, Terminal{URI: ahp.URI(n), Title: n})
		sessions = append(sessions, Session{URI: ahp.URI(n), Title: n, Task: i == 1})
		layouts = append(layouts, Layout{Name: n})
		buffers = append(buffers, Buffer{ID: i, Text: n})
		ran = append(ran, Ran{ID: n, Line: n})
		commands = append(commands, Command{Name: n, Title: n})
		changed = append(changed, Changed{Path: n})
	}
	return map[string]Overlay{
		"terminals": NewTerminals(func() []Terminal { return terminals }, "second", Actions{
			Show: uri("enter"), Bring: uri("t"), Take: uri("r"), Background: uri("b"), Kill: uri("x"),
		}),
		"agents": NewAgents(func() []Session { return sessions }, "second", SessionActions{
			Open: uri("enter"), Bring: uri("t"), Answer: uri("y"), Rename: uri("r"), Archive: uri("a"), End: uri("x"),
			New: none("n"), Steer: uri("s"), Pull: uri("p"), All: none("v"),
		}),
		"layouts": NewLayouts(func() []Layout { return layouts }, "second", LayoutDo{
			Go: text("enter"), Rename: text("r"), Delete: text("x"), New: none("n"),
		}),
		"buffers": NewBuffers(func() []Buffer { return buffers }, BufferDo{
			Paste: number("enter"), Copy: number("y"), Delete: number("x"), Save: number("s"),
		}),
		"commands": NewCommands(func() []Ran { return slices.Clone(ran) }, RanDo{
			Go: text("enter"), CopyOutput: text("y"), CopyLine: text("l"), Again: text("r"),
		}),
		"palette": NewPalette(func() []Command { return commands }, func(name string, _ []string) { done("enter " + name) }),
		"choice":  NewChoice(Choosing{Rows: names, Chosen: 1, Moved: func(int) {}, Accept: number("enter"), Once: number("t")}),
		"changes": NewChanges(Bringing{Files: changed, Merge: none("m"), Out: none("o")}),
	}
}

// Every character that can be typed goes to the filter of every list, none of them
// does anything else.
func TestLettersFilterInEveryList(t *testing.T) {
	typeable := ""
	for r := '!'; r <= '~'; r++ {
		typeable += string(r)
	}
	for name, o := range kinds(func(what string) { t.Errorf("a character did %q", what) }) {
		for _, r := range typeable {
			if o.Key(tea.Key{Code: r, Text: string(r)}) {
				t.Errorf("%s ends at %q", name, r)
			}
		}
		if got := o.(interface{ typed() string }).typed(); got != typeable {
			t.Errorf("the filter of %s has %q", name, got)
		}
	}
}

// Actions take alt, or tab before their letter; they are done with the row that the
// list opened on.
func TestListActions(t *testing.T) {
	for name, want := range map[string][]string{
		"terminals": {"t second", "r second", "b second", "x second"},
		"agents":    {"y second", "s second", "p second", "x second", "n", "r second", "a second", "t second", "v"},
		"layouts":   {"n", "r second", "x second"},
		"buffers":   {"y first", "s first", "x first"},
		"commands":  {"y first", "l first", "r first"},
		"choice":    {"t second"},
		"changes":   {"m", "o"},
	} {
		for _, keys := range []func(letter rune) []tea.Key{
			func(letter rune) []tea.Key { return []tea.Key{{Code: letter, Mod: tea.ModAlt}} },
			func(letter rune) []tea.Key {
				return []tea.Key{{Code: tea.KeyTab}, {Code: letter, Text: string(letter)}}
			},
		} {
			for _, did := range want {
				var got []string
				o := kinds(func(what string) { got = append(got, what) })[name]
				for _, k := range keys(rune(did[0])) {
					o.Key(k)
				}
				if !slices.Equal(got, []string{did}) {
					t.Errorf("%s: %v did %q, want %q", name, keys(rune(did[0])), got, did)
				}
			}
		}
	}
}

// The actions that tab has opened can be left again, and then letters filter.
func TestLeavingTheActions(t *testing.T) {
	for _, leave := range []rune{tea.KeyEscape, tea.KeyTab} {
		o := kinds(func(what string) { t.Errorf("it did %q", what) })["terminals"]
		for _, k := range []tea.Key{{Code: tea.KeyTab}, {Code: 'q', Text: "q"}, {Code: leave}, {Code: 'x', Text: "x"}} {
			if o.Key(k) {
				t.Errorf("%v ends the list", k)
			}
		}
		if got := o.(*Terminals).typed(); got != "x" {
			t.Errorf("the filter has %q", got)
		}
	}
}

// The best match is chosen while one types; the choice stays on its row when rows
// come and go, and in its place when the row itself goes.
func TestChoiceStays(t *testing.T) {
	rows := []Layout{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "demo"}}
	o := NewLayouts(func() []Layout { return rows }, "c", LayoutDo{})
	chosen := func(want string) {
		t.Helper()
		o.match()
		if row, _ := o.row(); row.Name != want {
			t.Errorf("%q is chosen, want %q", row.Name, want)
		}
	}
	chosen("c")
	rows = append([]Layout{{Name: "0"}}, rows...)
	chosen("c")
	rows = slices.DeleteFunc(rows, func(l Layout) bool { return l.Name == "c" })
	chosen("demo")
	o.Key(tea.Key{Code: tea.KeyHome})
	o.Paste("dem")
	chosen("demo")
	o.Key(tea.Key{Code: 'u', Mod: tea.ModCtrl})
	chosen("demo")
	o.Paste("nothing")
	o.Key(tea.Key{Code: 'u', Mod: tea.ModCtrl})
	chosen("0") // "c", which was the current one, has gone
	rows = append(rows, Layout{Name: "c"})
	o.Paste("nothing")
	o.Key(tea.Key{Code: 'u', Mod: tea.ModCtrl})
	chosen("c")
	o.Paste("nothing")
	if _, ok := o.row(); ok || o.Key(tea.Key{Code: tea.KeyEnter}) {
		t.Error("a row is chosen though none matches")
	}
}

// Whole words come before beginnings of words, those before parts of words;
// scattered letters only where there is nothing else.
func TestMatchingRanks(t *testing.T) {
	rows := []string{"rebuild", "b u i l d", "run builder", "old build", "build", "Bauhaus in London"}
	for query, want := range map[string][]string{
		"build":     {"build", "old build", "run builder", "rebuild"},
		"bld":       {"rebuild", "b u i l d", "run builder", "old build", "build", "Bauhaus in London"},
		"build old": {"old build"},
		"uild run":  {"run builder"},
		"bau":       {"Bauhaus in London"},
		"lon in":    {"Bauhaus in London"},
		"b build":   {"build", "old build", "run builder", "rebuild"},
	} {
		var got []string
		for _, i := range matching(len(rows), query, func(i int) string { return rows[i] }) {
			got = append(got, rows[i])
		}
		if query == "b build" {
			got = got[:1] // "build" begins with both
			want = want[:1]
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	if got := matching(1, "né", func(int) string { return "Café NÉO" }); len(got) != 1 {
		t.Error("letters with accents are not found in the other case")
	}
}
