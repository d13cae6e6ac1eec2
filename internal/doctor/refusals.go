package doctor

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/termcmd"
)

// checkRefusals says what agents were not allowed since the host started.
func checkRefusals(cmd *cobra.Command, _ local.Dirs) (string, string) {
	var list []ahp.AgentRefusal
	err := endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) (err error) {
		list, err = termcmd.Refusals(s, ctx)
		return err
	})
	switch {
	case errors.Is(err, local.ErrNoHost):
		return OK, "no host runs"
	case err != nil:
		return Warn, err.Error()
	case len(list) == 0:
		return OK, "agents were refused nothing"
	}
	return Warn, "not allowed: " + termcmd.RefusalText(list) + "; the options agent-… say what agents may do"
}
