package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asShell lets run_command be called as agents' own shells are, whose names some agents
// take for it: the command is a text, and what else they take is left out.
func asShell(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if r, is := req.(*mcp.CallToolRequest); is && r.Params.Name == RunCommand {
			r.Params.Arguments = shellArguments(r.Params.Arguments)
		}
		return next(ctx, method, req)
	}
}

func shellArguments(raw json.RawMessage) json.RawMessage {
	var in struct {
		Command string `json:"command"`
		Timeout int64  `json:"timeout"`
	}
	if json.Unmarshal(raw, &in) != nil || in.Command == "" {
		return raw
	}
	out, err := json.Marshal(runInput{Line: in.Command, TimeoutMs: in.Timeout})
	if err != nil {
		return raw
	}
	return out
}
