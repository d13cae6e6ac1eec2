package emutest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"tandemux/emulator"
)

// Update has goldens written anew: one flag for all of them.
var Update = flag.Bool("update", false, "write the checking sections of golden screens anew")

// New makes an engine to test.
type New func(emulator.Options) emulator.Emulator

// Run runs every golden that matches glob against new as a subtest; alike are pairs of
// texts in them that are the same to the engine. Under -update it rewrites what the
// goldens check.
func Run(t *testing.T, new New, glob string, alike ...string) {
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
