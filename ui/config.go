package ui

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"tandemux/internal/config/option"
	"tandemux/keymap"
	"tandemux/themes"
	"tandemux/ui/agents"
	"tandemux/ui/alerts"
	"tandemux/ui/attention"
	"tandemux/ui/clipboard"
	"tandemux/ui/command"
	"tandemux/ui/copying"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/pane"
	"tandemux/ui/recording"
	"tandemux/ui/segments"
	"tandemux/ui/status"
	"tandemux/ui/tty"
)

// Config says what to show and how.
type Config struct {
	// Required.
	Host link.Host
	Sink *link.Sink // the one that the connection feeds

	// Far returns the connections to the other hosts that have names; each feeds its RemoteSink
	// of Sink. They may be down. It is called again when Changes reports a change, and may be
	// nil.
	Far func() []link.Far

	// Person is the principal that the host knows this connection as (TerminalMeta.Principal),
	// such as "operator" on the unix socket. It tells this person's other clients from other
	// people's; empty means unknown until a terminal of this client is listed.
	Person string

	// What.
	Layout string // name of the layout; empty means "main"
	Cwd    string // absolute directory of the first terminal; empty means the host's default

	// How.
	Look
	Desk   Desk
	Engine string   // name of an emulator engine; empty means engine.Default
	Env    []string // the outer terminal's environment (TERM, COLORTERM, LANG, NO_COLOR, HOME); nil means os.Environ()

	// Machine is the name of the machine with the terminals, for the status line.
	Machine string
	// Hint shows the first keys in the status line until the prefix key is pressed. Learnt, which
	// may be nil, is called then.
	Hint   bool
	Learnt func() error

	// Misread is the mistakes in the configuration, one a line; nil for none. If it is not nil,
	// bindings in Look with mistakes are ignored; else they are an error.
	Misread error
	// Reload reads the configuration again, for the command reload-config and whenever Changes
	// reports that it may have changed. Both may be nil.
	Reload  func() (Reloaded, error)
	Changes <-chan struct{}
	// KeepTheme writes the chosen themes into the configuration. It may be nil.
	KeepTheme func(choice string) error

	// Notice is shown once at the start, if it is not empty.
	Notice string

	// Log may be nil.
	Log *slog.Logger
}

// Desk is what the interface has the machine that it runs on do. Each field may be nil.
type Desk struct {
	Texts    copying.Desk       // opens links; edits and saves text
	Clipper  clipboard.Clipper  // sets the clipboard
	Composer agents.Composer    // edits messages in an editor
	Recorder recording.Recorder // records terminals
	Segments segments.Desk      // reports what the status line shows about the machine
}

// Look is the part of the configuration that can change while the interface runs. Its zero value
// is the defaults. Options describes the fields.
type Look struct {
	keymap.Selection
	look.Appearance
	status.Content
	attention.Alerts

	WordSeparators string
	NoCopyOnSelect option.Not
	Hover          bool
	NoCommandMarks option.Not
	StickyCommand  string
	RecordInput    bool
	PredictEcho    string

	ProgramClipboard string

	// Scrollback is the lines of history of terminals without a limit of their own, with the
	// values of emulator.Options.History.
	Scrollback int
}

// Options returns the options, whose values are stored in l.
func (l *Look) Options() []option.Option {
	return slices.Concat(l.Selection.Options(command.Check), l.Appearance.Options(), l.Content.Options(), l.Alerts.Options(), []option.Option{
		{
			Name: "word-separators", Value: &l.WordSeparators,
			Doc: "What parts words besides blanks. Without any, two clicks take a whole path.",
		},
		{
			Name: "copy-on-select", Value: &l.NoCopyOnSelect,
			Doc: "What the mouse selects is copied.",
		},
		{
			Name: "clipboard", Value: option.Default(&l.ProgramClipboard, "focused"), Choices: []string{"focused", "off"},
			Doc: "Which programs may set the clipboard (OSC 52): that of the focused pane, or none.",
		},
		{
			Name: "link-hover", Value: &l.Hover,
			Doc: "Links and the scroll bar show under the mouse.",
		},
		{
			Name: "command-marks", Value: &l.NoCommandMarks,
			Doc: "Marks beside the commands of shells: docs/daily.md.",
		},
		{
			Name: "sticky-command", Value: option.Default(&l.StickyCommand, "scrolled"), Choices: []string{"scrolled", "always", "never"},
			Doc: "When a long output has its command's line on top. \"always\" covers a row of the program.",
		},
		{
			Name: "predict-echo", Value: option.Default(&l.PredictEcho, "auto"), Choices: []string{"auto", "always", "never"},
			Doc: "What you type shows before its echo has come: over far lines, always or never: docs/remote.md.",
		},
		{
			Name: "record-input", Value: &l.RecordInput,
			Doc: "Recordings begun by a key have what you type, passwords too.",
		},
	})
}

type Reloaded struct {
	Look
	Warnings int
	// Later is the options that have changed but apply only to new terminals.
	Later []string
}

// chosen is what the names in a configuration stand for.
type chosen struct {
	keys   keymap.Table
	themes themes.Pair
	line   status.Line
	alerts alerts.Settings
}

// choose resolves the names in the configuration. A name that doesn't exist is an error.
func (c *Config) choose() (ch chosen, err error) {
	if ch.keys, err = c.table(); err != nil {
		return ch, err
	}
	if ch.themes, err = themes.Choose(c.Theme, c.Themes); err != nil {
		return ch, fmt.Errorf("choose theme: %w", err)
	}
	left, right, marks := c.StatusLeft, c.StatusRight, c.Attention
	if left == nil {
		left = status.Left
	}
	if right == nil {
		right = status.Right
	}
	if ch.line, err = status.Compose(left, right); err != nil {
		return ch, fmt.Errorf("compose status line: %w", err)
	}
	if marks == nil {
		marks = attention.Names()
	}
	ch.alerts = alerts.Settings{Long: c.LongCommand, By: tty.Notifier(c.Notifications)}
	if ch.alerts.Marks, err = attention.Choose(marks); err != nil {
		return ch, fmt.Errorf("choose what is marked: %w", err)
	}
	if ch.alerts.Notify, err = attention.Choose(c.Notify); err != nil {
		return ch, fmt.Errorf("choose what is marked: %w", err)
	}
	return ch, nil
}

func (c *Config) table() (keymap.Table, error) {
	t, problems, err := c.Selection.Table(command.Check)
	for _, p := range problems {
		if err == nil && !p.Warn && c.Misread == nil {
			err = fmt.Errorf("bind %s: %s", p.Keys, p.Text)
		}
	}
	return t, err
}

func (c *Config) far() []link.Far {
	if c.Far == nil {
		return nil
	}
	return c.Far()
}

func (c *Config) env() []string {
	if c.Env == nil {
		return os.Environ()
	}
	return c.Env
}

// home returns the user's home directory, "" if it is unknown.
func (c *Config) home() string {
	for _, e := range c.env() {
		if dir, ok := strings.CutPrefix(e, "HOME="); ok {
			return dir
		}
	}
	return ""
}

// stickies is the values of Look.StickyCommand.
var stickies = map[string]pane.Sticky{"": pane.StickyBack, "scrolled": pane.StickyBack, "always": pane.StickyAlways, "never": pane.StickyNever}
