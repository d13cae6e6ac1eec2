package mcp

import (
	"context"
	"fmt"

	"tandemux/ahp"
	"tandemux/host/pool"
)

type terminalInput struct {
	TerminalID string `json:"terminalId" jsonschema:"the terminal's id"`
}

// promoteTerminal is T17 and T18: the claim goes to the person. One that is the
// person's already is as it should be.
func promoteTerminal(ctx context.Context, c call, in terminalInput) (terminal, error) {
	t, err := c.known(ctx, in.TerminalID)
	if err != nil {
		return terminal{}, err
	}
	if t.Claim.Kind == ahp.ClaimClient {
		return c.describe(t), nil
	}
	if !c.holds(t) {
		return terminal{}, fmt.Errorf("promote: %s belongs to another agent", pool.ID(t.Resource))
	}
	if err := c.request(ctx, ahp.MethodPromote, ahp.PromoteParams{Channel: t.Resource}, &t.Claim); err != nil {
		return terminal{}, err
	}
	d := c.describe(t)
	d.Visible = true
	return d, nil
}

// releaseTerminal gives back what claimTerminal took.
func releaseTerminal(ctx context.Context, c call, in terminalInput) (terminal, error) {
	return promoteTerminal(ctx, c, in)
}
