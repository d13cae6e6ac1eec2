package host_test

import (
	"testing"

	"tandemux/ahp"
)

// TestBackgroundWork: what an agent's command does after its tool call is the
// chat's background work, until it ends, a person takes it, or its terminal goes
// (G41–G46, AHP, Chat Channel).
func TestBackgroundWork(t *testing.T) {
	p := newScripted("scripted")
	_, a := one(t, p)
	held := func(call string) ahp.Claim {
		c := ahp.Claim{Kind: ahp.ClaimSession, Session: theSession, Chat: theChat}
		if call != "" {
			c.TurnID, c.ToolCallID = "turn", call
		}
		return c
	}
	work := func(what string, n int) {
		t.Helper()
		a.wait(what, func() bool { return len(a.chat.BackgroundWork) == n })
	}
	for _, uri := range []ahp.URI{"ahp-terminal:/1", "ahp-terminal:/2", "ahp-terminal:/3"} {
		a.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: uri, Claim: held("call"), Name: "server", Meta: &ahp.CreateMeta{Command: []string{"sleep", "1000"}},
		}, nil)
	}
	a.do("ahp-terminal:/1", ahp.TerminalClaimed{Claim: held("")})
	work("it is in the background", 1)
	if w := a.chat.BackgroundWork[0]; w.Kind != ahp.WorkShell || w.Terminal != "ahp-terminal:/1" || w.Command != "sleep 1000" || w.Label != "server" || w.StartedAt == "" {
		t.Errorf("the work is %+v", w)
	}
	a.do("ahp-terminal:/2", ahp.TerminalClaimed{Claim: held("")})
	a.do("ahp-terminal:/3", ahp.TerminalClaimed{Claim: held("")})
	work("all are", 3)
	a.do("ahp-terminal:/1", ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "a"}})
	work("a person has taken one", 2)
	a.do("ahp-terminal:/1", ahp.TerminalClaimed{Claim: held("")})
	work("and given it back", 3)
	a.do("ahp-terminal:/2", ahp.TerminalClaimed{Claim: held("again")})
	work("a tool call has one again", 2) // G45
	a.request(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: "ahp-terminal:/1"}, nil)
	work("one is disposed of", 1)
	a.same()
	// With the session all that it holds ends (G42).
	a.request(ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: theSession}, nil)
	if err := a.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: "ahp-terminal:/3"}, nil); ahp.CodeOf(err) != ahp.CodeNotFound {
		t.Errorf("its terminal: %v", err)
	}
}
