package main

import (
	"errors"
	"path/filepath"
	"strings"
	"time"

	"tandemux/internal/config"
	"tandemux/internal/local"
	"tandemux/themes"
	"tandemux/ui"
)

// settings is what the user's config.toml and the themes beside it say.
type settings struct {
	config.Config
	themes   []themes.Theme
	warnings int
}

// loadSettings reads the configuration; no file is fine. The error has a line for
// each mistake, with its place.
func loadSettings(d local.Dirs) (settings, error) {
	c, user, problems := config.Load(d.Config)
	s := settings{Config: c, themes: user}
	for _, p := range problems {
		if p.Warn {
			s.warnings++
		}
	}
	return s, config.Fail(problems)
}

// look is the interface's part of the settings.
func (s settings) look() ui.Look {
	return ui.Look{
		Keymap: s.Keymap, Prefix: s.Prefix, Keys: s.Keys, CopyKeys: s.CopyKeys, ChatKeys: s.ChatKeys, ReadingKeys: s.ReadingKeys,
		Theme: s.Theme, Themes: s.themes, Colors: s.Colors, Unicode: s.Unicode, Graphics: s.Graphics,
		StatusLeft: s.StatusLeft, StatusRight: s.StatusRight, Clock: s.Clock,
		AltKeys: s.AltKeys, Attention: s.Attention, Notify: s.Notify, Notifications: s.Notifications,
		LongCommand: time.Duration(s.LongCommand) * time.Second,
		ModeKeys:    s.ModeKeys, WordSeparators: s.WordSeparators, NoCopyOnSelect: !s.CopyOnSelect, Hover: s.LinkHover,
		Scrollback: history(s.Scrollback), NoCommandMarks: !s.CommandMarks, StickyCommand: s.StickyCommand, RecordInput: s.RecordInput,
	}
}

// shortly leaves out of what is wrong with the configuration where the files are:
// a line has no room for it.
func shortly(d local.Dirs, err error) error {
	if err == nil {
		return nil
	}
	return errors.New(strings.ReplaceAll(err.Error(), d.Config+string(filepath.Separator), ""))
}

// rereader reads the settings again and says what applies later only.
func rereader(d local.Dirs, now settings) func() (ui.Reloaded, error) {
	return func() (ui.Reloaded, error) {
		next, err := loadSettings(d)
		if err != nil {
			return ui.Reloaded{}, shortly(d, err)
		}
		later := config.Changed(now.Config, next.Config)
		now = next
		return ui.Reloaded{Look: next.look(), Warnings: next.warnings, Later: later}, nil
	}
}
