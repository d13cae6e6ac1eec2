package host_test

import (
	"context"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host/agent"
)

// A session whose agent has opened goes on with the next host, whatever was told of
// its creation by then; one whose agent had not has failed, and says why.
func TestSessionsThatWereBeingCreated(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	slow := newScripted("slow")
	slow.opening = func(ctx context.Context) { <-ctx.Done() }
	slow.refuse = &agent.Error{Kind: agent.KindStart, Message: "too late"}
	w := startWith(t, p, slow)
	a := folder(t, w.connect("a"))
	a.initialize()
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: "ahp-session:/slow", Provider: "slow"}, nil)
	until(t, "the agent is open", func() bool { return p.opens.Load() == 1 })
	w.shutdown()
	w.startHost(withAgents(p, slow))
	b := w.connect("b")
	b.initialize()
	var ready, failed ahp.SessionState
	decodeState(t, b.subscribe("ahp-session:/slow"), &failed)
	if failed.Lifecycle != ahp.LifecycleFailed || !strings.Contains(failed.CreationError.Message, "restarted") {
		t.Errorf("the one that was not: %s, %+v", failed.Lifecycle, failed.CreationError)
	}
	decodeState(t, b.subscribe(theSession), &ready)
	if ready.Lifecycle == ahp.LifecycleCreating {
		t.Errorf("the one that was: %s", ready.Lifecycle)
	}
}

// Sessions and chats outlive the host whatever their URIs are like.
func TestSessionsOfAnyScheme(t *testing.T) {
	t.Parallel()
	p := newScripted("scripted")
	w := startWith(t, p)
	a := folder(t, w.connect("a"))
	a.initialize()
	const session, chat, second = "basic:/x", "basic:/x/chat", "copilot:/second"
	a.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: session, Meta: &ahp.SessionMeta{Chat: chat, Title: "Mine"}}, nil)
	a.must(ahp.MethodCreateChat, ahp.CreateChatParams{Channel: session, Chat: second, Title: "Another"}, nil)
	for range 2 { // The second time from what the next host wrote.
		w.shutdown()
		w.startHost(withAgents(p))
		b := w.connect("b")
		b.initialize()
		var s ahp.SessionState
		decodeState(t, b.subscribe(session), &s)
		if s.Title != "Mine" || s.DefaultChat != chat || len(s.Chats) != 2 {
			t.Fatalf("the session came back as %+v", s)
		}
		for uri, title := range map[ahp.URI]string{chat: "", second: "Another"} {
			var c ahp.ChatState
			decodeState(t, b.subscribe(uri), &c)
			if c.Resource != uri || c.Title != title {
				t.Errorf("%s came back as %+v", uri, c)
			}
		}
	}
}
