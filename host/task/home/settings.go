package home

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandemux/host/workspace"
	"tandemux/internal/config/option"
)

// Repository is a table [repositories.NAME] of the configuration, the settings for tasks whose files
// come from a directory. They are not in the directory because an agent can change files there.
type Repository struct {
	Dir string // absolute
	// Check is a shell command that must succeed in a task before its work is taken home; empty for
	// none.
	Check string
	// CheckTime bounds Check and Setup; 0 means DefaultTime.
	CheckTime time.Duration
	// Setup is a shell command that runs in a new task before its agent starts; empty for none.
	Setup string
	// Carry are globs of ignored files that are copied into a new worktree.
	Carry []string
}

const (
	// DefaultTime is how long a check or a setup may take, maxCheckTime the highest value of the
	// setting.
	DefaultTime  = 10 * time.Minute
	maxCheckTime = 24 * time.Hour
	// maxCommand bounds Check and Setup, in bytes.
	maxCommand = 8 << 10
	// maxCarry bounds the number of globs in Carry.
	maxCarry = 100
)

// Repositories has the configured repositories by name. It is the value of an option.
type Repositories map[string]Repository

// Options returns the options whose values are stored in r.
func (r *Repositories) Options() []option.Option {
	return []option.Option{{
		Name: "repositories", Value: r,
		Doc: `What holds for tasks of a directory: docs/files.md.`,
		Example: []string{
			"[repositories.app]", `dir = "~/src/app"`,
			`check = "make test"   # must succeed in a task's sandbox before its work is merged or pushed`,
			"check-timeout = 600   # seconds; for setup, too",
			`setup = "npm ci"   # runs in a new task's sandbox, before its agent`,
			`carry = ["node_modules", ".env*"]   # ignored files that a new worktree gets copies of`,
		},
	}}
}

var tables = option.Named[Repository]{
	Option: "repositories", Such: "[repositories.app]", What: "a repository",
	Members: []string{"dir", "check", "check-timeout", "setup", "carry"}, Set: (*Repository).set,
	Check: func(r *Repository) error {
		if r.Dir == "" {
			return errors.New(`has no dir: say which directory it is about, such as dir = "~/src/app"`)
		}
		return nil
	},
}

// Set implements option.Tables.
func (r *Repositories) Set(raw any) (path []string, err error) {
	return tables.Read((*map[string]Repository)(r), raw)
}

func (r *Repository) set(name string, raw any) error {
	text, isText := raw.(string)
	switch name {
	case "dir":
		if rest, ok := strings.CutPrefix(text, "~/"); ok {
			if home, err := os.UserHomeDir(); err == nil {
				text = filepath.Join(home, rest)
			}
		}
		if !isText || !filepath.IsAbs(text) || strings.ContainsRune(text, 0) {
			return errors.New(`must be a directory's path in quotes that begins with / or ~/`)
		}
		r.Dir = filepath.Clean(text)
	case "check", "setup":
		if !isText || strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0) || len(text) > maxCommand {
			return fmt.Errorf("must be a shell's line in quotes, of at most %d bytes, such as \"make test\"", maxCommand)
		}
		if name == "check" {
			r.Check = text
		} else {
			r.Setup = text
		}
	case "carry":
		list, ok := option.Texts(raw)
		r.Carry = list
		for _, glob := range list {
			_, err := path.Match(glob, "")
			ok = ok && err == nil && fs.ValidPath(glob) && glob != "."
		}
		if !ok || len(list) > maxCarry {
			return fmt.Errorf(`must be a list of at most %d patterns of paths in the directory, such as ["node_modules", "*/.env"]`, maxCarry)
		}
	case "check-timeout":
		n, ok := raw.(int64)
		if most := int64(maxCheckTime / time.Second); !ok || n < 1 || n > most {
			return fmt.Errorf("must be a whole number of seconds from 1 to %d", most)
		}
		r.CheckTime = time.Duration(n) * time.Second
	}
	return nil
}

// Settings returns the current configuration; nil stands for none.
type Settings func() Repositories

// Of returns the settings of the directory that a workspace's files come from.
func (s Settings) Of(w *workspace.Workspace) (r Repository) {
	if dir := w.Info().Source; s != nil && dir != "" {
		r = s().of(dir, w.Common())
	}
	return r
}

// Carried returns the globs of ignored files that a new worktree of a directory gets.
func (s Settings) Carried(dir, common string) []string {
	if s == nil {
		return nil
	}
	return s().of(dir, common).Carry
}

// of returns the settings of a directory that is in r, or is a worktree of a repository in r, whose
// git directory is common. For other directories they are empty.
func (r Repositories) of(dir, common string) Repository {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		one := r[name]
		top, err := filepath.EvalSymlinks(one.Dir)
		if err != nil {
			continue
		}
		if top == dir || common != "" && (top == common || workspace.Resolved(filepath.Join(top, ".git")) == common) {
			return one
		}
	}
	return Repository{}
}
