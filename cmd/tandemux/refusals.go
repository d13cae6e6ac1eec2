package main

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
		return levelOK, "no host runs"
	case err != nil:
		return levelWarn, err.Error()
	case len(list) == 0:
		return levelOK, "agents were refused nothing"
	}
	return levelWarn, "not allowed: " + termcmd.RefusalText(list) + "; the options agent-… say what agents may do"
}
