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
