package emutest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/emulator/vt10x"
)

// The goldens in testdata are of all engines, those in native's are its own.
func TestNative(t *testing.T) {
	t.Run("shared", func(t *testing.T) { run(t, native.New, "../testdata/*.txtar") })
	t.Run("own", func(t *testing.T) { run(t, native.New, "../native/testdata/*.txtar") })
}

// Those of the goldens that vt10x gets right.
func TestVT10x(t *testing.T) {
	for _, name := range strings.Fields(`
		alt_1049 c0_inside chars color_reports cursor_moves cursor_style erase_bce events
		hard_reset history_alt history_clear huge ignored mouse newline_mode origin repeat reports
		resize scroll scroll_count scroll_region sgr_broken sgr_private soft_reset tabs title wrap
		wrap_off wrap_region wrap_tab`) {
		run(t, vt10x.New, "../testdata/"+name+".txtar", "|~\n", "|\n")
	}
}

// run runs every golden that matches glob against new as a subtest; alike are pairs of
// texts in them that are the same to the engine. Under -update it rewrites what the
// goldens check.
func run(t *testing.T, new New, glob string, alike ...string) {
	t.Helper()
	files, err := filepath.Glob(glob)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no golden matches %s", glob)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			runFile(t, new, file, strings.NewReplacer(alike...))
		})
	}
}

func runFile(t *testing.T, new New, file string, alike *strings.Replacer) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(text)
	failures, err := runArchive(new, a, alike)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if *Update {
		if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, f := range failures {
		t.Errorf("%s: %s", file, f)
	}
	if len(failures) > 0 {
		t.Logf("%s", a.Comment)
	}
}

// runArchive runs the steps of a and puts what the engine gave into the
// checking sections; failures says which of them were different.
func runArchive(new New, a *txtar.Archive, alike *strings.Replacer) (failures []string, err error) {
	g := &golden{new: new}
	for i := range a.Files {
		f := &a.Files[i]
		name := f.Name
		if step, ok := steps[name]; ok {
			if err := step(g, strings.TrimSpace(string(f.Data))); err != nil {
				return nil, fmt.Errorf("section %d, %s: %w", i+1, name, err)
			}
			continue
		}
		check, ok := checks[name]
		if !ok {
			return nil, fmt.Errorf("section %d: no step is named %q", i+1, name)
		}
		if g.e == nil {
			return nil, fmt.Errorf("section %d, %s: comes before size", i+1, name)
		}
		got := check(g)
		if d := Diff(alike.Replace(got), alike.Replace(string(f.Data))); d != "" {
			failures = append(failures, fmt.Sprintf("section %d, %s:\n%s", i+1, name, d))
		}
		f.Data = []byte(got)
	}
	return failures, nil
}

// golden is a run of one file.
type golden struct {
	new              New
	e                emulator.Emulator
	replies, pending []string
}

var steps = map[string]func(*golden, string) error{
	"size":   (*golden).size,
	"input":  (*golden).input,
	"resize": (*golden).resize,
	"graphics": func(g *golden, _ string) error {
		g.e.SetColors(emulator.Colors{Pictures: true})
		return nil
	},
}

var checks = map[string]func(*golden) string{
	"screen":   func(g *golden) string { return Screen(g.e) },
	"history":  func(g *golden) string { return History(g.e) },
	"attrs":    func(g *golden) string { return Attrs(g.e) },
	"modes":    func(g *golden) string { return Modes(g.e.Modes()) },
	"title":    func(g *golden) string { return strconv.Quote(g.e.Title()) + "\n" },
	"pictures": func(g *golden) string { return Pictures(g.e) },
	"tabs":     func(g *golden) string { return PrintedTabs(g.e) },
	"replies":  func(g *golden) string { return take(&g.replies) },
	"events":   func(g *golden) string { return take(&g.pending) },
}

func take(lines *[]string) string {
	var b strings.Builder
	for _, l := range *lines {
		fmt.Fprintln(&b, l)
	}
	*lines = nil
	return b.String()
}

func (g *golden) size(text string) error {
	if g.e != nil {
		return fmt.Errorf("comes twice")
	}
	var o emulator.Options
	text, allowed := strings.CutSuffix(text, " allowed")
	if allowed {
		o.Allow = emulator.Checksums | emulator.Resizes
	}
	size, history, found := strings.Cut(text, " history ")
	if _, err := fmt.Sscanf(size, "%dx%d", &o.Cols, &o.Rows); err != nil {
		return fmt.Errorf("read %q: %w", text, err)
	}
	if found {
		n, err := strconv.Atoi(history)
		if err != nil {
			return fmt.Errorf("read %q: %w", text, err)
		}
		o.History = n
	}
	g.e = g.new(o)
	return nil
}

func (g *golden) input(text string) error {
	if g.e == nil {
		return fmt.Errorf("comes before size")
	}
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		s, err := strconv.Unquote(line)
		if err != nil {
			return fmt.Errorf("unquote %s: %w", line, err)
		}
		g.e.Write([]byte(s))
		for _, ev := range g.e.Events() {
			if ev.Kind == emulator.EventReply {
				g.replies = append(g.replies, strconv.Quote(ev.Text))
			} else {
				g.pending = append(g.pending, eventLine(ev))
			}
		}
	}
	return nil
}

func (g *golden) resize(text string) error {
	if g.e == nil {
		return fmt.Errorf("comes before size")
	}
	var cols, rows int
	if _, err := fmt.Sscanf(text, "%dx%d", &cols, &rows); err != nil {
		return fmt.Errorf("read %q: %w", text, err)
	}
	g.e.Resize(cols, rows)
	return nil
}

const good = `A golden.
-- size --
6x2 history 3
-- input --
"a\r\nb\r\n\x1b[31mc\x1b[6n\a"
-- screen --
cursor 1,1
|b     |
|c     |
-- history --
|a     |
-- attrs --
1:0-0 fg=1
-- replies --
"\x1b[2;2R"
-- events --
bell
-- resize --
4x2
-- screen --
cursor 1,1
|b   |
|c   |
`

func TestGolden(t *testing.T) {
	a := txtar.Parse([]byte(good))
	failures, err := runArchive(vt10x.New, a, strings.NewReplacer())
	if err != nil || len(failures) > 0 {
		t.Fatalf("%v %q", err, failures)
	}
	if got := string(txtar.Format(a)); got != good {
		t.Errorf("written anew it is\n%s", got)
	}
}

func TestGoldenDiffers(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"|c     |", "|d     |", "section 3, screen"},
		{"|a     |", "|b     |", "section 4, history"},
		{"fg=1", "fg=2", "section 5, attrs"},
		{"2;2R", "2;3R", "section 6, replies"},
		{"bell", "title \"x\"", "section 7, events"},
		{"|c   |", "|c  |", "section 9, screen"},
	} {
		a := txtar.Parse([]byte(strings.Replace(good, c.old, c.new, 1)))
		failures, err := runArchive(vt10x.New, a, strings.NewReplacer())
		if err != nil || len(failures) != 1 || !strings.HasPrefix(failures[0], c.want) {
			t.Errorf("%s for %s: %v %q", c.new, c.old, err, failures)
		}
		if got := string(txtar.Format(a)); got != good {
			t.Errorf("%s for %s: written anew it is\n%s", c.new, c.old, got)
		}
	}
}

func TestGoldenBroken(t *testing.T) {
	for _, text := range []string{
		"-- input --\n\"a\"\n",
		"-- screen --\n",
		"-- size --\nbig\n",
		"-- size --\n5x5\n-- size --\n5x5\n",
		"-- size --\n5x5\n-- input --\na\n",
		"-- size --\n5x5\n-- resize --\nx\n",
		"-- size --\n5x5\n-- colour --\n",
	} {
		if _, err := runArchive(vt10x.New, txtar.Parse([]byte(text)), strings.NewReplacer()); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
