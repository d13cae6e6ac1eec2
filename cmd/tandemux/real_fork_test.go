package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/client"
)

// TestRealAgentsFork has those agents from npm that can copy a session do so: the
// copy remembers what was said before, and the first chat goes on without it. It
// needs what scripts/real-agents.sh installs.
func TestRealAgentsFork(t *testing.T) {
	eachReal(t, func(a realAgent) bool { return a.forks }, func(t *testing.T, a realAgent, bin, program string) {
		m := &Model{Tool: "no such tool"}
		c := newRealChat(t, bin, program, a, m)
		c.do(ahp.ChatTurnStarted{TurnID: "one", Message: aMessage("The word is xyzzy.")})
		c.ended(1)
		began := time.Now()
		next := aMessage("And now plugh.")
		const copied = "ahp-chat:/copy"
		c.ask(ahp.MethodCreateChat, ahp.CreateChatParams{
			Channel: realSession, Chat: copied, Source: &ahp.ChatSource{Kind: "fork", Chat: realChat, TurnID: "one"}, InitialMessage: &next,
		}, nil)
		t.Logf("copied in %v", time.Since(began).Round(time.Millisecond))
		c.Unsubscribe(realChat)
		if err := c.Subscribe(c.ctx, copied); err != nil {
			t.Fatal(err)
		}
		c.ended(2)
		if !m.Saw("xyzzy", "plugh") {
			t.Errorf("the copy does not remember; asked: %s", strings.Join(m.Asked(), "\n"))
		}
	})
}

// TestRealAgentsSteer has those agents from npm that take a message while they work be
// given one: it goes into the turn, and reaches the model.
func TestRealAgentsSteer(t *testing.T) {
	eachReal(t, func(a realAgent) bool { return a.steers }, func(t *testing.T, a realAgent, bin, program string) {
		m := &Model{Command: "sleep 2; echo slept"}
		c := newRealChat(t, bin, program, a, m)
		c.do(ahp.ChatTurnStarted{TurnID: "one", Message: aMessage("Run it.")})
		c.seen.until(c.ctx, t, "the tool to run", func(s ahp.ChatState) bool {
			if s.ActiveTurn == nil {
				return false
			}
			for _, p := range s.ActiveTurn.ResponseParts {
				if p.ToolCall != nil && p.ToolCall.Status == ahp.ToolRunning {
					return true
				}
			}
			return false
		})
		c.do(ahp.ChatPendingMessageSet{Kind: ahp.PendingSteering, ID: "s", Message: aMessage("And plugh.")})
		c.ended(1)
		if !m.Saw("plugh", "slept") {
			t.Errorf("the message did not reach the model; asked: %s", strings.Join(m.Asked(), "\n"))
		}
	})
}

// eachReal runs a test with each agent from npm that it is for and that is installed.
func eachReal(t *testing.T, is func(realAgent) bool, test func(t *testing.T, a realAgent, bin, program string)) {
	folder, bin := realBin(t)
	for _, a := range realAgents {
		if !is(a) {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(folder, "node_modules", ".bin", a.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("not installed: %v", err)
			}
			test(t, a, bin, program)
		})
	}
}

const realSession, realChat = "ahp-session:/s", "ahp-chat:/c"

func aMessage(text string) ahp.Message {
	return ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
}

// realConversation is a client in a chat with a real agent.
type realConversation struct {
	*client.Client
	t    *testing.T
	ctx  context.Context
	seen *folded
	run  string // XDG_RUNTIME_DIR
}

func newRealChat(t *testing.T, bin, program string, a realAgent, m *Model) *realConversation {
	t.Helper()
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	r := newRealRun(t, bin, program, server.URL, a.env, a.files)
	t.Cleanup(func() { r.tandemux("stop") })
	if out, errs, err := r.tandemux("host"); err != nil {
		t.Fatalf("%v\n%s%s", err, out, errs)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	c := &realConversation{t: t, ctx: ctx, run: r.of("XDG_RUNTIME_DIR")}
	c.Client, c.seen = connectFolded(ctx, t, r.of("XDG_RUNTIME_DIR"), "person")
	got := ahp.AgentResult{Provider: a.provider}
	if a.provider == "" {
		c.ask(ahp.MethodAgent, ahp.AgentParams{Channel: ahp.RootURI, Command: append([]string{program}, a.args...)}, &got)
	}
	c.ask(ahp.MethodCreateSession, ahp.CreateSessionParams{
		Channel: realSession, Provider: got.Provider, WorkingDirectories: []ahp.URI{"file://" + r.dir}, Meta: &ahp.SessionMeta{Chat: realChat, Confirm: ahp.ConfirmAll},
	}, nil)
	if err := c.Subscribe(ctx, realChat); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *realConversation) ask(method string, params, result any) {
	c.t.Helper()
	if err := c.Call(c.ctx, method, params, result); err != nil {
		c.t.Fatalf("%s: %v", method, err)
	}
}

func (c *realConversation) do(a ahp.Action) {
	c.t.Helper()
	if _, err := c.DispatchWait(c.ctx, realChat, a); err != nil {
		c.t.Fatal(err)
	}
}

// ended waits until so many turns have, the last one well.
func (c *realConversation) ended(turns int) {
	c.t.Helper()
	s := c.seen.until(c.ctx, c.t, "the end of a turn", func(s ahp.ChatState) bool { return len(s.Turns) == turns && s.ActiveTurn == nil })
	if last := s.Turns[turns-1]; last.State != ahp.TurnComplete {
		c.t.Fatalf("the turn is %s: %+v", last.State, last.ResponseParts)
	}
}
