package clienttool

import "tandemux/ahp"

// The methods by which the MCP server of an agent gets the tools that it offers to the agent.
const (
	MethodList = "x-tandemux/clientTools"
	MethodCall = "x-tandemux/callTool"
)

// ListParams asks for the tools of the clients that take part in a chat's session, for an agent that
// works in that session. With Known, the Version of an earlier answer, the answer comes once the tools
// differ.
type ListParams struct {
	Channel ahp.URI `json:"channel"` // the chat
	Known   string  `json:"known,omitempty"`
}

// ListResult is the answer to x-tandemux/clientTools.
type ListResult struct {
	Tools   []ahp.ToolDefinition `json:"tools"` // never null
	Version string               `json:"version"`
}

// CallParams has a client run a tool in the active turn. The answer is an ahp.ToolResult, sent when
// the tool is done, was given up, or took too long.
type CallParams struct {
	Channel ahp.URI `json:"channel"` // the chat
	ID      string  `json:"id"`      // chosen by the caller, unique in the turn
	Name    string  `json:"name"`
	Input   any     `json:"input,omitempty"`
	// Cancel says that the caller no longer waits for the call ID.
	Cancel bool `json:"cancel,omitempty"`
}
