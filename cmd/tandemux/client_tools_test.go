package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/listen"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// folded is a client that folds one chat and says when it has changed.
type folded struct {
	chat    ahp.ChatState
	changed chan ahp.ChatState
}

func (f *folded) Snapshot(s ahp.Snapshot) {
	if strings.HasPrefix(s.Resource, ahp.ChatScheme) && json.Unmarshal(s.State, &f.chat) == nil {
		f.changed <- f.chat
	}
}

func (f *folded) Action(e ahp.Envelope) {
	if strings.HasPrefix(e.Channel, ahp.ChatScheme) && e.RejectionReason == "" {
		f.chat = ahp.ReduceChat(f.chat, e.Action)
		f.changed <- f.chat
	}
}
func (*folded) Gone(ahp.URI)                {}
func (*folded) Status(client.Status, error) {}

// connectFolded connects such a client to the host of a runtime directory.
func connectFolded(ctx context.Context, t *testing.T, run, id string) (*client.Client, *folded) {
	t.Helper()
	f := &folded{changed: make(chan ahp.ChatState, 10_000)}
	c, err := client.Connect(ctx, client.Options{ClientID: id, Sink: f, Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
		return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + filepath.Join(run, "tandemux", listen.SocketName)})
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, f
}

// until waits for a state of the chat.
func (f *folded) until(ctx context.Context, t *testing.T, what string, ok func(ahp.ChatState) bool) ahp.ChatState {
	t.Helper()
	for last := (ahp.ChatState{}); ; {
		select {
		case last = <-f.changed:
			if ok(last) {
				return last
			}
		case <-ctx.Done():
			b, _ := json.Marshal(last)
			t.Fatalf("never: %s: %s", what, b)
		}
	}
}

// TestClientToolsOfACPAgents: an agent that is spoken to by ACP uses the tools of the
// clients of its session, by the MCP server that it is given: they are offered under
// names that models take, beside tandemux's own; only the client that has one tells the
// result; they go when the client goes, and so does a call that it was carrying
// out.
func TestClientToolsOfACPAgents(t *testing.T) {
	if beside(t) {
		return
	}
	home, run := t.TempDir(), shortDir(t)
	script := filepath.Join(home, "agent.txt")
	for path, text := range map[string]string{
		filepath.Join(home, "config/tandemux/config.toml"): fmt.Sprintf("[agents.scripted]\ncommand = [\"scripted-agent\", %q]\n", script),
		script: `prompt
mcp list tools/list {}
show list
mcp r tools/call {"name":"pick_a_colour_","arguments":{"n":3}}
show r
mcp r tools/call {"name":"client1_run_command","arguments":{}}
show r
noted notifications/tools/list_changed
mcp list tools/list {}
show list
mcp r tools/call {"name":"pick_a_colour_","arguments":{}}
show r
`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tandemux := exec.Command("tandemux", "host")
	tandemux.Env = append(os.Environ(), "SHELL=/bin/sh")
	for k, v := range homeEnv(home, run) {
		tandemux.Env = append(tandemux.Env, k+"="+v)
	}
	if out, err := tandemux.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() {
		stop := exec.Command("tandemux", "stop") // a killed one the agent's bridge would start anew
		stop.Env = tandemux.Env
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		endHost(home, run)
	})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	connect := func(id string) (*client.Client, *folded) { return connectFolded(ctx, t, run, id) }
	const session, chat = "ahp-session:/s", "ahp-chat:/c"
	tool := func(name, schema string) ahp.ToolDefinition {
		return ahp.ToolDefinition{Name: name, InputSchema: json.RawMessage(schema)}
	}
	me, seen := connect("me")
	if err := me.Call(ctx, ahp.MethodCreateSession, ahp.CreateSessionParams{
		Channel: session, Provider: "scripted", Meta: &ahp.SessionMeta{Chat: chat},
		ActiveClient: &ahp.ActiveClient{ClientID: "me", Tools: []ahp.ToolDefinition{
			tool("pick a colour!", `{"type":"object","properties":{"n":{"type":"number"}}}`), tool("run_command", ``), tool("broken", `{"type":"string"}`),
		}},
	}, nil); err != nil {
		t.Fatal(err)
	}
	other, _ := connect("other")
	for _, uri := range []ahp.URI{session, chat} {
		if err := me.Subscribe(ctx, uri); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := me.DispatchWait(ctx, chat, ahp.ChatTurnStarted{TurnID: "t", Message: ahp.Message{Text: "go", Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}}); err != nil {
		t.Fatal(err)
	}
	until := func(what string, ok func(ahp.ChatState) bool) ahp.ChatState { return seen.until(ctx, t, what, ok) }
	running := func(name string) (id, input string) {
		until(name+" to run", func(s ahp.ChatState) bool {
			if s.ActiveTurn == nil {
				return false
			}
			for _, p := range s.ActiveTurn.ResponseParts {
				if k := p.ToolCall; k != nil && k.ToolName == name && k.Status == ahp.ToolRunning && k.Contributor.ClientID == "me" {
					id = k.ToolCallID
					input, _ = ahp.InputText(k.ToolInput)
				}
			}
			return id != ""
		})
		return id, input
	}
	id, input := running("pick a colour!")
	if input != `{"n":3}` {
		t.Errorf("the client gets %s", input)
	}
	done := ahp.ChatToolCallComplete{TurnID: "t", ToolCallID: id, Result: ahp.ToolResult{Success: true, PastTenseMessage: ahp.Plain("Picked"), Content: []ahp.ToolContent{{Type: ahp.ContentText, Text: "green"}}}}
	if e, err := other.DispatchWait(ctx, chat, done); err == nil || !strings.Contains(err.Error()+e.RejectionReason, "another client's") {
		t.Errorf("another client tells the result: %v %+v", err, e)
	}
	if _, err := me.DispatchWait(ctx, chat, done); err != nil {
		t.Fatal(err)
	}
	running("run_command")
	if _, err := me.DispatchWait(ctx, session, ahp.SessionActiveClientRemoved{ClientID: "me"}); err != nil {
		t.Fatal(err)
	}
	end := until("the end", func(s ahp.ChatState) bool { return len(s.Turns) == 1 })
	var said []string
	for _, p := range end.Turns[0].ResponseParts {
		if p.Kind == ahp.PartMarkdown {
			said = append(said, p.Content)
		}
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{`"name":"pick_a_colour_"`, `"name":"client1_run_command"`, `"text":"green"`, "no longer takes part", "unknown tool"} {
		if !strings.Contains(text, want) {
			t.Errorf("the agent got no %s", want)
		}
	}
	if strings.Contains(text, `"broken"`) || strings.Count(text, `"name":"pick_a_colour_"`) != 1 || end.Turns[0].State != ahp.TurnComplete {
		t.Errorf("the turn is %s, and the agent got %s", end.Turns[0].State, text)
	}
}

// shortDir is one whose path sockets fit into.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tandemux")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
