package ahp

// tandemux's extensions by which an agent uses the tools of its session's clients: the
// MCP server that it is given offers them.
const (
	MethodClientTools = "x-tandemux/clientTools"
	MethodCallTool    = "x-tandemux/callTool"
)

// ClientToolsParams asks for the tools of the clients that take part in a chat's
// session, for an agent that works in that session. With Known, the version of an
// earlier answer, it is answered when they are others.
type ClientToolsParams struct {
	Channel URI    `json:"channel"` // the chat
	Known   string `json:"known,omitempty"`
}

// ClientToolsResult answers it.
type ClientToolsResult struct {
	Tools   []ToolDefinition `json:"tools"` // never null
	Version string           `json:"version"`
}

// CallToolParams has a client carry a tool out in the turn that runs. It is answered
// with a ToolResult when that is done, was given up, or takes too long.
type CallToolParams struct {
	Channel URI    `json:"channel"` // the chat
	ID      string `json:"id"`      // the caller's, unique in the turn
	Name    string `json:"name"`
	Input   any    `json:"input,omitempty"`
	// Cancel says that the call of that ID is no longer waited for.
	Cancel bool `json:"cancel,omitempty"`
}
