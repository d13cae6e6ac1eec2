package clienttool

import "tandemux/ahp"

// The methods. The MCP server that an agent is given offers these tools.
const (
	MethodList = "x-tandemux/clientTools"
	MethodCall = "x-tandemux/callTool"
)

// ListParams asks for the tools of the clients that take part in a chat's
// session, for an agent that works in that session. With Known, the version of an
// earlier answer, it is answered when they are others.
type ListParams struct {
	Channel ahp.URI `json:"channel"` // the chat
	Known   string  `json:"known,omitempty"`
}

// ListResult answers it.
type ListResult struct {
	Tools   []ahp.ToolDefinition `json:"tools"` // never null
	Version string               `json:"version"`
}

// CallParams has a client carry a tool out in the turn that runs. It is answered
// with an ahp.ToolResult when that is done, was given up, or takes too long.
type CallParams struct {
	Channel ahp.URI `json:"channel"` // the chat
	ID      string  `json:"id"`      // the caller's, unique in the turn
	Name    string  `json:"name"`
	Input   any     `json:"input,omitempty"`
	// Cancel says that the call of that ID is no longer waited for.
	Cancel bool `json:"cancel,omitempty"`
}
