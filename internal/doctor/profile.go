package doctor

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

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
