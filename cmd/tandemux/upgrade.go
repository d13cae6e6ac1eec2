package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
)

func newUpgradeCommand() *cobra.Command {
	var in struct {
		Force bool `flag:"force" doc:"Also when the host runs this program already, or history would be lost"`
	}
	return cli.Command("upgrade", `Put this program in the place of the running host; terminals go on
The host writes down what it holds and ends, and a new one, of this program, takes
over: no shell is closed, and whoever is connected is connected again within a second.
The keeper, which owns the shells, stays the one that it was.

Nothing is done when the host runs this very program already, and nothing when
the two could not work together: then it says what to do.`, &in, func(cmd *cobra.Command, _ []string) error {
		p, err := endpoint.Of(cmd)
		if err != nil {
			return err
		}
		if !p.Own() {
			return cli.Usagef("upgrade is for the host of this machine: run it there")
		}
		return upgrade(cmd, p, in.Force)
	})
}

func upgrade(cmd *cobra.Command, p endpoint.Endpoint, force bool) error {
	out := cmd.OutOrStdout()
	var before, after ahp.HostResult
	var took time.Duration
	err := p.With(cmd.Context(), endpoint.Options{Once: true}, func(ctx context.Context, s *endpoint.Conn) error {
		if err := s.Ask(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &before); err != nil {
			return err
		}
		r, err := p.Dirs.ReadRecord()
		if err != nil || r.Pid != before.Pid {
			return fmt.Errorf("the running host (pid %d, version %s) is of a release that can't hand over its terminals: `tandemux stop`, which ends them, and start again when it suits you", before.Pid, before.Version)
		}
		if err := mayReplace(ctx, p.Dirs, r, force); err != nil {
			return err
		}
		if before.Losing != "" && !force {
			return fmt.Errorf("the next host would not have all that this one shows: %s; --force swaps them all the same", before.Losing)
		}
		unlock, err := p.Dirs.LockStart()
		if err != nil {
			return err
		}
		defer unlock()
		old, _ := os.Open("/proc/" + strconv.Itoa(before.Pid) + "/exe") // what it runs, which may have no name any more
		if old != nil {
			defer old.Close()
		}
		begun := time.Now()
		if err := yield(s, ctx); err != nil {
			return err
		}
		if err := p.Dirs.Replace(r, old); err != nil {
			return err
		}
		took = time.Since(begun)
		return nil
	})
	switch {
	case errors.Is(err, local.ErrNoHost):
		fmt.Fprintf(out, "no host is running; the next one will be version %s\n", version)
		return nil
	case errors.Is(err, errSameProgram):
		fmt.Fprintf(out, "the host runs this program already (version %s); --force starts it anew all the same\n", before.Version)
		return nil
	case err != nil:
		return err
	}
	err = p.With(cmd.Context(), endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
		return s.Ask(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &after)
	})
	if err != nil {
		return err
	}
	verb := "go on"
	if after.Terminals == 1 {
		verb = "goes on"
	}
	fmt.Fprintf(out, "host %s (pid %d) has taken over from %s in %d ms; %s %s\n",
		after.Version, after.Pid, before.Version, took.Milliseconds(), cli.Count(after.Terminals, "terminal"), verb)
	return nil
}

// yield asks the host to make room and waits until it has gone.
func yield(s *endpoint.Conn, ctx context.Context) error {
	err := s.Ask(ctx, ahp.MethodYield, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
	if err != nil {
		return fmt.Errorf("ask the host to make room: %w", err)
	}
	select {
	case <-s.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// errSameProgram says that there is nothing to do.
var errSameProgram = errors.New("the host runs this program already")

// mayReplace finds, before anything is touched, what would keep a host of this
// program from taking over.
func mayReplace(ctx context.Context, d local.Dirs, r local.Record, force bool) error {
	if r.Foreground {
		return fmt.Errorf("the host (pid %d) runs in the foreground: whoever started it there starts it again; its terminals go on meanwhile", r.Pid)
	}
	path, err := local.Program()
	if err != nil {
		return err
	}
	id, err := local.Identify(path)
	if err != nil {
		return err
	}
	if id == r.Program && !force {
		return errSameProgram
	}
	if _, err := loadSettings(d); err != nil {
		return fmt.Errorf("the new host would refuse to start: %w", err)
	}
	if r.Journal > journal.Format {
		return fmt.Errorf("the running host (version %s) keeps its state in form %d and this program (version %s) reads at most form %d, so screens and history would be lost: go on with the former, or end its terminals with `tandemux stop`",
			r.Version, r.Journal, version, journal.Format)
	}
	socket, err := d.ReachKeeper(ctx)
	if err != nil {
		return err
	}
	_, err = keeper.Probe(ctx, socket)
	return err
}
