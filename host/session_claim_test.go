package host_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestWhoTypesInASession: into what a session that the host runs holds, its agent
// alone types; who made the session reclaims first, like everybody (docs/decisions.md
// §19).
func TestWhoTypesInASession(t *testing.T) {
	w := start(t, withAgents(newScripted("scripted")))
	d := w.connectTCP("driver", w.token("terminal:read", "terminal:create", "terminal:input", "terminal:claim", "session").Token)
	d.initialize()
	d.must(ahp.MethodCreateSession, ahp.CreateSessionParams{Channel: theSession, Meta: &ahp.SessionMeta{Chat: theChat}}, nil)
	const uri = "ahp-terminal:/t"
	d.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Meta: &ahp.CreateMeta{Command: []string{"cat"}},
		Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: theSession, Chat: theChat, TurnID: "turn", ToolCallID: "call"},
	}, nil)
	d.dispatch(uri, 1, ahp.TerminalInput{Data: "x"})
	if e := d.echo(1); !strings.Contains(e.RejectionReason, "reclaim it before typing") {
		t.Errorf("a running tool call was typed into: %q", e.RejectionReason)
	}
	d.dispatch(uri, 2, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "driver"}})
	d.dispatch(uri, 3, ahp.TerminalInput{Data: "x"})
	for _, seq := range []int64{2, 3} {
		if e := d.echo(seq); e.RejectionReason != "" {
			t.Errorf("%d: %s", seq, e.RejectionReason)
		}
	}
}
