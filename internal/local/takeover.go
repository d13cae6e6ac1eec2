package local

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tandemux/internal/statefile"
)

const formerName = "cotty" // until November 2026

// formerWords are the words of the former name in files, with today's.
var formerWords = map[string]*strings.Replacer{
	"config.toml":  strings.NewReplacer(`"cotty-dark"`, `"tandemux-dark"`, `"cotty-light"`, `"tandemux-light"`),
	"layouts.json": strings.NewReplacer(`"x-cotty`, `"x-tandemux`, `"cotty/`, `"tandemux/`),
}

// TakeOver moves the configuration and the state of the former program to today's
// places, if there is nothing yet, and leaves links, since worktrees of tasks hold the
// former paths. It fails while the former program runs, which would lose its state.
func (d Dirs) TakeOver() error {
	for _, dir := range []string{d.Config, d.State} {
		former := filepath.Join(filepath.Dir(dir), formerName)
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if info, err := os.Lstat(former); err != nil || !info.IsDir() {
			continue
		}
		if formerRuns(d.Runtime) {
			return fmt.Errorf("take over %s: %s, as this program was called before, still runs: end it and its terminals with `%s stop`, or make the directory %s to begin without", former, formerName, formerName, dir)
		}
		if err := translate(former); err != nil {
			return fmt.Errorf("take over %s: %w", former, err)
		}
		if err := os.Rename(former, dir); err != nil {
			return fmt.Errorf("take over %s: %w", former, err)
		}
		if err := os.Symlink(filepath.Base(dir), former); err != nil {
			return fmt.Errorf("take over %s: leave a link there: %w", former, err)
		}
	}
	return nil
}

// formerRuns reports whether a host or a keeper of the former name answers.
func formerRuns(runtime string) bool {
	former := formerName
	if _, uid, ok := strings.Cut(filepath.Base(runtime), "-"); ok && uid == strconv.Itoa(os.Getuid()) {
		former += "-" + uid
	}
	for _, name := range []string{"host.sock", "keeper.sock"} {
		if c, err := net.Dial("unix", filepath.Join(filepath.Dir(runtime), former, name)); err == nil {
			c.Close()
			return true
		}
	}
	return false
}

// translate writes formerWords in dir anew.
func translate(dir string) error {
	for name, words := range formerWords {
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		today := words.Replace(string(text))
		if today == string(text) {
			continue
		}
		if err := statefile.Write(path, []byte(today)); err != nil {
			return err
		}
	}
	return nil
}
