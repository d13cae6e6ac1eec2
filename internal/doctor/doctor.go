package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/keeper"
	"tandemux/host/listen"
	"tandemux/host/sandbox"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/hosts"
	"tandemux/internal/local"
	"tandemux/internal/statefile"
)

// finding is one line of `tandemux doctor`.
type finding struct {
	Check  string `json:"check" doc:"What was looked at"`
	Level  string `json:"level" doc:"How it stands"` // OK, Warn or Bad
	Detail string `json:"detail" doc:"What was found, and what to do about it"`
}

// How something stands.
const (
	OK   = "ok"
	Warn = "warning"
	Bad  = "bad"
)

// Check looks at one thing, and says how it stands and what it saw.
type Check func(*cobra.Command, local.Dirs) (level, detail string)

// Checks are those of what this package does not know.
type Checks struct {
	Configuration, Agents, Terminal Check
	// Shell is the configured one, "" for none.
	Shell func(local.Dirs) string
}

// Command is `tandemux doctor`.
func Command(c Checks) *cobra.Command {
	checks := []struct {
		name string
		run  Check
	}{ // are run in this order
		{"runtime directory", checkRuntimeDir},
		{"state directory", checkStateDir},
		{"configuration", c.Configuration},
		{"shell", c.checkShell},
		{"host", checkHost},
		{"other hosts", checkHosts},
		{"logout", checkLogout},
		{"agents", c.Agents},
		{"sandbox", checkSandbox},
		{"terminal", c.Terminal},
		{"colours", checkColours},
		{"locale", checkLocale},
		{"nesting", checkNesting},
	}
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
			if level == Bad {
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
		return Bad, err.Error()
	}
	if _, err := d.Socket(listen.KeeperName); err != nil {
		return Bad, err.Error()
	}
	if _, err := d.HostPlace().Holder(); err != nil {
		return Warn, fmt.Sprintf("%s; if it is removed, as at the last logout, a running host and its terminals can't be found: %v", d.Runtime, err)
	}
	if !filepath.IsAbs(os.Getenv("XDG_RUNTIME_DIR")) {
		return OK, d.Runtime + "; XDG_RUNTIME_DIR is not set to an absolute path; if a cleaner of temporary files removes it, host and keeper make it anew"
	}
	return OK, d.Runtime
}

// checkStateDir writes a block there: a full disk says so to nobody else.
func checkStateDir(_ *cobra.Command, d local.Dirs) (string, string) {
	probe := filepath.Join(d.State, "doctor")
	err := statefile.Write(probe, make([]byte, 4<<10))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return OK, d.State + " does not exist; the first host makes it"
	case err != nil:
		return Bad, fmt.Sprintf("%s takes nothing: %v; terminals go on, but layouts, names and tokens are not kept", d.State, err)
	}
	os.Remove(probe)
	return OK, d.State
}

func (c Checks) checkShell(_ *cobra.Command, d local.Dirs) (string, string) {
	shell := cmp.Or(c.Shell(d), os.Getenv("SHELL"))
	if shell == "" {
		return Warn, "SHELL is not set; the one of the password file is used"
	}
	if _, err := exec.LookPath(shell); err != nil {
		return Bad, fmt.Sprintf("%s can't be run: %v", shell, err)
	}
	return OK, shell
}

func checkHost(cmd *cobra.Command, d local.Dirs) (string, string) {
	var got ahp.HostResult
	err := endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
		return s.Ask(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &got)
	})
	var left local.Unattended
	switch {
	case errors.As(err, &left):
		return Warn, err.Error()
	case errors.Is(err, local.ErrNoHost):
		return OK, "none runs; it starts on first use"
	case err != nil:
		return Bad, err.Error()
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
		return Bad, got.Warning
	}
	if got.Version != endpoint.Version {
		return Warn, detail + fmt.Sprintf("; it is version %s and this is %s: `tandemux upgrade` swaps it, shells stay", got.Version, endpoint.Version)
	}
	if old := d.Outdated(endpoint.Version); old != "" {
		return Warn, detail + "; " + old
	}
	return OK, detail
}

// checkLogout says whether terminals outlive the logout.
func checkLogout(cmd *cobra.Command, d local.Dirs) (string, string) {
	pid, _ := d.KeeperPlace().Holder() //nolint:errcheck // then it is not known
	ok, detail := keeper.CheckLogout(cmd.Context(), pid)
	if !ok {
		return Warn, detail
	}
	return OK, detail
}

func checkColours(*cobra.Command, local.Dirs) (string, string) {
	switch {
	case os.Getenv("NO_COLOR") != "":
		return OK, "none, as NO_COLOR asks"
	case slices.Contains([]string{"truecolor", "24bit"}, os.Getenv("COLORTERM")):
		return OK, "true colour"
	case strings.Contains(os.Getenv("TERM"), "256color"):
		return Warn, "256; set COLORTERM=truecolor if your terminal has more"
	default:
		return Warn, "16; set TERM and COLORTERM if your terminal has more"
	}
}

func checkLocale(*cobra.Command, local.Dirs) (string, string) {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			if low := strings.ToLower(v); strings.Contains(low, "utf-8") || strings.Contains(low, "utf8") {
				return OK, name + "=" + v
			}
			return Warn, name + "=" + v + " is not UTF-8; programs will not show all characters"
		}
	}
	return Warn, "neither LC_ALL, LC_CTYPE nor LANG is set; programs will not show all characters"
}

func checkNesting(*cobra.Command, local.Dirs) (string, string) {
	for _, n := range []struct{ env, name string }{{"TANDEMUX_TERMINAL", "tandemux"}, {"TMUX", "tmux"}, {"STY", "screen"}, {"ZELLIJ", "zellij"}} {
		if os.Getenv(n.env) != "" {
			return Warn, "inside " + n.name + "; its prefix key and ours both apply"
		}
	}
	return OK, "not inside another multiplexer"
}

// shortAddresses leaves the scheme out where nothing is encrypted.
func shortAddresses(urls []string) []string {
	short := make([]string, 0, len(urls))
	for _, u := range urls {
		short = append(short, strings.TrimPrefix(u, "ws://"))
	}
	return short
}

// checkHosts asks the hosts that have names.
func checkHosts(cmd *cobra.Command, d local.Dirs) (string, string) {
	list, err := hosts.Read(d.Config)
	if err != nil {
		return Bad, err.Error()
	}
	if len(list) == 0 {
		return OK, "none has a name"
	}
	why, missed := endpoint.Check(cmd, list, func(_ context.Context, _ *endpoint.Conn, _ time.Duration, err error) (string, error) {
		if err != nil {
			return cli.OneSentence(err), err
		}
		return "", nil
	})
	if missed == nil {
		return OK, cli.Count(len(list), "host") + " reached"
	}
	var said []string
	for i, h := range list {
		if why[i] != "" {
			said = append(said, fmt.Sprintf("%s is not reached: %s", h.Name, why[i]))
		}
	}
	return Warn, strings.Join(said, "; ")
}

// profileOptions are the flags of `tandemux doctor`.
type profileOptions struct {
	Kind    string `flag:"profile" enum:"cpu,heap" doc:"Take a profile of the running host: cpu or heap"`
	Seconds int    `flag:"seconds" doc:"How long to take a cpu profile, 1 to 60"`
	Output  string `flag:"output,o" doc:"File for the profile (default tandemux-KIND.pprof)"`
}

const maxProfileSeconds = 60

// take asks the host for the profile and writes it, for its owner alone.
func (o *profileOptions) take(cmd *cobra.Command) error {
	if o.Seconds < 1 || o.Seconds > maxProfileSeconds {
		return cli.Usagef("--seconds %d: it is between 1 and %d", o.Seconds, maxProfileSeconds)
	}
	o.Output = cmp.Or(o.Output, "tandemux-"+o.Kind+".pprof")
	return endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(o.Seconds)*time.Second+endpoint.CallTimeout)
		defer cancel()
		var got ahp.ProfileResult
		if err := s.Call(ctx, ahp.MethodProfile, ahp.ProfileParams{Channel: ahp.RootURI, Kind: o.Kind, Seconds: o.Seconds}, &got); err != nil {
			return err
		}
		if err := os.WriteFile(o.Output, got.Profile, 0o600); err != nil {
			return fmt.Errorf("write the profile: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes; look at it with `go tool pprof -top %s`\n", o.Output, len(got.Profile), o.Output)
		return nil
	})
}

// checkSandbox says whether tasks can be shut in here. That they can't is a warning:
// who has no tasks needs none.
func checkSandbox(cmd *cobra.Command, _ local.Dirs) (string, string) {
	s := sandbox.Check(cmd.Context(), "")
	switch {
	case s.Err != nil:
		return Warn, "tasks are refused unless they go without (--no-sandbox): " + s.Err.Error()
	case len(s.Missing) > 0:
		return Warn, fmt.Sprintf("bubblewrap %s; %s", s.Version, strings.Join(s.Missing, "; "))
	}
	return OK, fmt.Sprintf("bubblewrap %s, limits by cgroup", s.Version)
}
