package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"cotty/ahp"
	"cotty/host"
)

func newStopCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "End the host and all its terminals",
		Args:  cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			return withHost(cmd, false, func(ctx context.Context, s *session) error {
				n := 0
				for _, t := range s.terminals() {
					if !t.Lifecycle.Exited() {
						n++
					}
				}
				if err := s.call(ctx, ahp.MethodStop, ahp.SubscribeParams{Channel: ahp.RootURI}, nil); err != nil {
					return err
				}
				select {
				case <-s.Done():
				case <-ctx.Done():
					return ctx.Err()
				}
				if s.place.own() {
					s.place.dirs.awaitEnd()
				}
				fmt.Fprintf(cmd.OutOrStdout(), "host stopped; %s ended\n", count(n, "running terminal"))
				return nil
			})
		}),
	}
}

// awaitEnd waits, not for long, until the lock is free that a host holds to the
// last, so that the next one can start.
func (d dirs) awaitEnd() {
	f, err := os.Open(filepath.Join(d.runtime, host.LockName))
	if err != nil {
		return
	}
	defer f.Close()
	for range 200 {
		if syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
