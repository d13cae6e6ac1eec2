package mcp

import (
	"context"
	"errors"

	"tandemux/ahp"
)

type killOutput struct {
	Terminated bool   `json:"terminated"`
	ID         string `json:"id"`
}

// errKeep is T21, to the letter.
//
//lint:ignore ST1005 the document's text
var errKeep = errors.New("Cannot kill visible or user-owned terminals")

// killTerminal is T19 to T24. What another agent holds is not this one's to
// kill either. The host decides, and notes what it refuses.
func killTerminal(ctx context.Context, c call, in terminalInput) (killOutput, error) {
	t, err := c.find(ctx, in.TerminalID)
	switch {
	case err != nil:
		return killOutput{}, err
	case t == nil:
		return killOutput{true, in.TerminalID}, nil // T22
	}
	err = c.request(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: t.Resource}, nil)
	switch ahp.CodeOf(err) {
	case ahp.CodeNotFound: // ended meanwhile
		err = nil
	case ahp.CodePermissionDenied: // changed hands meanwhile
		err = errKeep
	}
	return killOutput{err == nil, in.TerminalID}, err
}
