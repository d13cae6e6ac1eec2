package mcp

import (
	"context"
	"fmt"

	"tandemux/ahp"
	"tandemux/host/pool"
	"tandemux/internal/plaintext"
)

type readInput struct {
	TerminalID string `json:"terminalId" jsonschema:"the terminal's id"`
	View       string `json:"view,omitempty" jsonschema:"history (default): the output as text; screen: what the screen shows now"`
	Raw        bool   `json:"raw,omitempty" jsonschema:"keep control sequences (colours and cursor movement)"`
}

type readOutput struct {
	TerminalID string `json:"terminalId"`
	History    string `json:"history"`
}

// readTerminal is T5 to T8.
func readTerminal(ctx context.Context, c call, in readInput) (readOutput, error) {
	t, err := c.known(ctx, in.TerminalID)
	if err != nil {
		return readOutput{}, err
	}
	what := ahp.ReadRaw
	switch in.View {
	case "", "history":
	case "screen":
		what = ahp.ReadScreen
	default:
		return readOutput{}, fmt.Errorf("view %q is neither history nor screen", clip(in.View))
	}
	var r ahp.ReadResult
	if err := c.request(ctx, ahp.MethodRead, ahp.ReadParams{Channel: t.Resource, What: what}, &r); err != nil {
		return readOutput{}, err
	}
	text := r.Text
	if what == ahp.ReadRaw && !in.Raw {
		text = plaintext.Convert(text)
	}
	return readOutput{TerminalID: in.TerminalID, History: pool.History(text)}, nil
}
