package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/host/pool"
	"tandemux/internal/plaintext"
)

type readInput struct {
	TerminalID string `json:"terminalId"`
	View       string `json:"view,omitempty" jsonschema:"history (default): the output as text; screen: what the screen shows now"`
	Raw        bool   `json:"raw,omitempty" jsonschema:"keep control sequences (colours and cursor movement)"`
	Since      int64  `json:"since,omitempty" jsonschema:"a cursor: only what came after"`
	sizes
}

type readOutput struct {
	TerminalID string `json:"terminalId"`
	History    string `json:"history"`
	Cursor     int64  `json:"cursor"`
}

// readTerminal is T5 to T8.
func readTerminal(ctx context.Context, c call, in readInput) (readOutput, error) {
	t, err := c.known(ctx, in.TerminalID)
	if err == nil {
		err = in.check()
	}
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
	if in.Since > 0 && what == ahp.ReadRaw { // What is not kept any more can't be given.
		text = strings.ToValidUTF8(text[len(text)-int(min(max(r.End-in.Since, 0), int64(len(text)))):], "")
	}
	if what == ahp.ReadRaw && !in.Raw {
		text = plaintext.Convert(text)
	}
	return readOutput{in.TerminalID, in.end(text, pool.HistoryBytes), r.End}, nil
}

// listTerminals is T3 and T4. Those whose process has ended are among them as long as the
// host keeps them (docs/contributing/decisions.md §17).
func listTerminals(ctx context.Context, c call, _ struct{}) ([]terminal, error) {
	out := []terminal{}
	all, err := c.list(ctx)
	for _, t := range all {
		out = append(out, c.describe(&t))
	}
	return out, err
}

type commandInput struct {
	TerminalID string `json:"terminalId"`
	CommandID  string `json:"commandId,omitempty" jsonschema:"as an earlier answer named it"`
	Back       int    `json:"back,omitempty" jsonschema:"counted from the newest, which is 1 and the default"`
	Failed     bool   `json:"failed,omitempty" jsonschema:"count only commands that failed"`
	Raw        bool   `json:"raw,omitempty" jsonschema:"keep control sequences in the output"`
	Since      int64  `json:"since,omitempty" jsonschema:"a cursor, with its commandId: only what came after"`
	sizes
}

func readCommand(ctx context.Context, c call, in commandInput) (commandOutput, error) {
	t, err := c.known(ctx, in.TerminalID)
	if err == nil {
		err = in.check()
	}
	if err != nil {
		return commandOutput{}, err
	}
	p := ahp.CommandParams{ID: in.CommandID, Back: in.Back, Failed: in.Failed}
	if in.Since > 0 {
		if p.From = &in.Since; p.ID == "" {
			return commandOutput{}, errors.New("since is a cursor of one command: give its commandId too")
		}
	}
	return c.told(ctx, t.Resource, p, in.Raw, in.sizes)
}

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
