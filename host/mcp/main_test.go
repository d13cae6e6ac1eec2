package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tandemux/internal/hosttest"
)

func TestMain(m *testing.M) { os.Exit(hosttest.Main(m)) }

// agent is an MCP client and its session with `tandemux mcp`.
type agent struct {
	*hosttest.Machine
	session *mcp.ClientSession
}

func newAgent(w *hosttest.Machine, name string) *agent {
	w.Helper()
	cmd := w.Command("mcp")
	cmd.Stderr = os.Stderr
	return connect(w, name, &mcp.CommandTransport{Command: cmd})
}

func connect(w *hosttest.Machine, name string, t mcp.Transport) *agent {
	w.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, nil)
	s, err := c.Connect(context.Background(), t, nil)
	w.Must(err)
	w.Cleanup(func() { s.Close() })
	return &agent{w, s}
}

// try calls a tool; an error of the connection is one of the call's.
func (a *agent) try(name string, args map[string]any) (text string, failed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return err.Error(), true
	}
	return told(r), r.IsError
}

// call calls a tool; the answer's text, and whether it is an error.
func (a *agent) call(name string, args map[string]any) (text string, failed bool) {
	a.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := a.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		a.Fatalf("%s: %v", name, err)
	}
	if r.StructuredContent != nil {
		a.Errorf("%s: said twice: %v", name, r.StructuredContent)
	}
	return told(r), r.IsError
}

// told is the text of an answer; output of a program follows what is said of it.
func told(r *mcp.CallToolResult) string {
	var pieces []string
	for _, c := range r.Content {
		pieces = append(pieces, c.(*mcp.TextContent).Text)
	}
	return strings.Join(pieces, "\n")
}

// get calls a tool that has to succeed; "output" is the program's.
func (a *agent) get(name string, args map[string]any) map[string]any {
	a.Helper()
	text, failed := a.call(name, args)
	if failed {
		a.Fatalf("%s %v: %s", name, args, text)
	}
	var got map[string]any
	head, output, _ := strings.Cut(text, "\n")
	if err := json.Unmarshal([]byte(head), &got); err != nil {
		a.Fatalf("%s: %v in %s", name, err, text)
	}
	got["output"] = output
	return got
}

// blocked calls a tool that has to be refused for what is dangerous, with the way on in a
// piece of its own.
func (a *agent) blocked(way, name string, args map[string]any) {
	a.Helper()
	r, err := a.session.CallTool(context.Background(), &mcp.CallToolParams{Name: name, Arguments: args})
	a.Must(err)
	if got := told(r); !r.IsError || len(r.Content) != 2 || !strings.HasPrefix(got, "Command blocked for security reasons\n"+way) {
		a.Errorf("%s %v: error %v, %q, want the way %q", name, args, r.IsError, got, way)
	}
}

// refused calls a tool that has to fail with exactly this text.
func (a *agent) refused(want, name string, args map[string]any) {
	a.Helper()
	text, failed := a.call(name, args)
	if !failed || text != want {
		a.Errorf("%s %v: error %v, %q, want %q", name, args, failed, text, want)
	}
}

func (a *agent) list() []map[string]any {
	a.Helper()
	text, failed := a.call("list_terminals", nil)
	var got []map[string]any
	if err := json.Unmarshal([]byte(text), &got); err != nil || failed {
		a.Fatalf("list_terminals: %v, %s", err, text)
	}
	return got
}

// running are the terminals that have not ended.
func (a *agent) running() []map[string]any {
	a.Helper()
	return slices.DeleteFunc(a.list(), func(t map[string]any) bool { return t["ended"] != nil })
}

type m = map[string]any
