package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"tandemux/internal/cli"
	"tandemux/internal/config"
	"tandemux/internal/doctor"
	"tandemux/internal/local"
	"tandemux/internal/statefile"
)

func newConfigCommand() *cobra.Command {
	return cli.Group("config", "Show, check and find the configuration", "",
		cli.Command("default", "Print a configuration with every option, its default and what it does", nil, func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), config.File(defaults().options))
			return err
		}),
		cli.Command("path", `Print where the configuration belongs
The directory is made where it is not there yet.

  tandemux config default > "$(tandemux config path)"`, nil, func(cmd *cobra.Command, _ []string) error {
			dir := local.FindDirs().Config
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(dir, config.FileName))
			return err
		}),
		cli.Command("check [FILE]", `Name every mistake in the configuration, or in another file
Those of the themes beside it are named too, each with its line: unknown options, with
what may be meant, values that are none, bindings that stand in each other's way,
colours that are hard to read. Mistakes end it with 1; warnings alone do not.`, nil, checkConfig))
}

func checkConfig(cmd *cobra.Command, args []string) error {
	d := local.FindDirs()
	path := filepath.Join(d.Config, config.FileName)
	if len(args) == 1 {
		path = args[0]
	}
	_, problems := readSettings(d, path)
	out, faults := cmd.OutOrStdout(), 0
	for _, p := range problems {
		fmt.Fprintln(out, p)
		if !p.Warn {
			faults++
		}
	}
	if faults > 0 {
		return fmt.Errorf("%s: %s", path, cli.Count(faults, "mistake"))
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "%s is not there; the defaults apply\n", path)
		return nil
	}
	fmt.Fprintf(out, "%s: no mistakes\n", path)
	return nil
}

// keepTheme writes a choice of themes into the configuration, of which everything
// else stays as it is.
func keepTheme(d local.Dirs, theme string) error {
	path := filepath.Join(d.Config, config.FileName)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // people keep it elsewhere and link to it
	}
	mode := fs.FileMode(0o644)
	doc, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if _, err := loadSettings(d); err != nil {
			return fmt.Errorf("the configuration has a mistake, put it right first: %w", err)
		}
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	return statefile.WriteAs(path, config.SetTheme(doc, theme), mode)
}

// hintSeen is the file below the state directory that says that the first hint
// has been seen.
const hintSeen = "hint-seen"

// seen reports whether the first hint has been seen.
func seen(d local.Dirs) bool {
	_, err := os.Stat(filepath.Join(d.State, hintSeen))
	return err == nil
}

// see notes that the first hint has been seen.
func see(d local.Dirs) error {
	return os.WriteFile(filepath.Join(d.State, hintSeen), []byte(time.Now().Format(time.DateOnly)+"\n"), 0o600)
}

// checkConfiguration is for doctor, as is configuredShell.
func checkConfiguration(_ *cobra.Command, d local.Dirs) (string, string) {
	if _, err := loadSettings(d); err != nil {
		return doctor.Bad, err.Error()
	}
	path := filepath.Join(d.Config, config.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return doctor.OK, path + " does not exist; the defaults apply"
	}
	return doctor.OK, path
}

func configuredShell(d local.Dirs) string {
	s, err := loadSettings(d)
	if err != nil {
		return ""
	}
	return s.shell.Shell
}
