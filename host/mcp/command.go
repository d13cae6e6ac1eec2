package mcp

import (
	"context"

	"tandemux/ahp"
)

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
