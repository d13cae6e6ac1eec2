package main

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cotty/ahp"
	"cotty/internal/acptest/model"
)

// TestRealAgentsFork has those agents from npm that can copy a session do so: the
// copy remembers what was said before, and the first chat goes on without it. It
// needs what scripts/real-agents.sh installs.
func TestRealAgentsFork(t *testing.T) {
	folder, bin := realBin(t)
	for _, a := range realAgents {
		if !a.forks {
			continue
		}
		t.Run(a.name, func(t *testing.T) {
			program := filepath.Join(folder, "node_modules", ".bin", a.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("not installed: %v", err)
			}
			m := &model.Model{Tool: "no such tool"}
			server := httptest.NewServer(m)
			defer server.Close()
			r := newRealRun(t, bin, program, server.URL, a.env, a.files)
			defer r.cotty("stop", "--yes")
			if out, errs, err := r.cotty("host"); err != nil {
				t.Fatalf("%v\n%s%s", err, out, errs)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
			defer cancel()
			c, seen := connectFolded(ctx, t, r.runtime(), "fork")
			ask := func(method string, params, result any) {
				t.Helper()
				if err := c.Call(ctx, method, params, result); err != nil {
					t.Fatalf("%s: %v", method, err)
				}
			}
			said := func(text string) ahp.Message {
				return ahp.Message{Text: text, Origin: ahp.MessageOrigin{Kind: ahp.OriginUser}}
			}
			ended := func(turns int) {
				t.Helper()
				s := seen.until(ctx, t, "the end of a turn", func(s ahp.ChatState) bool { return len(s.Turns) == turns && s.ActiveTurn == nil })
				if last := s.Turns[turns-1]; last.State != ahp.TurnComplete {
					t.Fatalf("the turn is %s: %+v", last.State, last.ResponseParts)
				}
			}
			var got ahp.AgentResult
			ask(ahp.MethodAgent, ahp.AgentParams{Channel: ahp.RootURI, Command: append([]string{program}, a.args...)}, &got)
			const session, chat, copied = "ahp-session:/s", "ahp-chat:/c", "ahp-chat:/copy"
			ask(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: session, Provider: got.Provider, WorkingDirectories: []ahp.URI{"file://" + r.dir}, Meta: &ahp.SessionMeta{Chat: chat}}, nil)
			if err := c.Subscribe(ctx, chat); err != nil {
				t.Fatal(err)
			}
			if _, err := c.DispatchWait(ctx, chat, ahp.ChatTurnStarted{TurnID: "one", Message: said("The word is xyzzy.")}); err != nil {
				t.Fatal(err)
			}
			ended(1)
			began := time.Now()
			next := said("And now plugh.")
			ask(ahp.MethodCreateChat, ahp.CreateChatParams{
				Channel: session, Chat: copied, Source: &ahp.ChatSource{Kind: "fork", Chat: chat, TurnID: "one"}, InitialMessage: &next,
			}, nil)
			t.Logf("copied in %v", time.Since(began).Round(time.Millisecond))
			c.Unsubscribe(chat)
			if err := c.Subscribe(ctx, copied); err != nil {
				t.Fatal(err)
			}
			ended(2)
			if !m.Saw("xyzzy", "plugh") {
				t.Errorf("the copy does not remember; asked: %s", strings.Join(m.Asked(), "\n"))
			}
		})
	}
}
