package config

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"tandemux/themes"
	"tandemux/ui/status"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

// TestFileIsTheDefaults: as it is printed the file changes nothing, and with all
// its options uncommented it says the same.
func TestFileIsTheDefaults(t *testing.T) {
	for name, doc := range map[string]string{"as printed": File(), "uncommented": uncommented(File())} {
		c, problems := Read([]byte(doc), nil)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", name, problems)
		}
		want := Default()
		if name == "uncommented" {
			if len(c.Keys) != 4 || c.CopyKeys["ctrl+j"] != "copy-yank" {
				t.Errorf("%s: keys %v, %v", name, c.Keys, c.CopyKeys)
			}
		}
		for _, o := range options {
			if got, want := o.get(&c), o.get(&want); got != want && o.Kind != Table && (o.Kind != Tables || name == "as printed") {
				t.Errorf("%s: %s is %s, want %s", name, o.Name, got, want)
			}
		}
	}
	for _, line := range strings.Split(File(), "\n") {
		if len(line) > width && strings.HasPrefix(line, "# ") {
			t.Errorf("a comment is %d wide: %s", len(line), line)
		}
	}
}

// uncommented takes the # from the options, not from the text.
func uncommented(doc string) string {
	rows := strings.Split(doc, "\n")
	for i, row := range rows {
		if strings.HasPrefix(row, "#") && !strings.HasPrefix(row, "# ") {
			rows[i] = row[1:]
		}
	}
	return strings.Join(rows, "\n")
}

// TestOptionsAreComplete: each has documentation and its default is what the
// table says; each member of Config belongs to one.
func TestOptionsAreComplete(t *testing.T) {
	members := reflect.TypeFor[Config]().NumField()
	if len(options) != members {
		t.Errorf("%d options for %d members", len(options), members)
	}
	for _, o := range options {
		if !strings.HasSuffix(o.Doc, ".") || o.put == nil || o.get == nil || (o.Kind == Table || o.Kind == Tables) != (len(o.Example) > 0) || (o.Kind == Choice) && len(o.Choices) == 0 || (o.Kind == Int) != (o.Max > o.Min) {
			t.Errorf("%s is not complete", o.Name)
		}
		if o.Kind == Table || o.Kind == Tables {
			continue
		}
		var m map[string]any
		if err := toml.Unmarshal([]byte(o.Name+" = "+o.Default), &m); err != nil {
			t.Errorf("%s: the default is %s: %v", o.Name, o.Default, err)
			continue
		}
		c, d := Default(), Default()
		v, _, err := convert(&o, m[o.Name])
		if err == nil {
			err = o.put(&c, v)
		}
		if err != nil || o.get(&c) != o.get(&d) {
			t.Errorf("%s: the default is %s, the table says %s, %v", o.Name, o.get(&d), o.Default, err)
		}
	}
}

func TestRead(t *testing.T) {
	c, problems := Read([]byte(`
keymap = "tmux"
prefix = "ctrl+a"
theme = "dark:nord-dark,light:mine"
status-left = []
status-right = ["tabs", "prefix|mode", "time"]
clock = "12h"
first-run-hint = false
shell = "/bin/zsh"
shell-integration = false
emulator = "vt10x"
colors = "16"
unicode = "off"
graphics = "placed"
mode-keys = "emacs"
word-separators = "/:"
copy-on-select = false
attention = ["bell"]
long-command = 30
notify = []
notifications = "osc99"
alt-keys = true
link-hover = true
command-marks = false
sticky-command = "always"
record-input = true
open-command = "firefox --new-tab"
copy-command = "xsel -ib"
history-on-disk = true
history-on-disk-limit = 5
scrollback = 50000
agent-spawns = 0
agent-terminals = 50
agent-calls = 7
agent-idle = 60
agent-blocked = ["rm"]
agent-patterns = ["| sh", "secret"]
keys = { "prefix v" = "split-right" }
[copy-keys]
"ctrl+j" = "copy-yank"
`), []themes.Theme{{Name: "mine"}})
	want := Config{
		HistoryOnDisk: true, HistoryOnDiskLimit: 5, Scrollback: 50000,
		Keymap: "tmux", Prefix: "ctrl+a", Theme: "dark:nord-dark,light:mine", Colors: "16", Unicode: "off", Graphics: "placed",
		StatusLeft: []string{}, StatusRight: []string{"tabs", "prefix|mode", "time"}, Clock: "12h",
		Shell: "/bin/zsh", Emulator: "vt10x", AltKeys: true,
		Attention: []string{"bell"}, LongCommand: 30, Notify: []string{}, Notifications: "osc99",
		ModeKeys: "emacs", WordSeparators: "/:", OpenCommand: "firefox --new-tab", CopyCommand: "xsel -ib",
		LinkHover: true, StickyCommand: "always", RecordInput: true,
		AgentTerminals: 50, AgentCalls: 7, AgentIdle: 60, AgentBlocked: []string{"rm"}, AgentPatterns: []string{"| sh", "secret"},
		Keys: map[string]string{"prefix v": "split-right"}, CopyKeys: map[string]string{"ctrl+j": "copy-yank"},
	}
	if Fail(problems) != nil || !reflect.DeepEqual(c, want) {
		t.Errorf("read as %+v, %v", c, problems)
	}
	if got := Changed(Default(), c); !reflect.DeepEqual(got, []string{"shell", "shell-integration", "emulator"}) {
		t.Errorf("what waits for new terminals is %v", got)
	}
}

// TestEveryFaultIsNamed: with its line, what is wrong and what may be meant; the
// defaults stand in.
func TestEveryFaultIsNamed(t *testing.T) {
	for doc, want := range map[string]string{
		"\ncolour = \"red\"":                    `line 2: there is no option "colour"; did you mean "colors"?`,
		"thmee = \"nord\"":                      `line 1: there is no option "thmee"; did you mean "theme"?`,
		"[zebra]\nx = 1":                        `line 1: there is no option "zebra"`,
		"a.b.c = 1":                             `line 1: there is no option "a"`,
		"theme = \"nrod\"":                      `line 1: theme: there is no theme "nrod"; did you mean "nord"?`,
		"theme = 3":                             `line 1: theme must be a text in quotes`,
		"keymap = \"tmx\"":                      `line 1: keymap is "tmx"; did you mean "tmux"? It must be one of`,
		"clock = 24":                            `line 1: clock must be one of "24h", "12h"`,
		"prefix = \"a\"":                        `line 1: prefix: a is typed text`,
		"prefix = \"nokey\"":                    `line 1: prefix: `,
		"shell = \"zsh\"":                       `line 1: shell: "zsh" is not an absolute path`,
		"shell-integration = \"no\"":            `line 1: shell-integration must be true or false`,
		"status-left = [\"layuot\"]":            `line 1: status-left: there is no segment "layuot"`,
		"status-left = \"layout\"":              `line 1: status-left must be a list of texts`,
		"status-right = [\"tabs\"]":             `line 1: status-right: tabs can be shown once only`,
		"[keys]\n\"prefix v\" = \"splitright\"": `line 2: keys: "prefix v": there is no command "splitright"; did you mean "split-right"?`,
		"[keys]\n\"prefix v\" = 1":              `line 2: keys.prefix v must be a text in quotes`,
		"keys = 1":                              `line 1: keys must be a table`,
		"keys = { \"prefix §§\" = \"zoom\" }":   `line 1: keys: "prefix §§"`,
		"[keys]\n\"prefix v\"=\"zoom\"\n\"prefix v x\"=\"even\"": `line 3: keys: "prefix v x": conflicts with "prefix v"`,
		"[keys]\n\n\"prefix h x\" = \"zoom\"":                    `line 3: warning: keys: "prefix h x": stands in the way of`,
		"[copy-keys]\n\"ctrl+space\" = \"zoom\"":                 `line 2: copy-keys: "ctrl+space": the prefix key`,
		"theme = \"nord\"\ntheme = \"nord\"":                     `line 2: `,
		"theme = \n":                                             `line 1: `,
		strings.Repeat("k", 99) + " = 1":                         `line 1: there is no option "` + strings.Repeat("k", 64) + `…"`,
	} {
		c, problems := Read([]byte(doc), nil)
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), want) {
			t.Errorf("%q: %v\nwant %s", doc, problems, want)
		}
		if d := Default(); c.Theme != d.Theme || c.Keymap != d.Keymap || c.Prefix != d.Prefix || c.Shell != d.Shell || !reflect.DeepEqual(c.StatusLeft, d.StatusLeft) {
			t.Errorf("%q: read as %+v", doc, c)
		}
	}
	_, problems := Read([]byte("clock = 1\nunicode = 2\n\nshel = \"/bin/sh\"\n[keys]\n\"prefix v\" = \"nothing-like-it\"\n"), nil)
	var at []int
	for _, p := range problems {
		at = append(at, p.Line)
	}
	if !reflect.DeepEqual(at, []int{1, 2, 4, 6}) || strings.Count(Fail(problems).Error(), "\n") != 3 {
		t.Errorf("four faults are %v", problems)
	}
}

func TestDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "configuration.md")
	got := markdown()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Error("docs/configuration.md is not up to date; run: go test ./internal/config -run Documented -update")
	}
	for _, o := range options {
		if !strings.Contains(File(), "\n#"+o.Name+" = ") && !strings.Contains(File(), "\n["+o.Name+"]\n") && !strings.Contains(File(), "\n#["+o.Name+".") {
			t.Errorf("the file leaves %s out", o.Name)
		}
	}
	for _, s := range status.Segments() {
		if !strings.Contains(got, "| `"+s.Name+"` |") {
			t.Errorf("the segment %s is not documented", s.Name)
		}
	}
}

func TestSetTheme(t *testing.T) {
	for doc, want := range map[string]string{
		"":                                  "theme = \"nord\"\n",
		"[keys]\n\"prefix v\" = \"zoom\"\n": "theme = \"nord\"\n[keys]\n\"prefix v\" = \"zoom\"\n",
		"# mine\ntheme = \"auto\" # dark?\r\nclock = \"12h\"\n": "# mine\ntheme = \"nord\" # dark?\r\nclock = \"12h\"\n",
		"clock = \"12h\"\n  theme='#'":                          "clock = \"12h\"\ntheme = \"nord\"",
	} {
		if got := string(SetTheme([]byte(doc), "nord")); got != want {
			t.Errorf("%q becomes %q, want %q", doc, got, want)
		}
	}
	doc := SetTheme([]byte(File()), "nord")
	c, problems := Read(doc, nil)
	if len(problems) > 0 || c.Theme != "nord" || strings.Count(string(doc), "\n") != strings.Count(File(), "\n") {
		t.Errorf("in the default file: %v, %s", problems, doc)
	}
	if c, _ := Read(SetTheme(doc, "gruvbox"), nil); c.Theme != "gruvbox" {
		t.Errorf("set twice it is %s", c.Theme)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	if c, user, problems := Load(dir); len(problems)+len(user) > 0 || !reflect.DeepEqual(c, Default()) {
		t.Errorf("nothing is %+v, %v, %v", c, user, problems)
	}
	write(t, filepath.Join(dir, "config.toml"), "theme = \"mine\"\n")
	write(t, filepath.Join(dir, "themes", "mine.toml"), "name = \"other\"\nbase = \"nord-light\"\n")
	write(t, filepath.Join(dir, "themes", "pale.toml"), "base = \"tandemux-light\"\n[colors]\nstatus_fg = \"#cccccc\"\n")
	write(t, filepath.Join(dir, "themes", "bad.toml"), "dark = true\n[colors]\nboder = \"1\"\nmuted = \"red\"\n")
	write(t, filepath.Join(dir, "themes", "worse.toml"), "dark = true\n[colors\n")
	write(t, filepath.Join(dir, "themes", "a b.toml"), "")
	write(t, filepath.Join(dir, "themes", "long.toml"), strings.Repeat("#", maxTheme+1))
	write(t, filepath.Join(dir, "themes", "README"), "")
	c, user, problems := Load(dir)
	if err := Fail(problems); err != nil || c.Theme != "mine" || len(user) != 2 || user[0].Name != "mine" || user[0].Dark {
		t.Errorf("loaded %+v, %v, %v", c, user, err)
	}
	all := ""
	for _, p := range problems {
		all += strings.TrimPrefix(p.String(), dir+"/themes/") + "\n"
	}
	for _, want := range []string{
		`bad.toml:3: warning: colors: there is no key "boder"; did you mean "border"?`,
		`bad.toml:4: warning: colors: muted: "red" is no colour`,
		`worse.toml:2: warning: line 2, column`,
		`pale.toml: warning: hard to read: status_fg: #cccccc on #e3e6ea has a contrast of 1.3`,
		`a b.toml: warning: a theme's name has letters`, `long.toml: warning: it is longer than`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	write(t, filepath.Join(dir, "config.toml"), "theme = \"bad\"\n")
	_, _, problems = Load(dir)
	if err := Fail(problems); err == nil || !strings.Contains(err.Error(), dir+`/config.toml:1: theme: there is no theme "bad"`) {
		t.Errorf("a theme that can't be read is %v", err)
	}
	if _, problems := LoadFile(filepath.Join(dir, "none"), dir); Fail(problems) == nil {
		t.Error("a file that isn't there is fine")
	}
	if _, problems := LoadFile(dir, dir); Fail(problems) == nil {
		t.Error("a directory is fine")
	}
}

// FuzzRead: no document breaks the reader, and what it gives can be used.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{File(), uncommented(File()), "keys = { a = { b = 1 } }", "[[keys]]\na=1", "keys.\"prefix v\" = \"zoom\"", "a = [{b = 1}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		c, problems := Read(doc, nil)
		for _, p := range problems {
			if p.Line < 0 || p.Line > strings.Count(string(doc), "\n")+1 || p.Text == "" {
				t.Errorf("the problem is %+v", p)
			}
		}
		if _, err := themes.Choose(c.Theme, nil); err != nil {
			t.Error(err)
		}
		if _, err := status.Compose(c.StatusLeft, c.StatusRight); err != nil {
			t.Error(err)
		}
		if Fail(problems) == nil && len(doc) < maxFile {
			if again, faults := Read(SetTheme(doc, "nord"), nil); Fail(faults) != nil || again.Theme != "nord" {
				t.Errorf("with another theme: %v", faults)
			}
		}
	})
}
