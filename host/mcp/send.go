package mcp

import (
	"context"
	"errors"
	"fmt"

	"tandemux/ahp"
)

// maxInput bounds what one call types, in bytes, and maxKeys its keys.
const (
	maxInput = 64 << 10
	maxKeys  = 1000
)

type sendInputInput struct {
	TerminalID string   `json:"terminalId" jsonschema:"the terminal's id"`
	Text       string   `json:"text,omitempty" jsonschema:"typed as it is"`
	Keys       []string `json:"keys,omitempty" jsonschema:"pressed after the text: enter, tab, esc, up, ctrl+c, f5 …"`
}

type sendOutput struct {
	TerminalID string `json:"terminalId"`
	Sent       int    `json:"sentBytes"`
}

func sendInput(ctx context.Context, c call, in sendInputInput) (sendOutput, error) {
	switch {
	case in.Text == "" && len(in.Keys) == 0:
		return sendOutput{}, errors.New("nothing to send: give text, keys or both")
	case len(in.Text) > maxInput || len(in.Keys) > maxKeys:
		return sendOutput{}, fmt.Errorf("too much at once: at most %d bytes of text and %d keys", maxInput, maxKeys)
	}
	t, err := c.own(ctx, in.TerminalID, "type")
	if err != nil {
		return sendOutput{}, err
	}
	data := in.Text
	if len(in.Keys) > 0 {
		keys, err := c.host.Press(ctx, t.Resource, in.Keys)
		if err != nil {
			return sendOutput{}, err
		}
		data += keys
	}
	return sendOutput{in.TerminalID, len(data)}, c.act(ctx, t.Resource, ahp.TerminalInput{Data: data})
}
