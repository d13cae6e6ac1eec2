package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/ahp"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
)

// finding is one line of `tandemux doctor`.
type finding struct {
	Check  string `json:"check"`
	Level  string `json:"level"` // levelOK, levelWarn or levelBad
	Detail string `json:"detail"`
}

const (
	levelOK   = "ok"
	levelWarn = "warning"
	levelBad  = "bad"
)

// checks are run in this order; each looks at one thing.
var checks = []struct {
	name string
	run  func(*cobra.Command, local.Dirs) (level, detail string)
}{
	{"runtime directory", checkRuntimeDir},
	{"configuration", checkConfiguration},
	{"shell", checkShell},
	{"host", checkHost},
	{"logout", checkLogout},
	{"agents", checkAgents},
	{"agents' limits", checkRefusals},
	{"sandbox", checkSandbox},
	{"terminal", checkOuterTerminal},
	{"colours", checkColours},
	{"locale", checkLocale},
	{"nesting", checkNesting},
}

func newDoctorCommand() *cobra.Command {
	in := profileOptions{Seconds: 10}
	cmd := cli.WithJSON(cli.Command("doctor", `Look for what keeps tandemux from working well here
With --profile, write down instead what the running host does with processor
time or memory, for go tool pprof. It names functions of tandemux and has nothing
of what terminals show.

  tandemux doctor --profile cpu --seconds 10`, &in, func(cmd *cobra.Command, _ []string) error {
		if in.Kind != "" {
			return in.take(cmd)
		}
		d := local.FindDirs()
		var found []finding
		bad := 0
		for _, c := range checks {
			level, detail := c.run(cmd, d)
			found = append(found, finding{c.name, level, detail})
			if level == levelBad {
				bad++
			}
		}
		err := cli.Print(cmd, found, func(w io.Writer) error {
			for _, f := range found {
				fmt.Fprintf(w, "%-8s %-18s %s\n", f.Level, f.Check, cli.Line(f.Detail))
			}
			return nil
		})
		if err == nil && bad > 0 {
			err = fmt.Errorf("%s above", cli.Count(bad, "problem"))
		}
		return err
	}), cli.One[[]finding]())
	cmd.MarkFlagsMutuallyExclusive("profile", "json")
	return cmd
}

func checkRuntimeDir(_ *cobra.Command, d local.Dirs) (string, string) {
	if err := d.Check(); err != nil {
		return levelBad, err.Error()
	}
	if _, err := d.Socket(listen.KeeperName); err != nil {
		return levelBad, err.Error()
	}
	if _, err := d.HostPlace().Holder(); err != nil {
		return levelWarn, fmt.Sprintf("%s; if it is removed, as at the last logout, a running host and its terminals can't be found: %v", d.Runtime, err)
	}
	if os.Getenv("XDG_RUNTIME_DIR") == "" {
		return levelOK, d.Runtime + "; XDG_RUNTIME_DIR is not set; if a cleaner of temporary files removes it, host and keeper make it anew"
	}
	return levelOK, d.Runtime
}

func checkConfiguration(_ *cobra.Command, d local.Dirs) (string, string) {
	if _, err := loadSettings(d); err != nil {
		return levelBad, err.Error()
	}
	path := filepath.Join(d.Config, "config.toml")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return levelOK, path + " does not exist; the defaults apply"
	}
	return levelOK, path
}

func checkShell(_ *cobra.Command, d local.Dirs) (string, string) {
	shell := os.Getenv("SHELL")
	if s, err := loadSettings(d); err == nil && s.shell.Shell != "" {
		shell = s.shell.Shell
	}
	if shell == "" {
		return levelWarn, "SHELL is not set; the one of the password file is used"
	}
	if _, err := exec.LookPath(shell); err != nil {
		return levelBad, fmt.Sprintf("%s can't be run: %v", shell, err)
	}
	return levelOK, shell
}

func checkHost(cmd *cobra.Command, d local.Dirs) (string, string) {
	var got ahp.HostResult
	err := endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
		return s.Ask(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &got)
	})
	var left local.Unattended
	switch {
	case errors.As(err, &left):
		return levelWarn, err.Error()
	case errors.Is(err, local.ErrNoHost):
		return levelOK, "none runs; it starts on first use"
	case err != nil:
		return levelBad, err.Error()
	}
	detail := fmt.Sprintf("pid %d, keeper %d, since %s, %s, %s", got.Pid, got.KeeperPid,
		time.UnixMilli(got.Started).Format("2006-01-02 15:04"), cli.Count(got.Terminals, "terminal"), cli.Count(got.Clients, "client"))
	if len(got.Listen) > 0 {
		// Scripts read a plain address here.
		detail += ", listening on " + strings.Join(shortAddresses(got.URLs), ", ")
	}
	if got.Fingerprint != "" {
		detail += ", certificate " + got.Fingerprint
	}
	if got.Warning != "" {
		return levelBad, got.Warning
	}
	if got.Version != version {
		return levelWarn, detail + fmt.Sprintf("; it is version %s and this is %s: `tandemux upgrade` swaps it, shells stay", got.Version, version)
	}
	if old := d.Outdated(version); old != "" {
		return levelWarn, detail + "; " + old
	}
	return levelOK, detail
}

// checkLogout says whether terminals outlive the logout.
func checkLogout(cmd *cobra.Command, d local.Dirs) (string, string) {
	pid, _ := d.KeeperPlace().Holder() //nolint:errcheck // then it is not known
	ok, detail := keeper.CheckLogout(cmd.Context(), pid)
	if !ok {
		return levelWarn, detail
	}
	return levelOK, detail
}

func checkOuterTerminal(*cobra.Command, local.Dirs) (string, string) {
	name := os.Getenv("TERM")
	if !term.IsTerminal(int(os.Stdout.Fd())) {
		return levelOK, "stdout is no terminal; the interface needs one"
	}
	if err := checkTerminal(os.Stdin, os.Stdout, name); err != nil {
		return levelBad, err.Error()
	}
	cols, rows, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return levelWarn, fmt.Sprintf("%s, size unknown: %v", name, err)
	}
	return levelOK, fmt.Sprintf("%s, %dx%d", name, cols, rows)
}

func checkColours(*cobra.Command, local.Dirs) (string, string) {
	switch {
	case os.Getenv("NO_COLOR") != "":
		return levelOK, "none, as NO_COLOR asks"
	case slices.Contains([]string{"truecolor", "24bit"}, os.Getenv("COLORTERM")):
		return levelOK, "true colour"
	case strings.Contains(os.Getenv("TERM"), "256color"):
		return levelWarn, "256; set COLORTERM=truecolor if your terminal has more"
	default:
		return levelWarn, "16; set TERM and COLORTERM if your terminal has more"
	}
}

func checkLocale(*cobra.Command, local.Dirs) (string, string) {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			if low := strings.ToLower(v); strings.Contains(low, "utf-8") || strings.Contains(low, "utf8") {
				return levelOK, name + "=" + v
			}
			return levelWarn, name + "=" + v + " is not UTF-8; programs will not show all characters"
		}
	}
	return levelWarn, "neither LC_ALL, LC_CTYPE nor LANG is set; programs will not show all characters"
}

func checkNesting(*cobra.Command, local.Dirs) (string, string) {
	for _, n := range []struct{ env, name string }{{"TANDEMUX_TERMINAL", "tandemux"}, {"TMUX", "tmux"}, {"STY", "screen"}, {"ZELLIJ", "zellij"}} {
		if os.Getenv(n.env) != "" {
			return levelWarn, "inside " + n.name + "; its prefix key and ours both apply"
		}
	}
	return levelOK, "not inside another multiplexer"
}

// shortAddresses leaves the scheme out where nothing is encrypted.
func shortAddresses(urls []string) []string {
	short := make([]string, 0, len(urls))
	for _, u := range urls {
		short = append(short, strings.TrimPrefix(u, "ws://"))
	}
	return short
}
