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

// TestClaimsForSessions: a token claims for no session of somebody else's, also not for a
// tool call that it makes up, and nobody for one that is not there.
func TestClaimsForSessions(t *testing.T) {
	w, a := one(t, newScripted("scripted"))
	d := w.connectTCP("driver", w.token("terminal:read", "terminal:create", "terminal:input", "terminal:claim", "session").Token)
	d.drive(theSession) // which announces what is not its own
	d.create("ahp-terminal:/own", "cat")
	seq := int64(0)
	for _, c := range []struct {
		session ahp.URI
		want    string
	}{
		{theSession, "the session " + theSession + " is somebody else's"},
		{"ahp-session:/none", "there is no session ahp-session:/none"},
	} {
		claim := ahp.Claim{Kind: ahp.ClaimSession, Session: c.session, Chat: theChat, TurnID: "turn", ToolCallID: "call"}
		err := d.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: "ahp-terminal:/t", Claim: claim}, nil)
		if ahp.CodeOf(err) != ahp.CodePermissionDenied || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a terminal for %s: %v", c.session, err)
		}
		seq++
		d.dispatch("ahp-terminal:/own", seq, ahp.TerminalClaimed{Claim: claim})
		if e := d.echo(seq); !strings.Contains(e.RejectionReason, c.want) {
			t.Errorf("a claim for %s: %q", c.session, e.RejectionReason)
		}
	}
	claim := ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/none"}
	if err := a.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: "ahp-terminal:/t", Claim: claim}, nil); err == nil || !strings.Contains(err.Error(), "there is no session") {
		t.Errorf("the operator's terminal for no session: %v", err)
	}
}
