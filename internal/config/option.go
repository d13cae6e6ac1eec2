package config

import (
	"fmt"
	"slices"
	"strings"

	"tandemux/emulator"
	"tandemux/host/guard"
	"tandemux/keymap"
	"tandemux/themes"
	"tandemux/ui/attention"
	"tandemux/ui/status"
)

// Option is a row of the table.
type Option struct {
	Name     string
	Kind     Kind
	Default  string   // as TOML
	Choices  []string // of a Choice, or of what a List may hold
	Min, Max int      // of an Int, both inclusive
	Doc      string   // sentences, for the file and the documentation
	Needs    Needs
	Example  []string // lines of a Table or of Tables

	// put checks a value of the option's kind and sets it.
	put func(*Config, value) error
	// get gives what is set, to tell two configurations apart.
	get func(*Config) string
}

// Kind is an option's type.
type Kind uint8

// The kinds.
const (
	Text   Kind = iota
	Bool        // true or false
	Choice      // one of Choices
	List        // of texts
	Int         // a whole number
	Table       // from text to text
	Tables      // of several members, each with a name
)

// Needs is what a change of an option needs to take effect.
type Needs uint8

// The needs.
const (
	// Nothing: it takes effect when the file is saved.
	Nothing Needs = iota
	// NewTerminal: it applies to terminals that are created from then on.
	NewTerminal
	// Restart: it is read when tandemux starts.
	Restart
)

var needNames = [...]string{Nothing: "at once", NewTerminal: "in new terminals", Restart: "at the next start of tandemux"}

// Config is a configuration. Members are never empty where the default is not.
type Config struct {
	// RestoreCommands are the programs that are run again after a restart of the
	// machine.
	RestoreCommands []string
	// Scrollback is how many lines terminals keep.
	Scrollback int
	// HistoryOnDisk keeps what terminals show on disk, of all together at most
	// HistoryOnDiskLimit MiB.
	HistoryOnDisk      bool
	HistoryOnDiskLimit int

	Keymap, Prefix   string
	Theme            string
	Colors, Unicode  string
	Graphics         string
	StatusLeft       []string
	StatusRight      []string
	Clock            string
	FirstRunHint     bool
	ModeKeys         string
	WordSeparators   string
	CopyOnSelect     bool
	LinkHover        bool
	CommandMarks     bool
	StickyCommand    string
	RecordInput      bool
	OpenCommand      string
	CopyCommand      string
	Shell, Emulator  string
	ShellIntegration bool
	AltKeys          bool
	Attention        []string
	LongCommand      int // seconds
	Notify           []string
	Notifications    string
	Keys, CopyKeys   map[string]string

	ChatKeys, ReadingKeys map[string]string

	AgentSpawns, AgentTerminals, AgentCalls int
	AgentIdle                               int // seconds
	AgentBlocked, AgentPatterns             []string

	Agents map[string]Agent
}

// value is a value of the file: the member of the option's kind counts.
type value struct {
	text   string
	is     bool
	n      int
	list   []string
	table  map[string]string
	agents map[string]Agent
}

var options = []Option{
	{
		Name: "keymap", Kind: Choice, Default: `"default"`, Choices: keymap.Presets(),
		Doc: "The preset of keys: tandemux's own, or those of tmux or screen. docs/keys.md has them all.",
		put: func(c *Config, v value) error { c.Keymap = v.text; return nil },
		get: func(c *Config) string { return c.Keymap },
	},
	{
		Name: "prefix", Kind: Text, Default: `""`,
		Doc: `The prefix key in place of the preset's, such as "ctrl+a". Pressed twice it goes to the program.`,
		put: putPrefix,
		get: func(c *Config) string { return c.Prefix },
	},
	{
		Name: "theme", Kind: Text, Default: `"auto"`,
		Doc: `The colours: "auto" is tandemux's own, dark or light as your terminal is, also while it changes. ` +
			`A family such as "nord" follows your terminal, a theme such as "nord-dark" does not, ` +
			`"dark:nord-dark,light:gruvbox-light" names one for each, and "terminal" uses your terminal's own sixteen colours. ` +
			`Your own themes are files in the directory themes beside this file. The command choose-theme shows them all.`,
		put: func(c *Config, v value) error { c.Theme = v.text; return nil }, // checked where the user's themes are known
		get: func(c *Config) string { return c.Theme },
	},
	{
		Name: "colors", Kind: Choice, Default: `"auto"`, Choices: []string{"auto", "none", "16", "256", "true"},
		Doc: `How many colours your terminal has, when what it says of itself ("auto") is wrong. ` +
			`With 16 the theme "terminal" stands in for others; NO_COLOR in the environment is "none".`,
		put: func(c *Config, v value) error { c.Colors = v.text; return nil },
		get: func(c *Config) string { return c.Colors },
	},
	{
		Name: "unicode", Kind: Choice, Default: `"auto"`, Choices: []string{"auto", "on", "off"},
		Doc: `Whether lines and marks may be other characters than ASCII; "auto" is as the locale says (LC_ALL, LC_CTYPE, LANG).`,
		put: func(c *Config, v value) error { c.Unicode = v.text; return nil },
		get: func(c *Config) string { return c.Unicode },
	},
	{
		Name: "graphics", Kind: Choice, Default: `"auto"`, Choices: []string{"auto", "cells", "placed", "off"},
		Doc: `How pictures of the kitty graphics protocol show: "auto" is as the terminal says, "cells" by characters that stand for them ` +
			`(kitty since 0.28, Ghostty), "placed" over blank cells (WezTerm, Konsole), "off" as boxes.`,
		put: func(c *Config, v value) error { c.Graphics = v.text; return nil },
		get: func(c *Config) string { return c.Graphics },
	},
	{
		Name: "status-left", Kind: List, Default: tomlList(status.Left),
		Doc: `What the status line shows on the left: segments by name, in order. "a|b" shows the first of them that has something to say.`,
		put: func(c *Config, v value) error {
			c.StatusLeft = v.list
			_, err := status.Compose(v.list, nil)
			return err
		},
		get: func(c *Config) string { return tomlList(c.StatusLeft) },
	},
	{
		Name: "status-right", Kind: List, Default: tomlList(status.Right),
		Doc: `What it shows on the right, such as ["command", "claim", "cwd", "time"].`,
		put: func(c *Config, v value) error {
			c.StatusRight = v.list
			_, err := status.Compose(nil, v.list)
			return err
		},
		get: func(c *Config) string { return tomlList(c.StatusRight) },
	},
	{
		Name: "clock", Kind: Choice, Default: `"24h"`, Choices: []string{"24h", "12h"},
		Doc: "How the segment time writes the time of day.",
		put: func(c *Config, v value) error { c.Clock = v.text; return nil },
		get: func(c *Config) string { return c.Clock },
	},
	{
		Name: "first-run-hint", Kind: Bool, Default: "true",
		Doc: "Whether the status line names the first keys until you have used the prefix key once.",
		put: func(c *Config, v value) error { c.FirstRunHint = v.is; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.FirstRunHint) },
	},
	{
		Name: "attention", Kind: List, Default: tomlList(attention.Names()), Choices: attention.Names(),
		Doc: "What marks a tab, a terminal of the list and the status line while you look elsewhere: " + attention.Doc() + ".",
		put: func(c *Config, v value) error { c.Attention = v.list; return nil },
		get: func(c *Config) string { return tomlList(c.Attention) },
	},
	{
		Name: "long-command", Kind: Int, Default: "10", Min: 0, Max: 86400,
		Doc: "How many seconds a command has to take for its end to be worth a mark; 0 is never.",
		put: func(c *Config, v value) error { c.LongCommand = v.n; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.LongCommand) },
	},
	{
		Name: "notify", Kind: List, Default: tomlList(notify), Choices: attention.Names(),
		Doc: "What your terminal also shows as a notification while you look elsewhere, by the names of attention.",
		put: func(c *Config, v value) error { c.Notify = v.list; return nil },
		get: func(c *Config) string { return tomlList(c.Notify) },
	},
	{
		Name: "notifications", Kind: Choice, Default: `"auto"`, Choices: []string{"auto", "off", "osc9", "osc99", "osc777"},
		Doc: "How your terminal is told of a notification: as it says of itself what it has (\"auto\"), not at all, or by that sequence.",
		put: func(c *Config, v value) error { c.Notifications = v.text; return nil },
		get: func(c *Config) string { return c.Notifications },
	},
	{
		Name: "alt-keys", Kind: Bool, Default: "false",
		Doc: "Whether a set of keys with alt works without the prefix, such as alt+left to go to the pane on the left. docs/keys.md has them; " +
			"programs don't get these keys then.",
		put: func(c *Config, v value) error { c.AltKeys = v.is; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.AltKeys) },
	},
	{
		Name: "mode-keys", Kind: Choice, Default: `"vi"`, Choices: keymap.ModeKeys(),
		Doc: "The keys of copy mode. docs/keys.md has them all.",
		put: func(c *Config, v value) error { c.ModeKeys = v.text; return nil },
		get: func(c *Config) string { return c.ModeKeys },
	},
	{
		Name: "word-separators", Kind: Text, Default: `""`,
		Doc: "The characters that part words besides blanks, for two clicks and in copy mode. " +
			"Empty means that two clicks take a path or an address whole, and copy mode has vi's words.",
		put: func(c *Config, v value) error { c.WordSeparators = v.text; return nil },
		get: func(c *Config) string { return c.WordSeparators },
	},
	{
		Name: "copy-on-select", Kind: Bool, Default: "true",
		Doc: "Whether what the mouse selects is copied when the button is released; else the command copy-selection does it.",
		put: func(c *Config, v value) error { c.CopyOnSelect = v.is; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.CopyOnSelect) },
	},
	{
		Name: "link-hover", Kind: Bool, Default: "false",
		Doc: "Whether links are underlined under the mouse while ctrl is held, and the scroll bar shows where the mouse is on it. " +
			"It makes your terminal tell of every move of the mouse, over ssh too; without it a click with ctrl opens a link, and the scroll bar shows once you have scrolled.",
		put: func(c *Config, v value) error { c.LinkHover = v.is; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.LinkHover) },
	},
	{
		Name: "command-marks", Kind: Bool, Default: "true",
		Doc: "Whether the commands of shells are marked: running, passed, failed with its code, and how long it took. docs/commands.md says where.",
		put: func(c *Config, v value) error { c.CommandMarks = v.is; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.CommandMarks) },
	},
	{
		Name: "sticky-command", Kind: Choice, Default: `"scrolled"`, Choices: []string{"scrolled", "always", "never"},
		Doc: "When the line of the command whose output fills a pane stays on top of it: while the pane is scrolled back, " +
			"always, which covers a row of what the program shows, or never.",
		put: func(c *Config, v value) error { c.StickyCommand = v.text; return nil },
		get: func(c *Config) string { return c.StickyCommand },
	},
	{
		Name: "record-input", Kind: Bool, Default: "false",
		Doc: "Whether recordings that you start in the interface have what you type in them, passwords too.",
		put: func(c *Config, v value) error { c.RecordInput = v.is; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.RecordInput) },
	},
	{
		Name: "open-command", Kind: Text, Default: `""`,
		Doc: "The command that opens links: words parted by blanks, the link comes behind them. Empty means the desktop's (xdg-open).",
		put: func(c *Config, v value) error { c.OpenCommand = v.text; return nil },
		get: func(c *Config) string { return c.OpenCommand },
	},
	{
		Name: "copy-command", Kind: Text, Default: `""`,
		Doc: "The command that sets the clipboard of the machine that the interface runs on: words parted by blanks, what is copied comes on its stdin. Empty takes wl-copy, xclip, xsel or pbcopy, where one is there and has a clipboard to set; \"none\" leaves it to your terminal (OSC 52), as happens where there is none.",
		put: func(c *Config, v value) error { c.CopyCommand = v.text; return nil },
		get: func(c *Config) string { return c.CopyCommand },
	},
	{
		Name: "shell", Kind: Text, Default: `""`, Needs: NewTerminal,
		Doc: "The shell as an absolute path; empty is $SHELL, or the one in the password file.",
		put: putShell,
		get: func(c *Config) string { return c.Shell },
	},
	{
		Name: "shell-integration", Kind: Bool, Default: "true", Needs: NewTerminal,
		Doc: "Whether shells are started so that they mark their commands: that is what shows whether a command passed and how long it took.",
		put: func(c *Config, v value) error { c.ShellIntegration = v.is; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.ShellIntegration) },
	},
	{
		Name: "scrollback", Kind: Int, Default: "10000", Min: 0, Max: emulator.MaxHistory,
		Doc: "How many lines that have scrolled off each terminal keeps; a line that is wrapped counts once. " +
			"Memory is bounded as well, at 64 MiB a terminal for up to 131,072 lines and 512 bytes a line beyond. " +
			"`tandemux new --scrollback N` is for one terminal.",
		put: func(c *Config, v value) error { c.Scrollback = v.n; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.Scrollback) },
	},
	{
		Name: "restore-commands", Kind: List, Default: `[]`,
		Doc: "Programs that are run again when layouts come back after a restart of the machine, such as [\"vim\", \"htop\"]. " +
			"Without it shells start in the directories that they were in, and nothing is run.",
		put: func(c *Config, v value) error { c.RestoreCommands = v.list; return nil },
		get: func(c *Config) string { return tomlList(c.RestoreCommands) },
	},
	{
		Name: "history-on-disk", Kind: Bool, Default: "false",
		Doc: "Whether what the terminals of your layouts show is kept on disk, as text that only you can read, to come back after a restart of the machine. " +
			"Passwords that a program has shown are in it. false removes what was kept, `tandemux forget` a terminal's.",
		put: func(c *Config, v value) error { c.HistoryOnDisk = v.is; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.HistoryOnDisk) },
	},
	{
		Name: "history-on-disk-limit", Kind: Int, Default: "64", Min: 1, Max: 4096,
		Doc: "How many MiB of it are kept in all; what was written longest ago goes first.",
		put: func(c *Config, v value) error { c.HistoryOnDiskLimit = v.n; return nil },
		get: func(c *Config) string { return fmt.Sprint(c.HistoryOnDiskLimit) },
	},
	{
		Name: "emulator", Kind: Choice, Default: `"native"`, Choices: []string{"native", "vt10x"}, Needs: NewTerminal,
		Doc: "The terminal emulator.",
		put: func(c *Config, v value) error { c.Emulator = v.text; return nil },
		get: func(c *Config) string { return c.Emulator },
	},
	{
		Name: "keys", Kind: Table,
		Doc: `Your bindings: from keys to a command with its arguments, or "" to unbind. ` +
			`The word prefix stands for the prefix key. docs/keys.md has the commands.`,
		Example: []string{`"prefix v" = "split-right"`, `"prefix ctrl+l" = "redraw"`, `"alt+enter" = "new-tab"`, `"prefix x" = ""`},
		put:     func(c *Config, v value) error { c.Keys = v.table; return nil },
		get:     func(c *Config) string { return tomlTable(c.Keys) },
	},
	{
		Name: "copy-keys", Kind: Table,
		Doc:     "Your bindings in copy mode, which need no prefix.",
		Example: []string{`"ctrl+j" = "copy-yank"`},
		put:     func(c *Config, v value) error { c.CopyKeys = v.table; return nil },
		get:     func(c *Config) string { return tomlTable(c.CopyKeys) },
	},
	{
		Name: "chat-keys", Kind: Table,
		Doc:     "Your bindings in the prompt of a chat, which need no prefix.",
		Example: []string{`"ctrl+x" = "chat-steer"`},
		put:     func(c *Config, v value) error { c.ChatKeys = v.table; return nil },
		get:     func(c *Config) string { return tomlTable(c.ChatKeys) },
	},
	{
		Name: "reading-keys", Kind: Table,
		Doc:     "Your bindings in the transcript of a chat, which need no prefix.",
		Example: []string{`"x" = "chat-fold"`},
		put:     func(c *Config, v value) error { c.ReadingKeys = v.table; return nil },
		get:     func(c *Config) string { return tomlTable(c.ReadingKeys) },
	},
}

// notify is what is forwarded unless the file says otherwise: what programs ask
// for themselves.
var notify = []string{"note"}

// Default gives the configuration without a file.
func Default() Config {
	return Config{
		HistoryOnDiskLimit: 64, Scrollback: emulator.DefaultHistory,

		Keymap: keymap.Presets()[0], Theme: themes.Auto, Colors: "auto", Unicode: "auto", Graphics: "auto",
		StatusLeft: slices.Clone(status.Left), StatusRight: slices.Clone(status.Right), Clock: "24h",
		FirstRunHint: true, ShellIntegration: true, Emulator: "native",
		ModeKeys: keymap.ModeKeys()[0], CopyOnSelect: true, CommandMarks: true, StickyCommand: "scrolled",
		Attention: attention.Names(), LongCommand: 10, Notify: slices.Clone(notify), Notifications: "auto",
		AgentSpawns: 3, AgentTerminals: 5, AgentCalls: 20, AgentIdle: 300,
		AgentBlocked: guard.Default().Commands, AgentPatterns: guard.PatternNames(),
	}
}

// Changed gives the names of the options that differ between two configurations
// and need new terminals to take effect.
func Changed(a, b Config) []string {
	var names []string
	for _, o := range options {
		if o.Needs == NewTerminal && o.get(&a) != o.get(&b) {
			names = append(names, o.Name)
		}
	}
	return names
}

func putPrefix(c *Config, v value) error {
	c.Prefix = v.text
	if v.text == "" {
		return nil
	}
	k, err := keymap.Parse(v.text)
	if err != nil {
		return err
	}
	return keymap.CheckPrefix(k)
}

func putShell(c *Config, v value) error {
	c.Shell = v.text
	if v.text != "" && !strings.HasPrefix(v.text, "/") || strings.ContainsRune(v.text, 0) {
		return fmt.Errorf("%q is not an absolute path", v.text)
	}
	return nil
}

func tomlList(list []string) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = fmt.Sprintf("%q", s)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func tomlTable(m map[string]string) string {
	lines := make([]string, 0, len(m))
	for k, v := range m {
		lines = append(lines, fmt.Sprintf("%q = %q\n", k, v))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
