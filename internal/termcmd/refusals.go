package termcmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

// refusedLately is how long `tandemux ls` speaks of what agents were not allowed.
const refusedLately = 10 * time.Minute

// Refusals are what agents were not allowed since the host started, oldest first.
func Refusals(s *endpoint.Conn, ctx context.Context) ([]ahp.AgentRefusal, error) {
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

// RefusalText words the newest refusals, in a line.
func RefusalText(list []ahp.AgentRefusal) string {
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
		fmt.Fprintf(w, "not allowed: %s; audit.log has all\n", RefusalText(list))
	}
}
