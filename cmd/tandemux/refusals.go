package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
)

// refusedLately is how long `tandemux ls` speaks of what agents were not allowed.
const refusedLately = 10 * time.Minute

// refusals are what agents were not allowed since the host started, oldest first.
func refusals(s *endpoint.Conn, ctx context.Context) ([]ahp.AgentRefusal, error) {
	var r struct {
		Snapshot struct{ State json.RawMessage } `json:"snapshot"`
	}
	if err := s.Ask(ctx, ahp.MethodSubscribe, ahp.SubscribeParams{Channel: ahp.ActivityURI}, &r); err != nil {
		return nil, err
	}
	var state ahp.ActivityState
	if err := json.Unmarshal(r.Snapshot.State, &state); err != nil {
		return nil, fmt.Errorf("read the host's activity: %w", err)
	}
	return state.Refusals, nil
}

// refusalText words the newest refusals, in a line.
func refusalText(list []ahp.AgentRefusal) string {
	last := list[len(list)-1]
	text := fmt.Sprintf("%s: %s (%s) at %s", cli.Short(last.Agent), cli.Short(last.What), cli.Short(last.Why), time.UnixMilli(last.At).Format("15:04"))
	if last.Count > 1 {
		text += fmt.Sprintf(", %d times", last.Count)
	}
	if n := len(list) - 1; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// printRefusals says below the terminals what agents were not allowed lately.
func printRefusals(w io.Writer, list []ahp.AgentRefusal) {
	for len(list) > 0 && time.Since(time.UnixMilli(list[0].At)) > refusedLately {
		list = list[1:]
	}
	if len(list) > 0 {
		fmt.Fprintf(w, "not allowed: %s; audit.log has all\n", refusalText(list))
	}
}

// checkRefusals says what agents were not allowed since the host started.
func checkRefusals(cmd *cobra.Command, _ local.Dirs) (string, string) {
	var list []ahp.AgentRefusal
	err := endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) (err error) {
		list, err = refusals(s, ctx)
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
	return levelWarn, "not allowed: " + refusalText(list) + "; the options agent-… say what agents may do"
}
