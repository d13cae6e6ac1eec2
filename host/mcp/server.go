package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cotty/ahp"
)

// Server serves one agent's tools.
type Server struct {
	o     Options
	sdk   *mcp.Server
	calls atomic.Int64 // numbers tool calls, for claims
}

// instructions is what a model is told of the tools as a whole (T42–T47).
const instructions = `Terminals of this machine, shared with a person. The person sees what you start and may take it over at any time.
Prefer run_command for anything that ends; use spawn_background_terminal for what keeps running, such as a development server.
Call list_terminals before you start something that may run already. After spawning, read_terminal or wait_for tells whether it came up; do not go on before.
Start in the background and promote_terminal when it is stable and the person should have it; that is final.
kill_terminal what you no longer need. A background terminal without input and output for 5 minutes is ended.
When a limit is met (3 spawns a minute, 5 terminals), wait or kill one of yours; do not retry at once.`

// New makes the server of one agent.
func New(o Options) *Server {
	s := &Server{o: o}
	s.sdk = mcp.NewServer(
		&mcp.Implementation{Name: "cotty", Title: "cotty: shared terminals", Version: o.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}},
	)
	for _, t := range tools {
		t.add(s)
	}
	return s
}

// SDK is the server for a transport or a handler of the SDK.
func (s *Server) SDK() *mcp.Server { return s.sdk }

// ServeStdio serves one client on the process's stdin and stdout until it
// leaves or ctx ends.
func (s *Server) ServeStdio(ctx context.Context) error {
	return s.sdk.Run(ctx, &mcp.StdioTransport{})
}

// call is one tool call under way.
type call struct {
	*Server
	req *mcp.CallToolRequest
	id  string // in the claims of terminals that it works in
}

// tool is a row of the table of tools.
type tool struct {
	name string
	add  func(*Server)
}

// row makes one: what a tool is called, says of itself, and does. An error's
// text is the answer, marked as an error (T14–T16, T21). The answer is given
// structured, and as JSON text in the order of its members.
func row[In, Out any](t mcp.Tool, do func(ctx context.Context, c call, in In) (Out, error)) tool {
	return tool{t.Name, func(s *Server) {
		t := t // each server its own
		mcp.AddTool(s.sdk, &t, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
			out, err := do(ctx, call{s, req, fmt.Sprintf("%s-%d", t.Name, s.calls.Add(1))}, in)
			if err != nil {
				return nil, out, err
			}
			text, err := json.Marshal(textOf(out))
			if err != nil {
				return nil, out, err
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, out, nil
		})
	}}
}

// texter is an answer whose text is not its structure.
type texter interface{ text() any }

func textOf(out any) any {
	if t, ok := out.(texter); ok {
		return t.text()
	}
	return out
}

// request asks the host.
func (s *Server) request(ctx context.Context, method string, params, result any) error {
	return s.o.Host.Call(ctx, method, params, result)
}

// act has the host carry out an action.
func (s *Server) act(ctx context.Context, channel ahp.URI, a ahp.Action) error {
	_, err := s.o.Host.DispatchWait(ctx, channel, a)
	return err
}

var (
	yes, no = true, false
	// The hints of MCP; absent ones mean destructive and open.
	looks  = &mcp.ToolAnnotations{ReadOnlyHint: true, DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}
	shapes = &mcp.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}
	ends   = &mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no}
	acts   = &mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &yes}
)
