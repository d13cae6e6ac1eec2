package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"cotty/ui"
)

// settings is the user's config.toml. Absent members mean the defaults.
type settings struct {
	Keymap   string `toml:"keymap"`   // "default", "tmux" or "screen"
	Prefix   string `toml:"prefix"`   // replaces the preset's prefix key
	Theme    string `toml:"theme"`    // a theme's name
	Emulator string `toml:"emulator"` // "native" or "vt10x"
	Shell    string `toml:"shell"`    // absolute path
	// ShellIntegration false starts shells as they are; absent means true.
	ShellIntegration *bool             `toml:"shell-integration"`
	ModeKeys         string            `toml:"mode-keys"`       // "vi" or "emacs"
	WordSeparators   string            `toml:"word-separators"` // characters
	CopyOnSelect     *bool             `toml:"copy-on-select"`  // absent means true
	LinkHover        *bool             `toml:"link-hover"`      // absent means true
	OpenCommand      string            `toml:"open-command"`    // words
	Keys             map[string]string `toml:"keys"`            // chord to command
}

// loadSettings reads config.toml; no file is fine. Unknown keys and bad
// values are errors that name the line.
func loadSettings(d dirs) (settings, error) {
	var s settings
	path := filepath.Join(d.config, "config.toml")
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	dec := toml.NewDecoder(f)
	dec.DisallowUnknownFields()
	err = dec.Decode(&s)
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		row, _ := e.Position()
		return s, fmt.Errorf("%s:%d: there is no option %q", path, row, joinKey(e.Key()))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, _ := decode.Position()
		return s, fmt.Errorf("%s:%d: %w", path, row, decode)
	}
	if err != nil {
		return s, fmt.Errorf("read %s: %w", path, err)
	}
	if s.Shell != "" && !filepath.IsAbs(s.Shell) {
		return s, fmt.Errorf("%s: shell = %q is not an absolute path", path, s.Shell)
	}
	return s, nil
}

// apply puts the interface's part of the settings into c.
func (s settings) apply(c ui.Config) ui.Config {
	c.Keymap, c.Prefix, c.Keys, c.Theme, c.Engine = s.Keymap, s.Prefix, s.Keys, s.Theme, s.Emulator
	c.ModeKeys, c.WordSeparators = s.ModeKeys, s.WordSeparators
	c.NoCopyOnSelect = s.CopyOnSelect != nil && !*s.CopyOnSelect
	c.NoHover = s.LinkHover != nil && !*s.LinkHover
	return c
}

func joinKey(parts toml.Key) string {
	out := ""
	for i, p := range parts {
		if i > 0 {
			out += "."
		}
		out += p
	}
	return out
}
