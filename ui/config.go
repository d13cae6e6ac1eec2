package ui

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"tandemux/keymap"
	"tandemux/themes"
	"tandemux/ui/agents"
	"tandemux/ui/alerts"
	"tandemux/ui/attention"
	"tandemux/ui/clipboard"
	"tandemux/ui/command"
	"tandemux/ui/copying"
	"tandemux/ui/link"
	"tandemux/ui/recording"
	"tandemux/ui/status"
	"tandemux/ui/tty"
)

// Config says what to show and how.
type Config struct {
	// Required.
	Host link.Host
	Sink *link.Sink // the one that the connection feeds

	// Person is the principal that the host knows this connection as
	// (TerminalMeta.Principal), such as "operator" on the unix socket. It tells
	// this person's other clients from other people's; empty means unknown until
	// a terminal of this client's is listed.
	Person string

	// What.
	Layout  string   // name of the layout; empty means "main"
	Cwd     string   // absolute directory of the first terminal; empty means the host's default
	Command []string // argv of the first terminal of an empty layout; empty means the user's shell

	// How.
	Look
	Desk   Desk
	Engine string   // name of an emulator engine; empty means engine.Default
	Env    []string // the outer terminal's environment (TERM, COLORTERM, LANG, NO_COLOR, HOME); nil means os.Environ()

	// Machine is what the status line calls the machine that the terminals run
	// on.
	Machine string
	// Hint names the first keys in the status line until the prefix key is
	// pressed; then Learnt, which may be nil, is called.
	Hint   bool
	Learnt func() error

	// Misread, if not nil, is what was wrong with the configuration, a line for each
	// mistake. Bindings in Look with mistakes are left out then; else they are an
	// error.
	Misread error
	// Reload reads the configuration again, for the command reload-config and
	// when Changes says that it may be another one. Both may be nil.
	Reload  func() (Reloaded, error)
	Changes <-chan struct{}
	// KeepTheme writes a choice of themes into the configuration. It may be nil.
	KeepTheme func(choice string) error

	// Notice is said once at the start; empty is nothing.
	Notice string

	// Log may be nil.
	Log *slog.Logger
}

// Desk is what the machine that the interface runs on does for it. Each may be nil.
type Desk struct {
	Texts    copying.Desk       // opens links, and edits and saves text
	Clipper  clipboard.Clipper  // sets the clipboard
	Composer agents.Composer    // has messages edited
	Recorder recording.Recorder // records terminals
}

// Look is the part of the configuration that can change while the interface
// runs. The zero value is the defaults.
type Look struct {
	Keymap   string            // name of a keymap preset; empty means the first one
	Prefix   string            // replaces the preset's prefix key
	Keys     map[string]string // the user's bindings: chord to "command [args]", or "" to unbind
	CopyKeys map[string]string // those in copy mode
	// ChatKeys are those in the prompt of a chat, ReadingKeys those in its
	// transcript.
	ChatKeys, ReadingKeys map[string]string
	AltKeys               bool // those with alt work without the prefix
	// ModeKeys are copy mode's keys: "vi", which empty means, or "emacs".
	ModeKeys string

	// WordSeparators are the characters that part words besides blanks, in copy
	// mode and for double clicks; empty means vi's words there and whole paths
	// and addresses here.
	WordSeparators string
	// NoCopyOnSelect leaves what the mouse selects to copy-selection.
	NoCopyOnSelect bool
	// Hover asks the outer terminal for the mouse's moves also where no program
	// wants them: links are underlined and the scroll bar shows before a click.
	Hover bool

	// Scrollback is how many lines terminals keep for which nothing else was asked,
	// as emulator.Options.History has it.
	Scrollback int
	// NoCommandMarks leaves commands unmarked. StickyCommand is when the line of
	// the command whose output fills a pane stays on top: "scrolled", which empty
	// means, "always" or "never".
	NoCommandMarks bool
	StickyCommand  string
	// RecordInput puts what is typed into recordings.
	RecordInput bool

	Theme  string         // a choice of themes (themes.Choose)
	Themes []themes.Theme // the user's own

	// Attention are the kinds of alerts that are marked (attention.Names), nil for
	// all; Notify those that the outer terminal is told of by Notifications
	// (tty.Notifier), "" as it says itself.
	Attention, Notify []string
	Notifications     string
	LongCommand       time.Duration // a command's end is an alert from here on; 0 is never

	// Graphics is how pictures show (tty.Pictures), "" as the outer terminal says.
	Graphics string
	Colors   string // "none", "16", "256" or "true"; else as many as the outer terminal has
	Unicode  string // "on" or "off"; else as the locale says

	StatusLeft, StatusRight []string // segments (status.Compose); nil means the default ones
	Clock                   string   // "24h" or "12h"; empty means "24h"
}

// Reloaded is what Config.Reload gives.
type Reloaded struct {
	Look
	Warnings int
	// Later are the options that are others than before and apply to new
	// terminals only.
	Later []string
}

// chosen is what follows from a configuration.
type chosen struct {
	keys   keymap.Table
	themes themes.Pair
	line   status.Line
	alerts alerts.Settings
}

// choose finds what the configuration names; what does not exist is an error.
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

// table makes the binding table.
func (c *Config) table() (keymap.Table, error) {
	name := c.Keymap
	if name == "" {
		name = keymap.Presets()[0]
	}
	t, ok := keymap.Preset(name)
	if !ok {
		return t, fmt.Errorf("choose keymap: there is no preset %q: use one of %s", name, strings.Join(keymap.Presets(), ", "))
	}
	t, ok = t.WithModeKeys(c.ModeKeys)
	if !ok {
		return t, fmt.Errorf("choose copy mode's keys: there are no %q ones: use one of %s", c.ModeKeys, strings.Join(keymap.ModeKeys(), ", "))
	}
	if c.Prefix != "" {
		k, err := keymap.Parse(c.Prefix)
		if err != nil {
			return t, fmt.Errorf("choose prefix: %w", err)
		}
		if err := keymap.CheckPrefix(k); err != nil {
			return t, fmt.Errorf("choose prefix: %w", err)
		}
		t = t.WithPrefix(k)
	}
	if c.AltKeys {
		t = t.WithAlt()
	}
	t, problems := t.Override(keymap.Normal, c.Keys, command.Check)
	for mode, keys := range map[keymap.Mode]map[string]string{keymap.Copy: c.CopyKeys, keymap.Chat: c.ChatKeys, keymap.Reading: c.ReadingKeys} {
		var more []keymap.Problem
		t, more = t.Override(mode, keys, command.Check)
		problems = append(problems, more...)
	}
	for _, p := range problems {
		if !p.Warn && c.Misread == nil {
			return t, fmt.Errorf("bind %s: %s", p.Keys, p.Text)
		}
	}
	return t, nil
}

func (c *Config) env() []string {
	if c.Env == nil {
		return os.Environ()
	}
	return c.Env
}

// home is the user's home directory, "" when unknown.
func (c *Config) home() string {
	for _, e := range c.env() {
		if dir, ok := strings.CutPrefix(e, "HOME="); ok {
			return dir
		}
	}
	return ""
}
