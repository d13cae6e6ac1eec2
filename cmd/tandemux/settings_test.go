package main

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandemux/internal/config"
	"tandemux/internal/local"
	"tandemux/themes"
	"tandemux/ui/status"
)

var update = flag.Bool("update", false, "write what is checked: docs/configuration.md, the golden files")

// read reads a document in place of the configuration.
func read(doc string, user ...themes.Theme) (*settings, []config.Problem) {
	s := defaults()
	s.look.Themes = user
	return s, config.Read([]byte(doc), s.options)
}

func defaultFile() string { return config.File(defaults().options) }

// TestFileIsTheDefaults: as it is printed the file changes nothing, and with all
// its options uncommented it says the same.
func TestFileIsTheDefaults(t *testing.T) {
	for name, doc := range map[string]string{"as printed": defaultFile(), "uncommented": uncommented(defaultFile())} {
		s, problems := read(doc)
		if len(problems) > 0 {
			t.Fatalf("%s: %v", name, problems)
		}
		if name == "uncommented" && (len(s.look.Keys) != 5 || s.look.CopyKeys["ctrl+j"] != "copy-yank") {
			t.Errorf("%s: keys %v, %v", name, s.look.Keys, s.look.CopyKeys)
		}
		for i, o := range defaults().options {
			if got, want := s.options[i].TOML(), o.TOML(); got != want && (!o.IsTable() || name == "as printed") {
				t.Errorf("%s: %s is %s, want %s", name, o.Name, got, want)
			}
		}
	}
	for _, line := range strings.Split(defaultFile(), "\n") {
		if len(line) > 78 && strings.HasPrefix(line, "# ") {
			t.Errorf("a comment is %d wide: %s", len(line), line)
		}
	}
}

// TestCurrent: the last good configuration is the one that was read last, although others read at
// the same time.
func TestCurrent(t *testing.T) {
	dir := t.TempDir()
	d := local.Dirs{Config: dir}
	put := func(doc string) {
		if err := errors.Join(os.WriteFile(dir+"/new", []byte(doc), 0o600), os.Rename(dir+"/new", filepath.Join(dir, config.FileName))); err != nil {
			t.Fatal(err)
		}
	}
	put("")
	now := current(d, defaults(), slog.New(slog.DiscardHandler))
	over, wait := make(chan struct{}), sync.WaitGroup{}
	for range 4 {
		wait.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					now()
				}
			}
		})
	}
	for i := range 20 {
		put(fmt.Sprintf("scrollback = %d\n", i+1))
		now()
		put("shell = 1\n")
		if got := now().look.Scrollback; got != i+1 {
			t.Errorf("scrollback is %d, want the last good %d", got, i+1)
			break
		}
	}
	close(over)
	wait.Wait()
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

// TestOptionsAreComplete: each has documentation and a range.
func TestOptionsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range defaults().options {
		_, number := o.Value.(*int)
		_, seconds := o.Value.(*time.Duration)
		if seen[o.Name] || !strings.HasSuffix(o.Doc, ".") || o.IsTable() != (len(o.Example) > 0) || (number || seconds) != (o.Max > o.Min) {
			t.Errorf("%s is not complete", o.Name)
		}
		seen[o.Name] = true
	}
}

func TestRead(t *testing.T) {
	values := strings.TrimSpace(`
keymap = "tmux"
prefix = "ctrl+a"
theme = "dark:nord-dark,light:mine"
status-left = []
status-right = ["tabs", "prefix|mode", "time"]
clock = "12h"
status-position = "top"
status-command = "uptime -p"
status-interval = 60
predict-echo = "always"
program-checksums = true
program-resize = true
command-history = 5
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
clipboard = "off"
attention = ["bell"]
long-command = 30
notify = []
notifications = "osc99"
alt-keys = true
link-hover = true
command-marks = false
tmux-for-agents = "on"
sticky-command = "always"
record-input = true
open-command = "firefox --new-tab"
copy-command = "xsel -ib"
restore-commands = ["vim"]
history-on-disk = true
history-on-disk-limit = 5
scrollback = 50000
agent-spawns = 0
agent-terminals = 50
agent-calls = 7
agent-idle = 60
tasks-database = "postgres://localhost/tasks"
agent-policy = "strict"
agent-blocked = ["rm"]
agent-allowed = ["npm"]
agent-patterns = ["| sh", "secret"]
listen = ["127.0.0.1:7070"]
approve-by-passkey = true
push-contact = "mailto:me@example.org"
`)
	s, problems := read(values+`
keys = { "prefix v" = "split-right" }
[copy-keys]
"ctrl+j" = "copy-yank"
`, themes.Theme{Name: "mine"})
	if config.Fail(problems) != nil {
		t.Fatal(problems)
	}
	want := map[string]string{"keys": "\"prefix v\" = \"split-right\"\n", "copy-keys": "\"ctrl+j\" = \"copy-yank\"\n"}
	for line := range strings.Lines(values) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " = ")
		want[name] = value
	}
	untold := defaults().options
	for i, o := range s.options {
		if got := o.TOML(); got != want[o.Name] {
			t.Errorf("%s is %s, want %s", o.Name, got, want[o.Name])
		} else if got == untold[i].TOML() && want[o.Name] != "" {
			t.Errorf("%s has its default", o.Name)
		}
	}
	if l := s.look; l.LongCommand != 30*time.Second || !bool(l.NoCopyOnSelect) || l.StatusLeft == nil || s.agents.Limits().Idle != time.Minute {
		t.Errorf("read as %+v, %+v", l, s.agents)
	}
	if got := config.Changed(untold, s.options); !slices.Equal(got, []string{"shell", "shell-integration", "tmux-for-agents", "emulator", "program-checksums", "program-resize"}) {
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
		"status-left = \"layout\"":              `line 1: status-left must be a list of texts, such as ["layout"]`,
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
		c, problems := read(doc)
		if len(problems) != 1 || !strings.HasPrefix(problems[0].String(), want) {
			t.Errorf("%q: %v\nwant %s", doc, problems, want)
		}
		if c, d := c.look, defaults().look; c.Theme != d.Theme || c.Keymap != d.Keymap || c.Prefix != d.Prefix || !reflect.DeepEqual(c.StatusLeft, d.StatusLeft) {
			t.Errorf("%q: read as %+v", doc, c)
		}
		if c.shell != defaults().shell {
			t.Errorf("%q: read as %+v", doc, c.shell)
		}
	}
	_, problems := read("clock = 1\nunicode = 2\n\nshel = \"/bin/sh\"\n[keys]\n\"prefix v\" = \"nothing-like-it\"\n")
	var at []int
	for _, p := range problems {
		at = append(at, p.Line)
	}
	if !reflect.DeepEqual(at, []int{1, 2, 4, 6}) || strings.Count(config.Fail(problems).Error(), "\n") != 3 {
		t.Errorf("four faults are %v", problems)
	}
}

func TestDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "configuration.md")
	got := optionsPage(defaults().options)
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
		t.Error("docs/configuration.md is not up to date; run: go test ./cmd/tandemux -run Documented -update")
	}
	for _, o := range defaults().options {
		if !strings.Contains(defaultFile(), "\n#"+o.Name+" = ") && !strings.Contains(defaultFile(), "\n["+o.Name+"]\n") && !strings.Contains(defaultFile(), "\n#["+o.Name+".") && !strings.Contains(defaultFile(), "\n#["+o.Name+"]") {
			t.Errorf("the file leaves %s out", o.Name)
		}
	}
	for _, s := range status.Segments() {
		if !strings.Contains(got, "\n`"+s.Name+"` | ") {
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
		if got := string(config.SetTheme([]byte(doc), "nord")); got != want {
			t.Errorf("%q becomes %q, want %q", doc, got, want)
		}
	}
	doc := config.SetTheme([]byte(defaultFile()), "nord")
	c, problems := read(string(doc))
	if len(problems) > 0 || c.look.Theme != "nord" || strings.Count(string(doc), "\n") != strings.Count(defaultFile(), "\n") {
		t.Errorf("in the default file: %v, %s", problems, doc)
	}
	if c, _ := read(string(config.SetTheme(doc, "gruvbox"))); c.look.Theme != "gruvbox" {
		t.Errorf("set twice it is %s", c.look.Theme)
	}
}

func writeConfig(t *testing.T, path, text string) {
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
	load := func(name string) (*settings, []config.Problem) {
		return readSettings(local.Dirs{Config: dir}, filepath.Join(dir, name))
	}
	if s, problems := load("config.toml"); len(problems)+len(s.look.Themes) > 0 {
		t.Errorf("nothing is %+v, %v", s, problems)
	}
	writeConfig(t, filepath.Join(dir, "config.toml"), "theme = \"mine\"\n")
	writeConfig(t, filepath.Join(dir, "themes", "mine.toml"), "name = \"other\"\nbase = \"nord-light\"\n")
	writeConfig(t, filepath.Join(dir, "themes", "pale.toml"), "base = \"tandemux-light\"\n[colors]\nstatus_fg = \"#cccccc\"\n")
	writeConfig(t, filepath.Join(dir, "themes", "bad.toml"), "dark = true\n[colors]\nboder = \"1\"\nmuted = \"red\"\n")
	writeConfig(t, filepath.Join(dir, "themes", "worse.toml"), "dark = true\n[colors\n")
	writeConfig(t, filepath.Join(dir, "themes", "a b.toml"), "")
	writeConfig(t, filepath.Join(dir, "themes", "long.toml"), strings.Repeat("#", 64<<10+1))
	writeConfig(t, filepath.Join(dir, "themes", "README"), "")
	c, problems := load("config.toml")
	user := c.look.Themes
	if err := config.Fail(problems); err != nil || c.look.Theme != "mine" || len(user) != 2 || user[0].Name != "mine" || user[0].Dark {
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
	writeConfig(t, filepath.Join(dir, "config.toml"), "theme = \"bad\"\n")
	_, problems = load("config.toml")
	if err := config.Fail(problems); err == nil || !strings.Contains(err.Error(), dir+`/config.toml:1: theme: there is no theme "bad"`) {
		t.Errorf("a theme that can't be read is %v", err)
	}
	if _, problems := load("none"); config.Fail(problems) == nil {
		t.Error("a file that isn't there is fine")
	}
	if _, problems := load("themes"); config.Fail(problems) == nil {
		t.Error("a directory is fine")
	}
}

// FuzzRead: no document breaks the reader, and what it gives can be used.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{defaultFile(), uncommented(defaultFile()), "keys = { a = { b = 1 } }", "[[keys]]\na=1", "keys.\"prefix v\" = \"zoom\"", "a = [{b = 1}]"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		c, problems := read(string(doc))
		for _, p := range problems {
			if p.Line < 0 || p.Line > strings.Count(string(doc), "\n")+1 || p.Text == "" {
				t.Errorf("the problem is %+v", p)
			}
		}
		if _, err := themes.Choose(c.look.Theme, nil); err != nil {
			t.Error(err)
		}
		if _, err := status.Compose(c.look.StatusLeft, c.look.StatusRight); err != nil {
			t.Error(err)
		}
		if config.Fail(problems) == nil && len(doc) < 1<<19 {
			if again, faults := read(string(config.SetTheme(doc, "nord"))); config.Fail(faults) != nil || again.look.Theme != "nord" {
				t.Errorf("with another theme: %v", faults)
			}
		}
	})
}
