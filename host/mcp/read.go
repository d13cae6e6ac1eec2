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

type listOutput struct {
	Terminals []terminal `json:"terminals"`
}

// text is the bare array of the document (T3); a structured answer has to be an
// object.
func (l listOutput) text() any { return l.Terminals }

// listTerminals is T3 and T4.
// Those whose process has ended are left out (docs/contributing/decisions.md §17).
func listTerminals(ctx context.Context, c call, _ struct{}) (listOutput, error) {
	out := listOutput{Terminals: []terminal{}}
	all, err := c.list(ctx)
	for _, t := range all {
		if !t.Lifecycle.Exited() {
			out.Terminals = append(out.Terminals, c.describe(&t))
		}
	}
	return out, err
}

type commandInput struct {
	TerminalID string `json:"terminalId" jsonschema:"the terminal's id"`
	CommandID  string `json:"commandId,omitempty" jsonschema:"as an earlier answer named it"`
	Back       int    `json:"back,omitempty" jsonschema:"counted from the newest, which is 1 and the default"`
	Failed     bool   `json:"failed,omitempty" jsonschema:"count only commands that failed"`
	Raw        bool   `json:"raw,omitempty" jsonschema:"keep control sequences in the output"`
}

func readCommand(ctx context.Context, c call, in commandInput) (commandOutput, error) {
	t, err := c.known(ctx, in.TerminalID)
	if err != nil {
		return commandOutput{}, err
	}
	return c.told(ctx, t.Resource, ahp.CommandParams{ID: in.CommandID, Back: in.Back, Failed: in.Failed}, in.Raw)
}
