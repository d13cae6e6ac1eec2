package mcp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tandemux/ahp"
)

// maxInput bounds what one call types, in bytes, and maxKeys its keys.
const (
	maxInput = 64 << 10
	maxKeys  = 1000
)

type sendInputInput struct {
	TerminalID string   `json:"terminalId"`
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
	err = c.permitted(ctx, t.Resource, in.Text+"\n", func() error { return c.act(ctx, t.Resource, ahp.TerminalInput{Data: data}) })
	return sendOutput{in.TerminalID, len(data)}, err
}

const (
	defaultWait  = 30 * time.Second
	defaultQuiet = 2 * time.Second
)

type waitInput struct {
	TerminalID string `json:"terminalId"`
	Until      string `json:"until" jsonschema:"exit (of the process), command (the one that runs has ended), text (a line matches pattern) or idle (no output for idleMs)"`
	Pattern    string `json:"pattern,omitempty" jsonschema:"for text: an RE2 regular expression, matched against each line"`
	New        bool   `json:"new,omitempty" jsonschema:"for text: only output from now on; otherwise what the running command has printed counts too, while none runs all that is there"`
	IdleMs     int64  `json:"idleMs,omitempty" jsonschema:"for idle; default 2000"`
	TimeoutMs  int64  `json:"timeoutMs,omitempty" jsonschema:"default 30000; 45000 is the most unless your client follows progress"`
}

type waitOutput struct {
	TerminalID string `json:"terminalId"`
	Reason     string `json:"reason"` // met, timeout, input, exited, finished, overrun
	Met        bool   `json:"met"`
	Running    bool   `json:"running"`
	ExitCode   *int   `json:"exitCode,omitempty"`
	Line       string `json:"line,omitempty"` // that matched
	Prompt     string `json:"prompt,omitempty"`
	Hint       string `json:"hint,omitempty"`
}

// untils are the conditions that can be waited for.
var untils = map[string]bool{ahp.WaitExit: true, ahp.WaitCommand: true, ahp.WaitText: true, ahp.WaitIdle: true}

func waitFor(ctx context.Context, c call, in waitInput) (waitOutput, error) {
	limit, err := c.timeout(in.TimeoutMs, defaultWait)
	switch {
	case err != nil:
		return waitOutput{}, err
	case !untils[in.Until]:
		return waitOutput{}, fmt.Errorf("until %q is none of exit, command, text, idle", clip(in.Until))
	case in.IdleMs < 0:
		return waitOutput{}, fmt.Errorf("idleMs %d is negative", in.IdleMs)
	}
	t, err := c.known(ctx, in.TerminalID)
	if err != nil {
		return waitOutput{}, err
	}
	p := ahp.WaitParams{Channel: t.Resource, Until: in.Until, TimeoutMs: limit, Input: true}
	switch in.Until {
	case ahp.WaitText:
		p.Pattern, p.Past, p.New = in.Pattern, !in.New, in.New
	case ahp.WaitIdle:
		if p.IdleMs = in.IdleMs; p.IdleMs == 0 {
			p.IdleMs = defaultQuiet.Milliseconds()
		}
	}
	r, err := c.wait(ctx, p)
	out := waitOutput{
		TerminalID: in.TerminalID, Reason: r.Reason, Met: r.Reason == ahp.WaitMet,
		Running: r.Running, ExitCode: r.ExitCode, Line: r.Line,
	}
	if waits, prompt, who := c.asks(ctx, in.TerminalID, r); waits {
		out.Line, out.Prompt, out.Hint = "", prompt, who
	}
	return out, err
}
