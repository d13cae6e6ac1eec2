package mcp

import (
	"context"

	"tandemux/ahp"
)

type showInput struct {
	TerminalID string `json:"terminalId"`
	BesideID   string `json:"besideId,omitempty" jsonschema:"a terminal of yours that shows; default: where you run, or your chat"`
}

// showTerminal shows a terminal of the agent's in a pane, and moves nobody's focus.
func showTerminal(ctx context.Context, c call, in showInput) (terminal, error) {
	t, err := c.own(ctx, in.TerminalID, "show")
	if err != nil {
		return terminal{}, err
	}
	beside := c.o.Terminal
	if in.BesideID != "" {
		other, err := c.own(ctx, in.BesideID, "show beside")
		if err != nil {
			return terminal{}, err
		}
		beside = other.Resource
	}
	if err := c.request(ctx, ahp.MethodShow, ahp.ShowParams{Channel: t.Resource, Beside: beside}, nil); err != nil {
		return terminal{}, err
	}
	d := c.describe(t)
	d.Visible = true
	return d, nil
}
