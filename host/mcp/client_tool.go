package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/ahp"
	"tandemux/ahp/clienttool"
	"tandemux/internal/pace"
	"tandemux/internal/plaintext"
)

// Tools of the clients that take part in the session that the agent works in are
// offered beside our own, as long as they are there. The host has the clients carry
// them out and waits; a client that goes or takes too long has failed.

const (
	// offerTime is how long the server waits for them before it answers its client:
	// not every one asks again when the list has changed.
	offerTime = 2 * time.Second
	// offerPause is between attempts to reach a host that is gone.
	offerPause = time.Second
	maxName    = 64 // of a tool, as models take them
)

// followTools keeps the offer up to date until ctx ends. First is called when there
// is an answer, or won't be.
func (s *Server) followTools(ctx context.Context, first func()) {
	defer first()
	offered := map[string]string{} // clients' names by ours
	known := ""
	for {
		var r clienttool.ListResult
		h, err := s.reach(ctx)
		if err == nil {
			err = h.Call(ctx, clienttool.MethodList, clienttool.ListParams{Channel: s.o.Chat, Known: known}, &r)
		}
		switch ahp.CodeOf(err) {
		case 0:
			if err == nil {
				known = r.Version
				offered = s.offer(offered, r.Tools)
				first()
				continue
			}
		case ahp.CodePermissionDenied, ahp.CodeSessionNotFound, ahp.CodeMethodNotFound:
			return
		}
		if !pace.Sleep(ctx, offerPause) {
			return
		}
	}
}

// offer replaces the clients' tools that are offered.
func (s *Server) offer(before map[string]string, tools []ahp.ToolDefinition) map[string]string {
	now := map[string]string{}
	taken := Names()
	for _, t := range tools {
		name := toolName(t.Name, taken)
		taken = append(taken, name)
		if err := s.offerTool(name, t); err != nil {
			slog.Warn("a client's tool is not offered", "tool", clip(t.Name), "err", err)
			continue
		}
		now[name] = t.Name
	}
	var gone []string
	for name := range before {
		if _, still := now[name]; !still {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		s.sdk.RemoveTools(gone...)
	}
	return now
}

// toolName is a client's name of a tool in the letters that models take, other than
// those that are taken.
func toolName(name string, taken []string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	name = name[:min(len(name), maxName-12)]
	name = cmp.Or(name, "tool")
	for plain, n := name, 1; slices.Contains(taken, name); n++ {
		name = fmt.Sprintf("client%d_%s", n, plain)
	}
	return name
}

func (s *Server) offerTool(name string, t ahp.ToolDefinition) (err error) {
	defer func() {
		if r := recover(); r != nil { // The SDK's word for what is no schema.
			err = fmt.Errorf("%v", r)
		}
	}()
	tool := &mcp.Tool{
		Name: name, Title: t.Title, Description: clipText(t.Description, 4<<10) + " (Carried out by a client of this session.)",
		InputSchema: json.RawMessage(`{"type":"object"}`),
	}
	if len(t.InputSchema) > 0 && string(t.InputSchema) != "null" {
		tool.InputSchema = t.InputSchema
	}
	if len(t.Annotations) > 0 {
		var hints mcp.ToolAnnotations
		if json.Unmarshal(t.Annotations, &hints) == nil {
			tool.Annotations = &hints
		}
	}
	s.sdk.AddTool(tool, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		c, err := s.begin(ctx, "client", req)
		if err != nil {
			return nil, err
		}
		return c.clientTool(ctx, t.Name, req.Params.Arguments)
	})
	return nil
}

func clipText(s string, most int) string { return plaintext.Clip(s, most, "…") }

// clientTool has a client carry a tool out.
func (c call) clientTool(ctx context.Context, name string, input json.RawMessage) (*mcp.CallToolResult, error) {
	p := clienttool.CallParams{Channel: c.o.Chat, ID: c.id, Name: name}
	if len(input) > 0 {
		p.Input = input
	}
	var r ahp.ToolResult
	err := c.request(ctx, clienttool.MethodCall, p, &r)
	if ctx.Err() != nil {
		c.tidy(func(ctx context.Context) {
			c.request(ctx, clienttool.MethodCall, clienttool.CallParams{Channel: p.Channel, ID: p.ID, Name: name, Cancel: true}, nil) //nolint:errcheck // nobody waits
		})
		return nil, ctx.Err()
	}
	out := &mcp.CallToolResult{}
	if err != nil {
		out.SetError(err)
		return out, nil
	}
	for _, piece := range r.Content {
		out.Content = append(out.Content, clientContent(piece))
	}
	if len(r.StructuredContent) > 0 {
		out.StructuredContent = r.StructuredContent
		if len(out.Content) == 0 {
			out.Content = []mcp.Content{&mcp.TextContent{Text: string(r.StructuredContent)}}
		}
	}
	if !r.Success {
		out.IsError = true
		text := "the tool failed"
		if r.Error != nil {
			text = r.Error.Message
		}
		out.Content = append([]mcp.Content{&mcp.TextContent{Text: text}}, out.Content...)
	}
	if out.Content == nil {
		out.Content = []mcp.Content{}
	}
	return out, nil
}

// clientContent is a piece of a result in MCP's words.
func clientContent(c ahp.ToolContent) mcp.Content {
	switch c.Type {
	case ahp.ContentText:
		return &mcp.TextContent{Text: c.Text}
	case ahp.ContentResource:
		return &mcp.ResourceLink{URI: c.URI, Name: c.URI, MIMEType: c.ContentType}
	}
	b, err := json.Marshal(c)
	if err != nil {
		return &mcp.TextContent{Text: "(content of the type " + c.Type + ")"}
	}
	return &mcp.TextContent{Text: string(b)}
}
