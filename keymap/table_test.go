package keymap

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func keys(t *testing.T, s string) []Key {
	t.Helper()
	c, err := parseChord(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func presetOf(t *testing.T, name string) Table {
	t.Helper()
	table, ok := Preset(name)
	if !ok {
		t.Fatalf("there is no preset %s", name)
	}
	return table
}

// bound gives what keys do: "command args", "…" for the start of a chord.
func bound(t *testing.T, table Table, m Mode, spelled string) string {
	t.Helper()
	b, match := table.Lookup(m, keys(t, spelled)...)
	switch match {
	case Full:
		return strings.Join(append([]string{b.Command}, b.Args...), " ")
	case Prefix:
		return "…"
	default:
		return ""
	}
}

func TestPresetsKeepTheInvariants(t *testing.T) {
	for _, name := range Presets() {
		for _, prefix := range []string{"", "ctrl+b", "alt+space", "f12"} {
			table := presetOf(t, name)
			if prefix != "" {
				table = table.WithPrefix(keys(t, prefix)[0])
			}
			consistent(t, table)
		}
		if err := CheckPrefix(presetOf(t, name).Prefix()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, ok := Preset("emacs"); ok {
		t.Error("there is a preset emacs")
	}
}

// consistent checks the invariants of doc.go, and that each row is found.
func consistent(t *testing.T, table Table) {
	t.Helper()
	rows := table.Bindings()
	for i, a := range rows {
		for _, b := range rows[:i] {
			if conflict(&a, &b) {
				t.Errorf("%s: %q and %q conflict", table.Name, a.Keys, b.Keys)
			}
		}
		if a.Mode == Copy && a.Chord[0] == table.Prefix() {
			t.Errorf("%s: %q takes the prefix from copy mode", table.Name, a.Keys)
		}
		if a.Keys != a.Chord.String() || a.Command == "" {
			t.Errorf("%s: a row is %+v", table.Name, a)
		}
		if got, m := table.Lookup(a.Mode, a.Chord...); m != Full || got.Command != a.Command {
			t.Errorf("%s: %q is bound to %s and finds %s", table.Name, a.Keys, a.Command, got.Command)
		}
		for n := 1; n < len(a.Chord); n++ {
			if _, m := table.Lookup(a.Mode, a.Chord[:n]...); m != Prefix {
				t.Errorf("%s: %q starts no chord", table.Name, a.Chord[:n])
			}
		}
	}
}

func TestPresetKeysArriveFromEveryTerminal(t *testing.T) {
	for _, name := range Presets() {
		for _, b := range presetOf(t, name).Bindings() {
			for _, k := range b.Chord {
				if as, ok := k.Legacy(); !ok || as != k {
					t.Errorf("%s: %s arrives as %q", name, k, as)
				}
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, c := range []struct {
		preset string
		mode   Mode
		keys   string
		want   string
	}{
		{"default", Normal, "ctrl+space", "…"},
		{"default", Normal, "ctrl+space |", "split-right"},
		{"default", Normal, "ctrl+space ctrl+space", "send-prefix"},
		{"default", Normal, "ctrl+space L", "resize-right 2"},
		{"default", Normal, "ctrl+space 3", "go-tab 3"},
		{"default", Normal, "ctrl+space Q", "end-share"},
		{"default", Normal, "j", ""},
		{"default", Normal, "esc", ""},
		{"default", Normal, "ctrl+b", ""},
		{"default", Copy, "j", "scroll-down"},
		{"default", Copy, "ctrl+b", "scroll-page-up"},
		{"default", Copy, "ctrl+space", "…"},
		{"default", Copy, "ctrl+space d", "detach"},
		{"tmux", Normal, "C-b %", "split-right"},
		{"tmux", Normal, `C-b "`, "split-down"},
		{"tmux", Normal, "C-b M-5", "arrange tiled"},
		{"tmux", Normal, "C-b C-b", "send-prefix"},
		{"tmux", Copy, "C-b", "…"},
		{"tmux", Copy, "M-v", "scroll-page-up"},
		{"screen", Normal, "C-a a", "send-prefix"},
		{"screen", Normal, "C-a C-a", "last-tab"},
		{"screen", Normal, "C-a S", "split-down"},
	} {
		if got := bound(t, presetOf(t, c.preset), c.mode, c.keys); got != c.want {
			t.Errorf("%s, %s: %s does %q, want %q", c.preset, c.mode, c.keys, got, c.want)
		}
	}
	if b, m := presetOf(t, "default").Lookup(Normal); m != None || b.Command != "" {
		t.Errorf("no keys find %+v", b)
	}
	if _, m := (Table{}).Lookup(Copy, keys(t, "a")...); m != None {
		t.Error("the zero table binds a")
	}
}

func TestRepeat(t *testing.T) {
	for spelled, want := range map[string]bool{"C-b M-Left": true, "C-b C-Up": true, "C-b Left": true, "C-b n": false, "C-b %": false} {
		if b, _ := presetOf(t, "tmux").Lookup(Normal, keys(t, spelled)...); b.Repeat != want {
			t.Errorf("%s repeats: %v", spelled, b.Repeat)
		}
	}
}

func TestAnotherPrefix(t *testing.T) {
	table := presetOf(t, "tmux").WithPrefix(keys(t, "ctrl+n")[0])
	for spelled, want := range map[string]string{"C-n %": "split-right", "C-n C-n": "send-prefix", "C-b": ""} {
		if got := bound(t, table, Normal, spelled); got != want {
			t.Errorf("%s does %q, want %q", spelled, got, want)
		}
	}
	if got := bound(t, table, Copy, "C-n"); got != "…" {
		t.Errorf("in copy mode the prefix does %q", got)
	}
	back := table.WithPrefix(keys(t, "ctrl+b")[0])
	if got := bound(t, back, Copy, "C-n"); got != "scroll-down" {
		t.Errorf("with the old prefix again ctrl+n does %q", got)
	}
	for spelled, why := range map[string]string{
		"a": "typed text", "enter": "always goes", "shift+esc": "always goes", "ctrl+i": "arrives as tab", "ctrl+[": "arrives as esc",
		"ctrl+space": "", "alt+space": "", "f12": "", "C-a": "", "super+b": "", "ctrl+;": "arrives as ;",
	} {
		err := CheckPrefix(keys(t, spelled)[0])
		if (err == nil) != (why == "") || err != nil && !strings.Contains(err.Error(), why) {
			t.Errorf("%s as the prefix: %v, want %q", spelled, err, why)
		}
	}
	if CheckPrefix(Key{}) == nil {
		t.Error("no key is a good prefix")
	}
}

// known is the check of the tests: a few commands, of which one takes a number.
func known(name string, args []string) error {
	if !slices.Contains([]string{"zoom", "detach", "resize-left", "rename-tab", "scroll-up"}, name) {
		return fmt.Errorf("there is no command %q", name)
	}
	if len(args) > 1 {
		return errors.New("too many arguments")
	}
	return nil
}

func TestOverride(t *testing.T) {
	table, problems := presetOf(t, "default").Override(Normal, map[string]string{
		"prefix Z":     "zoom",
		"C-Space d":    "zoom",   // another command on a preset's key
		"alt+z":        "zoom",   // without the prefix
		"prefix x":     "",       // unbound
		"prefix i g":   "detach", // a longer chord
		"prefix t":     `rename-tab "my tab"`,
		"prefix alt+h": "resize-left 4",
	}, known)
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	consistent(t, table)
	for spelled, want := range map[string]string{
		"ctrl+space Z": "zoom", "ctrl+space d": "zoom", "alt+z": "zoom", "ctrl+space x": "", "ctrl+space i": "…",
		"ctrl+space i g": "detach", "ctrl+space t": "rename-tab my tab", "ctrl+space z": "zoom", "ctrl+space c": "new-tab",
	} {
		if got := bound(t, table, Normal, spelled); got != want {
			t.Errorf("%s does %q, want %q", spelled, got, want)
		}
	}
	if b, _ := table.Lookup(Normal, keys(t, "ctrl+space alt+h")...); !b.Repeat || !b.User {
		t.Errorf("the user's resize key is %+v", b)
	}
	zooms := table.For("zoom")
	if len(zooms) != 4 || !zooms[0].User || zooms[3].Keys != "ctrl+space z" {
		t.Errorf("zoom is on %v", zooms)
	}
	if got := table.For("resize-left", "4"); len(got) != 1 {
		t.Errorf("resize-left 4 is on %v", got)
	}
	moved := table.WithPrefix(keys(t, "C-a")[0])
	if got := bound(t, moved, Normal, "C-a Z"); got != "zoom" {
		t.Errorf("with another prefix the user's key does %q", got)
	}
	if got := bound(t, presetOf(t, "default"), Normal, "ctrl+space d"); got != "detach" {
		t.Errorf("the preset was changed: %q", got)
	}
}

func TestOverrideProblems(t *testing.T) {
	for _, c := range []struct {
		mode Mode
		rows map[string]string
		want string // keys: text, one per line, "!" for a warning
	}{
		{Normal, map[string]string{"prefix nokey": "zoom"}, `prefix nokey: "nokey" is no key`},
		{Normal, map[string]string{"": "zoom"}, `: a key is missing`},
		{Normal, map[string]string{"a b c d e": "zoom"}, `a b c d e: 5 keys in a row are too many`},
		{Normal, map[string]string{"prefix i": "zom"}, `prefix i: there is no command "zom"`},
		{Normal, map[string]string{"prefix i": `zoom "x`}, `prefix i: the quote " is not closed`},
		{Normal, map[string]string{"prefix i": strings.Repeat("x", 2000)}, `prefix i: the command is longer`},
		{Normal, map[string]string{"g": "zoom"}, `g: g is typed text`},
		{Normal, map[string]string{"esc": "zoom"}, `esc: esc always goes to the program`},
		{Normal, map[string]string{"prefix i": "zoom", "C-Space i": "detach"}, `prefix i: conflicts with "C-Space i"`},
		{Normal, map[string]string{"prefix i": "zoom", "prefix i x": "detach"}, `prefix i x: conflicts with "prefix i"`},
		{Normal, map[string]string{"prefix z z": "detach"}, `!prefix z z: stands in the way of "ctrl+space z" (zoom)`},
		{Normal, map[string]string{"ctrl+space": "detach"}, `ctrl+space: is the prefix key`},
		{Normal, map[string]string{"prefix ctrl+i": "zoom"}, `!prefix ctrl+i: without the kitty keyboard protocol ctrl+i arrives as tab`},
		{Normal, map[string]string{"super+z": "zoom"}, `!super+z: only terminals with the kitty keyboard protocol report super+z`},
		{Normal, map[string]string{"prefix i": ""}, `!prefix i: was not bound`},
		{Copy, map[string]string{"prefix i": "scroll-up"}, `prefix i: the prefix key ctrl+space does in copy mode`},
		{Copy, map[string]string{"g g": "scroll-up"}, `!g g: stands in the way of "g" (scroll-top)`},
	} {
		table, problems := presetOf(t, "default").Override(c.mode, c.rows, known)
		if len(problems) == 0 {
			t.Errorf("%v: no problem", c.rows)
			continue
		}
		p := problems[0]
		got := p.Keys + ": " + p.Text
		if p.Warn {
			got = "!" + got
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: %s, want %s", c.rows, got, c.want)
		}
		if p.Mode != c.mode {
			t.Errorf("%v: %v", c.rows, p)
		}
		consistent(t, table)
	}
	many := make(map[string]string)
	for i := range maxUser + 5 {
		many[fmt.Sprintf("prefix %c", rune(0x4e00+i))] = "zoom"
	}
	table, problems := presetOf(t, "default").Override(Normal, many, nil)
	if len(problems) != 1 || len(table.For("zoom")) != maxUser+1 {
		t.Errorf("%d rows in force, %v", len(table.For("zoom")), problems)
	}
}

func TestFollowing(t *testing.T) {
	table := presetOf(t, "default")
	prefix := table.Prefix()
	after := table.Following(Normal, prefix)
	if len(after) < 40 || after[0].Command != "split-right" {
		t.Errorf("after the prefix follow %d: %v", len(after), after)
	}
	if got := table.Following(Copy, prefix); len(got) != len(after) {
		t.Errorf("in copy mode %d follow instead of %d", len(got), len(after))
	}
	if got := table.Following(Normal, prefix, prefix); len(got) != 0 {
		t.Errorf("after a whole chord follow %v", got)
	}
}

func TestHelp(t *testing.T) {
	describe := func(name string, args []string) (string, string, bool) {
		group, _, _ := strings.Cut(name, "-")
		return group, strings.TrimSpace(name + " " + strings.Join(args, " ")), name != "detach"
	}
	var got []string
	for _, s := range presetOf(t, "tmux").Help(Normal, describe) {
		for _, r := range s.Rows {
			got = append(got, fmt.Sprintf("%s|%s|%s|%v", s.Title, strings.Join(r.Keys, " "), r.Text, r.Prefixed))
		}
	}
	for _, want := range []string{
		"split|%|split-right|true", "go|1–9|go-tab|true", "go|0|go-tab 10|true", "terminals|w|terminals|true",
		"resize|ctrl+left|resize-left|true", "resize|alt+left|resize-left 5|true", "send|ctrl+b|send-prefix|true",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no row %s in\n%s", want, strings.Join(got, "\n"))
		}
	}
	if strings.Contains(strings.Join(got, "\n"), "detach") {
		t.Error("a command that nobody describes has a row")
	}
	user, _ := presetOf(t, "default").Override(Normal, map[string]string{"alt+z": "zoom"}, nil)
	plain := user.Help(Normal, describe)
	last := plain[slices.IndexFunc(plain, func(s Section) bool { return s.Title == "zoom" })]
	if len(last.Rows) != 2 || last.Rows[1].Prefixed || last.Rows[1].Keys[0] != "alt+z" {
		t.Errorf("zoom's rows are %+v", last.Rows)
	}
	copyRows := user.Help(Copy, describe)
	if copyRows[0].Rows[0].Prefixed || copyRows[0].Rows[0].Keys[0] != "h" {
		t.Errorf("copy mode's first row is %+v", copyRows[0].Rows[0])
	}
}

func BenchmarkLookup(b *testing.B) {
	table, _ := Preset("tmux")
	k := Key{Code: 'a'}
	b.ReportAllocs()
	for b.Loop() {
		table.Lookup(Normal, k)
	}
}

// A quote within double quotes is written as for sh.
func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		`sh -c "echo \"a b\" \\ \n"`: {"sh", "-c", `echo "a b" \ \n`}, `'a\"' b\"c`: nil, `\"`: nil, `a\ b`: {`a\`, "b"}, `""`: {""},
	} {
		if got, _ := Words(line); !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", line, got, want)
		}
	}
}
