package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/emulator/engine"
	"tandemux/host/agent/catalog"
	"tandemux/host/guard"
	"tandemux/host/history"
	"tandemux/host/hooks"
	"tandemux/host/listen"
	"tandemux/host/shell"
	"tandemux/host/task/budget"
	"tandemux/host/task/home"
	"tandemux/host/task/queue"
	"tandemux/host/task/store"
	"tandemux/host/web"
	"tandemux/internal/config"
	"tandemux/internal/config/option"
	"tandemux/internal/local"
	"tandemux/internal/resurrect"
	"tandemux/themes"
	"tandemux/ui"
)

// settings is what the user's config.toml and the themes beside it say, by owner.
type settings struct {
	look    ui.Look
	engine  engine.Settings
	shell   shell.Settings
	agents  guard.Settings // what they may do
	catalog catalog.Tables // which there are
	hooks   hooks.Tables
	tasks   queue.Limits // how many work at once
	budgets budget.Defaults
	// database has the tasks' records in place of SQLite's.
	database string
	restart  resurrect.Settings
	history  history.Settings
	listen   listen.Settings
	web      web.Settings
	homes    home.Repositories // what tasks' files come from

	firstRunHint             bool
	openCommand, copyCommand string

	options  []option.Option
	warnings int
}

// defaults are the settings without a file.
func defaults() *settings {
	s := &settings{}
	s.options = slices.Concat(s.look.Options(), []option.Option{
		{
			Name: "first-run-hint", Value: option.Default(&s.firstRunHint, true),
			Doc: "The status line names the first keys until you use the prefix.",
		},
		{
			Name: "open-command", Value: &s.openCommand,
			Doc: "What opens links, such as \"firefox --new-window\"; empty is xdg-open.",
		},
		{
			Name: "copy-command", Value: &s.copyCommand,
			Doc: "What sets the clipboard from its stdin. Empty takes wl-copy, xclip, xsel or pbcopy, else your terminal; \"none\" takes only that.",
		},
		{
			Name: "tasks-at-once", Value: &s.tasks,
			Doc:     "How many tasks may work at once: of an agent by its name, and of all. The others are PENDING.",
			Example: []string{"[tasks-at-once]", "all = 8", "claude = 3"},
		},
		{
			Name: "tasks-database", Value: &s.database, Needs: option.Restart,
			Doc:   "The URL of a PostgreSQL database for the records of tasks, such as \"postgres://me@db.example.org/tandemux\"; its password is in ~/.pgpass. Empty is SQLite: docs/tasks.md.",
			Check: option.Faulty(func() error { return store.CheckURL(s.database) }),
		},
	}, s.shell.Options(), s.engine.Options(), s.restart.Options(), s.history.Options(), s.listen.Options(), s.web.Options(), s.agents.Options(), s.catalog.Options(), s.hooks.Options(), s.homes.Options(), s.budgets.Options())
	s.options = config.Ordered(s.options)
	return s
}

// loadSettings reads the configuration; no file is fine. The error has a line for
// each mistake, with its place.
func loadSettings(d local.Dirs) (*settings, error) {
	s, problems := readSettings(d, filepath.Join(d.Config, config.FileName))
	return s, config.Fail(problems)
}

// readSettings reads a file in place of the configuration, with the themes of that.
func readSettings(d local.Dirs, path string) (*settings, []config.Problem) {
	s := defaults()
	problems := config.Load(path, d.Config, func(user []themes.Theme) []option.Option {
		s.look.Themes = user
		return s.options
	})
	for _, p := range problems {
		if p.Warn {
			s.warnings++
		}
	}
	s.look.Scrollback = s.engine.History()
	return s, problems
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
func rereader(d local.Dirs, now *settings) func() (ui.Reloaded, error) {
	return func() (ui.Reloaded, error) {
		next, err := loadSettings(d)
		if err != nil {
			return ui.Reloaded{}, shortly(d, err)
		}
		later := config.Changed(now.options, next.options)
		now = next
		return ui.Reloaded{Look: next.look, Warnings: next.warnings, Later: later}, nil
	}
}

// playTheme is the theme of the configuration, or the first one.
func playTheme() themes.Theme {
	set, err := loadSettings(local.FindDirs())
	pair, err2 := themes.Choose(set.look.Theme, set.look.Themes)
	if err != nil || err2 != nil {
		pair, _ = themes.Choose("", nil) // what is wrong is for the interface to say
	}
	return pair.For(true)
}
