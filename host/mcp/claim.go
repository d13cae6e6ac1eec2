package mcp

import (
	"context"
	"fmt"

	"tandemux/ahp"
	"tandemux/host/pool"
)

type claimInput struct {
	TerminalID string `json:"terminalId"`
	Reason     string `json:"reason" jsonschema:"what you need it for; the person reads this"`
	TimeoutMs  int64  `json:"timeoutMs,omitempty" jsonschema:"how long to wait for an answer; default 45000"`
}

type claimOutput struct {
	TerminalID string `json:"terminalId"`
	Claimed    bool   `json:"claimed"`
	Answer     string `json:"answer" jsonschema:"granted; refused; timeout: nobody answered"`
}

// claimTerminal asks for a terminal; the host asks the person.
func claimTerminal(ctx context.Context, c call, in claimInput) (claimOutput, error) {
	limit, err := c.timeout(in.TimeoutMs, patience)
	if err != nil {
		return claimOutput{}, err
	}
	t, err := c.known(ctx, in.TerminalID)
	switch {
	case err != nil:
		return claimOutput{}, err
	case c.holds(t):
		return claimOutput{in.TerminalID, true, ahp.AskGranted}, nil
	case t.Lifecycle.Exited():
		return claimOutput{}, fmt.Errorf("claim: the process of %s has ended", pool.ID(t.Resource))
	}
	var r ahp.AskResult
	err = c.request(ctx, ahp.MethodAsk, ahp.AskParams{Channel: t.Resource, Claim: c.host.Claim(), Reason: in.Reason, TimeoutMs: limit}, &r)
	return claimOutput{in.TerminalID, r.Answer == ahp.AskGranted, r.Answer}, err
}

type terminalInput struct {
	TerminalID string `json:"terminalId"`
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
