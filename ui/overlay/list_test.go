package overlay

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"tandemux/themes"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// list makes a list with the rows that rows names at the time, and actions "t" with a
// row, "n" without and "s" for "second" alone. done gets what is called.
func list(rows *[]string, current string, done func(what string)) *List {
	do := func(what string) func(string) { return func(key string) { done(what + " " + key) } }
	return &List{Source: Source{
		Width: 60, Current: current, Columns: []Column{{Fills: true}},
		Rows: func() (all []Row) {
			for _, n := range *rows {
				all = append(all, Row{Key: n, Filter: n, Cells: []Cell{{Text: n}}})
			}
			return all
		},
		Enter: func(key string) bool { done("enter " + key); return true },
		Actions: []Action{
			{Letter: "t", Label: "take", Do: do("t"), Close: true},
			{Letter: "n", Label: "new", Do: do("n"), NoRow: true},
			{Letter: "s", Label: "steer", Do: do("s"), For: func(key string) bool { return key == "second" }},
		},
	}}
}

// Every character that can be typed goes to the filter, none of them does anything
// else.
func TestLettersFilterInEveryList(t *testing.T) {
	typeable := ""
	o := list(&[]string{"first", "second", "third"}, "", func(what string) { t.Errorf("a character did %q", what) })
	for r := '!'; r <= '~'; r++ {
		if typeable += string(r); o.Key(tea.Key{Code: r, Text: string(r)}) {
			t.Errorf("it ends at %q", r)
		}
	}
	if o.Typed() != typeable {
		t.Errorf("the filter has %q", o.Typed())
	}
}

// Actions take alt, or tab before their letter; they are done with the chosen row, and
// those that need one or are for another do nothing.
func TestListActions(t *testing.T) {
	for _, keys := range []func(letter rune) []tea.Key{
		func(letter rune) []tea.Key { return []tea.Key{{Code: letter, Mod: tea.ModAlt}} },
		func(letter rune) []tea.Key {
			return []tea.Key{{Code: tea.KeyTab}, {Code: letter, Text: string(letter)}}
		},
	} {
		for _, c := range []struct {
			letter              rune
			rows, current, want string
			ends                bool
		}{
			{'t', "first second", "second", "t second", true},
			{'t', "first second", "", "t first", true},
			{'t', "", "", "", false},
			{'n', "first", "", "n first", false},
			{'n', "", "", "n ", false},
			{'s', "first second", "second", "s second", false},
			{'s', "first second", "", "", false},
		} {
			got, ends, rows := "", false, strings.Fields(c.rows)
			o := list(&rows, c.current, func(what string) { got = what })
			for _, k := range keys(c.letter) {
				ends = o.Key(k)
			}
			if got != c.want || ends != c.ends {
				t.Errorf("%c with %q, %q did %q, %v; want %q", c.letter, c.rows, c.current, got, ends, c.want)
			}
		}
	}
}

// All actions show, also those of a list with few rows.
func TestActionsOfAShortList(t *testing.T) {
	o := list(&[]string{"first"}, "", func(string) {})
	for _, letter := range []string{"a", "b", "c", "d"} {
		o.Actions = append(o.Actions, Action{Letter: letter, Label: "action " + letter, NoRow: true})
	}
	o.Key(tea.Key{Code: tea.KeyTab})
	c := &paint.Canvas{}
	c.Resize(80, 24)
	o.Draw(c, c.Bounds(), look.New(themes.Theme{}, true, true))
	shows := string(paint.NewPainter(paint.Options{}).Frame(nil, c, paint.Cursor{}))
	for _, a := range o.Actions {
		if a.For == nil && !strings.Contains(shows, a.Label) {
			t.Errorf("%q does not show", a.Label)
		}
	}
}

// The actions that tab has opened can be left again, and then letters filter.
func TestLeavingTheActions(t *testing.T) {
	for _, leave := range []rune{tea.KeyEscape, tea.KeyTab} {
		o := list(&[]string{"first"}, "", func(what string) { t.Errorf("it did %q", what) })
		for _, k := range []tea.Key{{Code: tea.KeyTab}, {Code: 'q', Text: "q"}, {Code: leave}, {Code: 'x', Text: "x"}} {
			if o.Key(k) {
				t.Errorf("%v ends the list", k)
			}
		}
		if o.Typed() != "x" {
			t.Errorf("the filter has %q", o.Typed())
		}
	}
}

// The best match is chosen while one types; the choice stays on its row when rows
// come and go, and in its place when the row itself goes.
func TestChoiceStays(t *testing.T) {
	rows := []string{"a", "b", "c", "demo"}
	o := list(&rows, "c", func(string) {})
	chosen := func(want string) {
		t.Helper()
		if got := o.Chosen(); got != want {
			t.Errorf("%q is chosen, want %q", got, want)
		}
	}
	chosen("c")
	rows = append([]string{"0"}, rows...)
	chosen("c")
	rows = slices.DeleteFunc(rows, func(s string) bool { return s == "c" })
	chosen("demo")
	o.Key(tea.Key{Code: tea.KeyHome})
	o.Paste("dem")
	chosen("demo")
	o.Key(tea.Key{Code: 'u', Mod: tea.ModCtrl})
	chosen("demo")
	o.Paste("nothing")
	o.Key(tea.Key{Code: 'u', Mod: tea.ModCtrl})
	chosen("0") // "c", which was the current one, has gone
	rows = append(rows, "c")
	o.Paste("nothing")
	o.Key(tea.Key{Code: 'u', Mod: tea.ModCtrl})
	chosen("c")
	o.Paste("nothing")
	if o.Chosen() != "" || o.Key(tea.Key{Code: tea.KeyEnter}) {
		t.Error("a row is chosen though none matches")
	}
}

// The choice goes past headings, also at the ends.
func TestHeadings(t *testing.T) {
	rows := []Row{{}, {Key: "a"}, {}, {}, {Key: "b"}, {}}
	o := &List{Source: Source{Rows: func() []Row { return rows }}}
	for _, c := range []struct {
		key  rune
		want string
	}{{tea.KeyUp, "a"}, {tea.KeyDown, "b"}, {tea.KeyDown, "b"}, {tea.KeyHome, "a"}, {tea.KeyEnd, "b"}, {tea.KeyUp, "a"}} {
		if o.Key(tea.Key{Code: c.key}); o.Chosen() != c.want {
			t.Errorf("%v chooses %q, want %q", c.key, o.Chosen(), c.want)
		}
	}
}

// Columns get room from left to right, what may be cut is cut first, and the one that
// fills takes the rest.
func TestColumns(t *testing.T) {
	cell := func(n int) Cell { return Cell{Text: strings.Repeat("x", n)} }
	o := &List{Source: Source{Columns: []Column{{Most: 1}, {Least: 5}, {Fills: true, Least: 6}, {Most: 8}}}}
	o.shown = []Row{{Cells: []Cell{cell(1), cell(12), cell(40), cell(9)}}, {}}
	for w, want := range map[int][]int{
		80: {1, 12, 54, 8}, 60: {1, 12, 36, 8}, 31: {1, 12, 7, 8}, 24: {1, 6, 6, 8}, 20: {1, 11, 6, 0}, 14: {1, 5, 6, 0}, 9: {1, 0, 7, 0}, 3: {0, 0, 3, 0}, 0: {0, 0, 0, 0},
	} {
		if got, gap := o.widths(w); !slices.Equal(got, want) || gap != 1+w/80 {
			t.Errorf("%d cells are shared as %v with gaps of %d, want %v", w, got, gap, want)
		}
	}
	// What a row is, as in the palette, is cut, and not left out for what is said of it.
	o = &List{Source: Source{Columns: []Column{{Least: 18}, {Fills: true}, {Most: 16}}}}
	o.shown = []Row{{Cells: []Cell{cell(30), cell(20), cell(4)}}}
	if got, _ := o.widths(14); !slices.Equal(got, []int{13, 0, 0}) {
		t.Errorf("14 cells are shared as %v", got)
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

// TestListTakesOneLine: what is pasted is one line, and no longer than one: each piece of
// a long paste looks through all rows.
func TestListTakesOneLine(t *testing.T) {
	o := list(&[]string{"first"}, "", nil)
	o.Paste("fir\nst\n")
	if got := o.Typed(); got != "fir st" {
		t.Errorf("the filter is %q", got)
	}
	for range 100 {
		o.Paste(strings.Repeat("a line\n", 100))
	}
	if got := len(o.Typed()); got > 4<<10 {
		t.Errorf("the filter has %d bytes", got)
	}
}
