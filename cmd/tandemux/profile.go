package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

// profileOptions is `tandemux doctor --profile`.
type profileOptions struct {
	kind    string
	seconds int
	output  string
}

const maxProfileSeconds = 60

func (o *profileOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.kind, "profile", "", "take a profile of the running host: cpu or heap")
	f.IntVar(&o.seconds, "seconds", 10, "how long to take a cpu profile, 1 to 60")
	f.StringVarP(&o.output, "output", "o", "", "file for the profile (default tandemux-KIND.pprof)")
	cmd.MarkFlagsMutuallyExclusive("profile", "json")
}

// take asks the host for the profile and writes it, for its owner alone.
func (o *profileOptions) take(cmd *cobra.Command) error {
	switch {
	case o.kind != ahp.ProfileCPU && o.kind != ahp.ProfileHeap:
		return cli.Usagef("--profile %s: it is %s or %s", o.kind, ahp.ProfileCPU, ahp.ProfileHeap)
	case o.seconds < 1 || o.seconds > maxProfileSeconds:
		return cli.Usagef("--seconds %d: it is between 1 and %d", o.seconds, maxProfileSeconds)
	}
	if o.output == "" {
		o.output = "tandemux-" + o.kind + ".pprof"
	}
	return endpoint.WithHost(cmd, false, func(ctx context.Context, s *endpoint.Conn) error {
		ctx, cancel := context.WithTimeout(ctx, time.Duration(o.seconds)*time.Second+endpoint.CallTimeout)
		defer cancel()
		var got ahp.ProfileResult
		if err := s.Call(ctx, ahp.MethodProfile, ahp.ProfileParams{Channel: ahp.RootURI, Kind: o.kind, Seconds: o.seconds}, &got); err != nil {
			return err
		}
		if err := os.WriteFile(o.output, got.Profile, 0o600); err != nil {
			return fmt.Errorf("write the profile: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes; look at it with `go tool pprof -top %s`\n", o.output, len(got.Profile), o.output)
		return nil
	})
}
