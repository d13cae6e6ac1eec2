package ui

import (
	"fmt"
	"log/slog"
	"os"
	"strings"

	"cotty/keymap"
	"cotty/themes"
	"cotty/ui/command"
)

// Config says what to show and how.
type Config struct {
	// Required.
	Host Host
	Sink *Sink // the one that the connection feeds

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
	Keymap string            // name of a keymap preset; empty means "default"
	Prefix string            // replaces the preset's prefix key
	Keys   map[string]string // the user's bindings: chord to "command [args]", or "" to unbind
	Theme  string            // name of a theme; empty means the default one
	Engine string            // name of an emulator engine; empty means engine.Default
	// ModeKeys are copy mode's keys: "vi", which empty means, or "emacs".
	ModeKeys string
	// WordSeparators are the characters that part words besides blanks, in copy
	// mode and for double clicks; empty means vi's words there and whole paths
	// and addresses here.
	WordSeparators string
	// NoCopyOnSelect leaves what the mouse selects to copy-selection.
	NoCopyOnSelect bool
	// NoHover asks the outer terminal for the mouse's moves only where a program
	// wants them: links are not underlined and the scroll bar not shown before a
	// click.
	NoHover bool
	// Desk opens links and edits and saves text; it may be nil.
	Desk Desk

	Env []string // the outer terminal's environment (TERM, COLORTERM, LANG, NO_COLOR, HOME); nil means os.Environ()

	// Reload reads the configuration again for the command reload-config; of
	// what it gives the keys, the theme and what the mouse does count. It may be nil.
	Reload func() (Config, error)

	// Log may be nil.
	Log *slog.Logger
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
	t, problems := t.Override(keymap.Normal, c.Keys, command.Check)
	for _, p := range problems {
		if !p.Warn {
			return t, fmt.Errorf("bind %s: %s", p.Keys, p.Text)
		}
	}
	return t, nil
}

// theme finds the theme.
func (c *Config) theme() (themes.Theme, error) {
	name := c.Theme
	if name == "" {
		if names := themes.Names(); len(names) > 0 {
			name = names[0]
		}
	}
	t, ok := themes.Find(name)
	if !ok && c.Theme != "" {
		return t, fmt.Errorf("choose theme: there is no theme %q: use one of %s", c.Theme, strings.Join(themes.Names(), ", "))
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
