package command

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tandemux/keymap"
	"tandemux/ui/layout"
)

var update = flag.Bool("update", false, "rewrite docs/keys.md")

// presets gives the tables that ship, the default one first.
func presets(t *testing.T) []keymap.Table {
	t.Helper()
	var tables []keymap.Table
	for _, name := range keymap.Presets() {
		table, ok := keymap.Preset(name)
		if !ok {
			t.Fatalf("there is no preset %s", name)
		}
		tables = append(tables, table)
	}
	return tables
}

func TestRowsAreComplete(t *testing.T) {
	named := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := make(map[string]bool)
	titles := make(map[string]bool)
	for _, c := range All() {
		if !named.MatchString(c.Name) || seen[c.Name] {
			t.Errorf("%q is no good name, or used twice", c.Name)
		}
		if c.Title == "" || strings.HasSuffix(c.Title, ".") || titles[c.Title] {
			t.Errorf("%s: the title is %q", c.Name, c.Title)
		}
		if !strings.HasSuffix(c.Help, ".") || len(c.Help) < 15 || c.Group == "" {
			t.Errorf("%s: help %q, group %q", c.Name, c.Help, c.Group)
		}
		optional := false
		for _, a := range c.Args {
			if optional && !a.Optional || a.Name == "" || a.Kind == Int && a.Min > a.Max || a.Kind == Choice && len(a.Choices) == 0 {
				t.Errorf("%s: an argument is %+v", c.Name, a)
			}
			optional = a.Optional
		}
		seen[c.Name], titles[c.Title] = true, true
		if found, ok := Find(c.Name); !ok || found.Title != c.Title {
			t.Errorf("%s is not found", c.Name)
		}
	}
	for name := range arguments {
		if !seen[name] {
			t.Errorf("arguments are of a command %s that is not there", name)
		}
	}
}

func TestArrangementsAreTheLayoutsPresets(t *testing.T) {
	want := []layout.Preset{layout.EvenHorizontal, layout.EvenVertical, layout.MainHorizontal, layout.MainVertical, layout.Tiled, layout.Stacked}
	if len(want) != len(arrangements) {
		t.Fatalf("%d arrangements, %d presets", len(arrangements), len(want))
	}
	for i, a := range arrangements {
		if a != string(want[i]) || worded["arrange "+a] == "" {
			t.Errorf("arrangement %d is %s, the preset %s", i, a, want[i])
		}
	}
}

func TestPresetsBindExistingCommands(t *testing.T) {
	for _, table := range presets(t) {
		for _, b := range table.Bindings() {
			if err := Check(b.Command, b.Args); err != nil {
				t.Errorf("%s: %s: %v", table.Name, b.Keys, err)
			}
		}
	}
}

// TestPresetsAreComplete checks that a key of the default preset is never lost
// by choosing another one, and that what has no key at all is meant to have none.
func TestPresetsAreComplete(t *testing.T) {
	tables := presets(t)
	byName := []string{"menu", "new-on", "new-stacked", "focus-pane", "rotate", "move-tab", "messages", "pane-info", "arrange", "swap-marked", "new-floating", "popup", "move-to-tab", "choose-theme", "reload-config", "stop", "delete-buffer", "save-buffer", "save-scrollback", "new-session"} // found in the palette
	for _, c := range All() {
		keyed := len(tables[0].For(c.Name)) > 0
		if keyed == slices.Contains(byName, c.Name) {
			t.Errorf("%s has keys in the default preset: %v", c.Name, keyed)
		}
		for _, table := range tables[1:] {
			if keyed && len(table.For(c.Name)) == 0 {
				t.Errorf("%s has no key in the preset %s", c.Name, table.Name)
			}
		}
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		line string
		why  string
	}{
		{"zoom", ""},
		{"go-tab 7", ""},
		{"resize-left", ""},
		{"resize-left 5", ""},
		{"arrange tiled", ""},
		{"rename-tab work", ""},
		{"zom", `did you mean "zoom"`},
		{"split-rigth", `did you mean "split-right"`},
		{"new-window", `there is no command "new-window": it is new-tab here`},
		{"explode", `there is no command "explode"`},
		{"zoom 1", "takes no argument"},
		{"focus-pane", "needs its argument number: a number from 1 to 256"},
		{"go-tab 0", "must be a number from 1 to 64"},
		{"go-tab 65", "must be a number"},
		{"go-tab one", "must be a number"},
		{"go-tab 1 2", "at most 1"},
		{"arrange spiral", "must be one of even-horizontal, "},
		{"rename-tab " + strings.Repeat("x", 300), "must be a text"},
		{strings.Repeat("x", 5000), "there is no command"},
	} {
		words := strings.Fields(c.line)
		err := Check(words[0], words[1:])
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.40s: %v, want %q", c.line, err, c.why)
		}
	}
}

func TestDescribe(t *testing.T) {
	for line, want := range map[string]string{
		"zoom": "Panes: Zoom", "go-tab 7": "Tabs: Go to tab 7", "go-tab": "Tabs: Go to a tab", "arrange tiled": "Panes: Panes tiled",
		"arrange x": "Panes: Arrange panes", "copy-word-back": "Copy mode: Word before", "resize-up 5": "Panes: Resize up by 5", "rotate up": "Panes: Rotate panes up", "switch-layout last": "Layouts: Switch to the last layout", "rename-tab a": `Tabs: Rename tab to "a"`, "nothing": "",
	} {
		words := strings.Fields(line)
		group, text, ok := Describe(words[0], words[1:])
		if got := group + ": " + text; ok != (want != "") || ok && got != want {
			t.Errorf("%s is %q, %v; want %q", line, got, ok, want)
		}
	}
}

// TestNothingWorksWithoutPaneTabOrHost: the zero context leaves only what needs
// none of them.
func TestNothingWorksWithoutPaneTabOrHost(t *testing.T) {
	var left []string
	for _, c := range All() {
		if Why(c.Name, nil, Context{}) == "" {
			left = append(left, c.Name)
		}
	}
	if want := []string{"detach", "palette", "messages", "help", "suspend", "redraw", "choose-theme", "reload-config"}; !slices.Equal(left, want) {
		t.Errorf("still work: %v, want %v", left, want)
	}
}

func TestReasons(t *testing.T) {
	full := Context{
		Connected: true, Buffers: 1, Alerts: true, Asked: true, Chat: true,
		Layout: Layout{
			Layouts: 2, LastLayout: true, Tabs: 3, LastTab: true, Panes: 2, LastPane: true, Left: true, Down: true, Up: true, Right: true,
			RoomRight: true, RoomDown: true, Marked: true, Floating: true, Stacked: true,
		},
		Terminal: Terminal{Holder: Agent, HandBack: true, Linked: true, Shared: true},
		View:     View{Scroll: 5, History: 10, Copying: true, Detects: true, Commands: true, Previous: true, Next: true},
	}
	for _, c := range All() {
		ctx := full
		var args []string
		switch c.Name {
		case "move-floating":
			args = []string{"left"}
		case "go-tab":
			args = []string{"3"}
		case "send-prefix", "hand-back", "paste-buffer", "run-again":
			ctx.Holder = MyOther
		}
		if why := Why(c.Name, args, ctx); why != "" {
			t.Errorf("%s can't run although everything is there: %s", c.Name, why)
		}
	}
	for _, c := range []struct {
		line   string
		change func(*Context)
		why    string
	}{
		{"split-right", func(c *Context) { c.Connected = false }, "the host does not answer"},
		{"split-right", func(c *Context) { c.RoomRight = false }, "this pane is too narrow to split"},
		{"split-down", func(c *Context) { c.RoomDown = false }, "this pane is not high enough to split"},
		{"split-down", func(c *Context) { c.PanesFull = true }, "this tab has as many panes as it can"},
		{"new-tab", func(c *Context) { c.TabsFull = true }, "this layout has as many tabs as it can"},
		{"break-out", func(c *Context) { c.TabsFull = true }, "this layout has as many tabs as it can"},
		{"focus-left", func(c *Context) { c.Left = false }, "no pane to the left"},
		{"focus-right", func(c *Context) { c.Right = false }, "no pane to the right"},
		{"focus-up", func(c *Context) { c.Up = false }, "no pane above"},
		{"focus-down", func(c *Context) { c.Down = false }, "no pane below"},
		{"focus-last", func(c *Context) { c.LastPane = false }, "no other pane was focused before"},
		{"resize-left", func(c *Context) { c.Left, c.Right, c.Floating = false, false, false }, "no pane beside this one"},
		{"resize-up", func(c *Context) { c.Up = false }, ""},
		{"zoom", func(c *Context) { c.Panes = 1 }, "this tab has no other pane"},
		{"close-pane", func(c *Context) { c.Panes = 0 }, "there is no pane"},
		{"move-floating left", func(c *Context) { c.Floating = false }, "this pane does not float"},
		{"join-pane", func(c *Context) { c.Marked = false }, "no other pane is marked"},
		{"move-to-tab 7", func(*Context) {}, "there is no tab 7"},
		{"move-to-tab", func(c *Context) { c.Tabs = 1 }, "there is no other tab"},
		{"type-to-all", func(c *Context) { c.Panes = 1 }, "this tab has no other pane"},
		{"next-tab", func(c *Context) { c.Tabs = 1 }, "there is no other tab"},
		{"last-tab", func(c *Context) { c.LastTab = false }, "no other tab was active before"},
		{"go-tab 7", func(*Context) {}, "there is no tab 7"},
		{"go-tab 0", func(*Context) {}, "there is no tab 0"},
		{"unstack", func(c *Context) { c.Stacked = false }, "this pane is in no stack"},
		{"focus-pane 3", func(*Context) {}, "there is no pane 3"},
		{"move-tab 4", func(*Context) {}, "there is no tab 4"},
		{"move-tab-left", func(c *Context) { c.Tabs = 1 }, "there is no other tab"},
		{"switch-layout next", func(c *Context) { c.Layouts = 1 }, "there is no other layout"},
		{"switch-layout last", func(c *Context) { c.LastLayout = false }, "no other layout was shown before"},
		{"reclaim", func(c *Context) { c.Holder = Me }, "this terminal is already yours"},
		{"reclaim", func(c *Context) { c.Holder = Background }, ""},
		{"reclaim", func(c *Context) { c.Holder = Other }, ""},
		{"reclaim", func(c *Context) { c.Holder = Nobody }, "there is no terminal here"},
		{"reclaim", func(c *Context) { c.Exited = true }, "the program here has ended"},
		{"background", func(c *Context) { c.Holder = Me }, ""},
		{"background", func(c *Context) { c.Exited = true }, "the program here has ended"},
		{"hand-back", func(*Context) {}, "an agent holds this terminal; reclaim it first"},
		{"hand-back", func(c *Context) { c.Holder, c.HandBack = Me, false }, "no session had this terminal before you"},
		{"send-prefix", func(c *Context) { c.Holder = Background }, "a session holds this terminal; reclaim it first"},
		{"send-prefix", func(c *Context) { c.Holder = Other }, "someone else holds this terminal; reclaim it first"},
		{"send-prefix", func(c *Context) { c.Holder = Nobody }, "there is no terminal here"},
		{"scroll-up", func(c *Context) { c.Scroll, c.Copying = 10, false }, "there is nothing above"},
		{"scroll-bottom", func(c *Context) { c.Scroll, c.Copying = 0, false }, "there is nothing below"},
		{"scroll-up", func(c *Context) { c.Scroll = 10 }, ""},
		{"copy-left", func(c *Context) { c.Copying = false }, "copy mode is not on"},
		{"search", func(c *Context) { c.Copying = false }, ""},
		{"copy-exit", func(c *Context) { c.Copying = false }, "copy mode is not on"},
		{"previous-command", func(c *Context) { c.Detects, c.Commands = false, false }, "this shell does not mark its commands"},
		{"copy-output", func(c *Context) { c.Commands = false }, "no command has run here yet"},
		{"copy-output", func(c *Context) { c.FullScreen = true }, "the program here shows its own screen"},
		{"previous-command", func(c *Context) { c.Previous = false }, "there is no command above"},
		{"next-command", func(c *Context) { c.Next = false }, "there is no command below"},
		{"paste-buffer", func(c *Context) { c.Holder, c.Buffers = Me, 0 }, "nothing was copied yet"},
		{"paste-buffer", func(*Context) {}, "an agent holds this terminal; reclaim it first"},
		{"choose-buffer", func(c *Context) { c.Buffers = 0 }, "nothing was copied yet"},
		{"copy-find", func(c *Context) { c.Copying = false }, "copy mode is not on"},
		{"explode", func(*Context) {}, "there is no such command"},
	} {
		words := strings.Fields(c.line)
		ctx := full
		c.change(&ctx)
		if why := Why(words[0], words[1:], ctx); why != c.why {
			t.Errorf("%s: %q, want %q", c.line, why, c.why)
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int
	}{{nil, 4}, {[]string{"7"}, 7}, {[]string{"x"}, 4}} {
		if got := Number(c.args, 0, 4); got != c.want {
			t.Errorf("%v is %d, want %d", c.args, got, c.want)
		}
	}
}

// TestKeysAreDocumented keeps docs/keys.md the same as the tables.
func TestKeysAreDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "keys.md")
	want := markdown(t, presets(t)...)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/keys.md is not up to date; run: go test ./ui/command -run Documented -update")
	}
	for _, c := range All() {
		if !strings.Contains(want, "`"+c.Name+"`") && !strings.Contains(want, "`"+c.Name+" ") {
			t.Errorf("%s is not documented", c.Name)
		}
	}
}

var (
	keyTables = regexp.MustCompile(`(?s)(<!-- keys: ([a-z -]+) -->\n).*?(<!-- end -->)`)
	keyAlone  = regexp.MustCompile(`↻| \([a-z0-9 ]+\)`) // what stands behind a key
)

// TestDailyKeysAreDocumented keeps the keys of docs/daily.md, which are the default
// preset's, the same as the tables.
func TestDailyKeysAreDocumented(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "daily.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keys := bound("", presets(t)[0], keymap.Normal)
	want := keyTables.ReplaceAllStringFunc(string(page), func(all string) string {
		m := keyTables.FindStringSubmatch(all)
		out := m[1] + "key | does\n---|---\n"
		for _, name := range strings.Fields(m[2]) {
			c, ok := Find(name)
			if !ok || len(keys.keys(c)) == 0 {
				t.Errorf("%s has no key", name)
			}
			out += keyAlone.ReplaceAllString(strings.Join(keys.keys(c), " "), "") + " | " + c.Title + "\n"
		}
		return out + m[3]
	})
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatal("docs/daily.md has other keys; run: go test ./ui/command -run Documented -update")
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestKeysOnPages: other pages have the default preset's keys. In braces stand a command
// and the key's table, if it is not the one after the prefix.
func TestKeysOnPages(t *testing.T) {
	preset := presets(t)[0]
	tables := map[string]column{
		"": bound("", preset, keymap.Normal), "prompt": bound("", preset, keymap.Chat), "transcript": bound("", preset, keymap.Reading),
	}
	for page, sentences := range map[string][]string{
		"README.md": {
			"| `{split-right}` `{split-down}` | split right, down | `{detach}` | detach",
			"arrows, `{focus-left}{focus-down}{focus-up}{focus-right}` | focus | `{reclaim}` `{hand-back}` | take this terminal, hand it back",
			"| `{new-tab}` `{next-tab}` `{previous-tab}` `1`–`9` | tabs | `{background}` | send it to the background",
			"| `{zoom}` `{close-pane}` | zoom, close | `{terminals}` `{agents}` | all terminals, all agents",
		},
		"docs/agents.md": {
			"| `{chat-send prompt}` | send; while it works: queue. `{chat-unqueue prompt}` takes",
			"| `{chat-steer prompt}` | tell it now",
			"| `{chat-escape prompt}` twice | cancel",
			"| `{chat-tab prompt}` | read: `{chat-next transcript}` `{chat-previous transcript}` move, `{chat-fold transcript}` folds, `{copy-selection transcript}` copies, `{chat-terminal transcript}` opens a terminal, `{chat-retry transcript}` tries again",
			"| `{chat-mode prompt}` `{chat-model prompt}` `{chat-options prompt}` | mode, model, all settings",
			"| `{chat-plan prompt}` `{fold-output prompt}` | plan, details",
			"| `{answer-agent}` | answer what waits", "| `{next-alert}` | go to what waits", "| `{open-chat}` | from an agent's",
			"| `{reclaim}` `{background}` | take its terminal; send it to the background",
		},
		"docs/tasks.md":    {"`ctrl+space {agents}` lists tasks"},
		"docs/glossary.md": {"`ctrl+space {reclaim}` takes it, `ctrl+space {hand-back}` hands it back"},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sentences {
			want := regexp.MustCompile(`\{[^}]+\}`).ReplaceAllStringFunc(s, func(all string) string {
				name, table, _ := strings.Cut(strings.Trim(all, "{}"), " ")
				c, _ := Find(name)
				keys := tables[table].keys(c)
				if len(keys) == 0 {
					t.Fatalf("%s has no key", all)
				}
				return strings.Trim(keyAlone.ReplaceAllString(keys[0], ""), "`")
			})
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not say %q", page, want)
			}
		}
	}
}

// TestHelpFits: what a command does is read whole in the palette of a terminal of 80
// columns.
func TestHelpFits(t *testing.T) {
	for _, c := range All() {
		if len(c.Help) > 70 || !strings.HasSuffix(c.Help, ".") {
			t.Errorf("%s: %q has %d letters", c.Name, c.Help, len(c.Help))
		}
	}
}
