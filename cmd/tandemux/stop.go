package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/keeper"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/termcmd"
)

func newStopCommand() *cobra.Command {
	return cli.Command("stop", "End the host and all its terminals", nil, func(cmd *cobra.Command, _ []string) error {
		err := endpoint.WithHost(cmd, endpoint.Options{Once: true}, func(ctx context.Context, s *endpoint.Conn) error {
			var lost []int
			n := 0
			for _, t := range s.Terminals() {
				if t.Lifecycle.Exited() {
					continue
				}
				n++
				if t.Meta != nil && t.Meta.Orphaned {
					lost = append(lost, t.Meta.Pid)
				}
			}
			for _, o := range termcmd.Orphans(s, ctx) {
				lost = append(lost, o.Pid)
			}
			if err := s.Ask(ctx, ahp.MethodStop, ahp.SubscribeParams{Channel: ahp.RootURI}, nil); err != nil {
				return err
			}
			select {
			case <-s.Done():
			case <-ctx.Done():
				return ctx.Err()
			}
			if s.At.Own() && !s.At.Dirs.AwaitEnd() {
				return errors.New("the host was told to stop and is still ending: `tandemux doctor` says when it is gone")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "host stopped; %s ended\n", cli.Count(n, "running terminal"))
			return outlived(s, lost)
		})
		var left local.Unattended
		if !errors.As(err, &left) {
			return err
		}
		if err := local.FindDirs().EndKeeper(cmd.Context()); err != nil {
			return fmt.Errorf("end the keeper, which runs without a host: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "no host was running; the keeper stopped; %s ended\n", cli.Count(len(left.Running), "program"))
		return nil
	})
}

// outlived names the processes that a stop has not ended.
func outlived(s *endpoint.Conn, pids []int) error {
	if !s.At.Own() {
		return nil
	}
	var left []string
	for _, pid := range pids {
		if (keeper.Identify(pid) != keeper.Identity{}) {
			left = append(left, strconv.Itoa(pid))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("the host was stopped, but programs whose keeper had died still run: end them by hand (pids %s)", strings.Join(left, ", "))
}
