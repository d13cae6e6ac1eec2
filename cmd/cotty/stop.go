package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"cotty/ahp"
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
				fmt.Fprintf(cmd.OutOrStdout(), "host stopped; %s ended\n", count(n, "running terminal"))
				return nil
			})
		}),
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
