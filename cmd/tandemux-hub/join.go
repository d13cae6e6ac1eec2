package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"tandemux/hub/directory"
	"tandemux/hub/join"
	"tandemux/internal/cli"
	"tandemux/internal/local"
	"tandemux/internal/statefile"
)

// works are what a joined host does beside.
var works = []join.Work{takeTasks, tellAudit}

func newJoinCommand() *cobra.Command {
	in := struct {
		Credential string   `flag:"credential" value:"FILE" doc:"What tandemux hub invite printed (default: standard input)"`
		Labels     []string `flag:"label" value:"LABEL" doc:"A label, where the credential gives none"`
		Room       int      `flag:"room" value:"N" doc:"How many tasks it takes at once"`
		Private    bool     `flag:"no-terminals" doc:"Its terminals are not reached through the hub"`
	}{Room: runtime.NumCPU()}
	return cli.Command("join [URL]", `Make this machine one of a fleet, until it is interrupted
It dials out to the hub, says which terminals and sessions this host has, and carries
connections to it: a host's own token opens them, as everywhere. Nothing else is given
away. URL is the hub's tls:// address, of the credential where none is given.

  tandemux join --credential build.creds
  tandemux join tls://hub:4222 < build.creds`, &in, func(cmd *cobra.Command, args []string) error {
		text, err := readCredential(in.Credential, cmd.InOrStdin())
		if err != nil {
			return err
		}
		for _, l := range in.Labels {
			if err := directory.CheckLabel(l); err != nil {
				return cli.Usagef("--label: %w", err)
			}
		}
		if in.Room < 0 {
			return cli.Usagef("--room is 0 or more")
		}
		d := local.FindDirs()
		if err := d.Make(); err != nil {
			return err
		}
		o := join.Options{
			Credential: text, Host: d.DialHost, Labels: in.Labels, Room: in.Room, Carries: !in.Private, Version: version,
			Log: slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)), Work: works, Revive: revive(d),
		}
		if len(args) > 0 {
			o.URL = args[0]
		}
		return join.Run(cmd.Context(), o)
	})
}

// maxCredential bounds a credential's file.
const maxCredential = 64 << 10

// readCredential reads a file that nobody else may read, or standard input.
func readCredential(path string, in io.Reader) (string, error) {
	var text []byte
	var err error
	if path != "" {
		text, err = statefile.ReadSecret(path, maxCredential)
	} else {
		text, err = io.ReadAll(io.LimitReader(in, maxCredential))
	}
	if err != nil {
		return "", fmt.Errorf("read the credential: %w", err)
	}
	return string(text), nil
}

// beside is a program that lies beside this one.
func beside(name string) (string, error) {
	self, err := local.Program()
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("find the program %s beside this one: %w", name, err)
	}
	return path, nil
}

// revive starts the host by the program beside this one, or brings back one that died. One
// that was stopped on purpose stays so, but for the first time.
func revive(d local.Dirs) func(context.Context) error {
	first := true
	return func(ctx context.Context) error {
		start := first || d.HostDied()
		first = false
		if c, err := d.DialHost(ctx); err == nil {
			c.Close()
			return nil
		}
		if !start {
			return nil
		}
		program, err := beside("tandemux")
		if err != nil {
			return err
		}
		args := []string{"host"}
		if d.HostDied() {
			args = []string{"ls"} // brings it back with what it was started with
		}
		if out, err := exec.CommandContext(ctx, program, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("start the host: %w: %.300s", err, out)
		}
		return nil
	}
}
