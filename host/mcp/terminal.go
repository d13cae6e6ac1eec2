package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	"tandemux/ahp"
	"tandemux/host/pool"
)

// terminal is what the tools tell of a terminal.
type terminal struct {
	pool.Terminal
	// Mine says that the calling agent holds it.
	Mine bool `json:"mine"`
	// Ended says how its process has ended, empty while it runs.
	Ended string `json:"ended,omitempty"`
}

func (c call) describe(t *ahp.TerminalInfo) terminal {
	d := terminal{pool.Describe(t), c.holds(t), ""}
	if !t.Lifecycle.Exited() {
		return d
	}
	d.Ended, d.ExitCode = "exited", t.Lifecycle.ExitCode
	if m := t.Meta; m != nil {
		if m.Signal != "" {
			d.Ended = "by " + m.Signal
		}
		if m.Ended != "" {
			d.Ended = m.Ended + ": " + d.Ended
		}
	}
	return d
}

// holds reports whether the agent's session holds the terminal.
func (c call) holds(t *ahp.TerminalInfo) bool {
	has, mine := t.Claim, c.host.Claim()
	return has.Kind == ahp.ClaimSession && has.Session == mine.Session && (has.Chat == mine.Chat || has.Chat == "" || mine.Chat == "")
}

// list asks the host for its terminals: what it says is never older than what
// the agent was answered before.
func (c call) list(ctx context.Context) ([]ahp.TerminalInfo, error) {
	var raw json.RawMessage
	if err := c.request(ctx, ahp.MethodSubscribe, ahp.SubscribeParams{Channel: ahp.RootURI}, &raw); err != nil {
		return nil, err
	}
	return pool.List(raw)
}

// find is the terminal that an id means, also one whose process has ended; nil
// when there is none.
func (c call) find(ctx context.Context, id string) (*ahp.TerminalInfo, error) {
	all, err := c.list(ctx)
	return pool.Find(all, id), err
}

// known is find for the tools that need the terminal.
func (c call) known(ctx context.Context, id string) (*ahp.TerminalInfo, error) {
	all, err := c.list(ctx)
	if err != nil {
		return nil, err
	}
	t := pool.Find(all, id)
	if t == nil {
		//lint:ignore ST1005 the documents' text
		err = fmt.Errorf("Terminal not found: %s", clip(id))
		for i := range all {
			if d := pool.Describe(&all[i]); d.Title == id {
				err = fmt.Errorf("%w: it is the title of %s, and a title is no id, as programs set it", err, d.ID)
				break
			}
		}
	}
	return t, err
}

// own is known for the tools that only the holder may use.
func (c call) own(ctx context.Context, id, doing string) (*ahp.TerminalInfo, error) {
	t, err := c.known(ctx, id)
	if err == nil && !c.holds(t) {
		err = fmt.Errorf("%s: you do not hold %s: claim_terminal asks for it", doing, pool.ID(t.Resource))
	}
	return t, err
}

// clip bounds what is repeated of a caller's text.
func clip(s string) string { return clipText(s, 200) }
