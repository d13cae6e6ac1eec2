package host_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
)

// TestWhoTypesInASession: into what a session that the host runs holds, its agent
// alone types; who made the session reclaims first, like everybody (docs/contributing/decisions.md
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
		{"nothing-known:/none", "there is no session nothing-known:/none"},
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

// TestClaimsThatRace: of two principals that decide on the same claim one gets the
// terminal and the other is told (G48); who decides on what is there now gets it.
func TestClaimsThatRace(t *testing.T) {
	w := start(t)
	const uri = "ahp-terminal:/t"
	a, b := w.connect("a"), w.connectTCP("b", w.token("admin").Token)
	a.initialize()
	b.initialize()
	a.create(uri, "cat")
	b.subscribe(uri)
	claim := func(p *peer, clientSeq, seen int64) ahp.Envelope {
		p.dispatch(uri, clientSeq, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}, Seen: seen})
		return p.echo(clientSeq)
	}
	first := claim(b, 1, 0)
	if first.RejectionReason != "" {
		t.Fatalf("a claim that says nothing of what it knew: %s", first.RejectionReason)
	}
	if e := claim(a, 1, first.ServerSeq-1); !strings.Contains(e.RejectionReason, "somebody else was first") {
		t.Errorf("a claim that is decided on what was: %q", e.RejectionReason)
	}
	if e := claim(a, 2, first.ServerSeq); e.RejectionReason != "" || e.Action.(ahp.TerminalClaimed).Seen != 0 {
		t.Errorf("a claim that is decided on what is: %+v", e)
	}
	last := claim(a, 3, 1)
	if last.RejectionReason != "" {
		t.Errorf("after one's own claim: %q", last.RejectionReason)
	}
	for b.seq < last.ServerSeq { // or b had not seen it
		if _, _, err := b.next(); err != nil {
			t.Fatal(err)
		}
	}
	if e := claim(b, 2, 0); e.RejectionReason != "" {
		t.Errorf("a claim that came alone: %q", e.RejectionReason)
	}
	// Both are here before either is carried out, and neither says what it knew.
	release := sync.OnceFunc(host.Hold(w.host))
	defer release()
	for i, p := range []*peer{a, b} {
		p.dispatch(uri, 4, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}})
		w.until("the host has read it", func() bool {
			stacks := make([]byte, 1<<20)
			n := 0
			for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
				if strings.Contains(stack, "core.(*Core).Turn(") && strings.Contains(stack, "requests.(*Conn).dispatch(") {
					n++
				}
			}
			return n == i+1
		})
	}
	release()
	if x, y := a.echo(4), b.echo(4); (x.RejectionReason == "") == (y.RejectionReason == "") {
		t.Errorf("of two claims at once: %q, %q", x.RejectionReason, y.RejectionReason)
	}
}

// TestNotGivenBackToWhatIsGone: a terminal that was taken from a session stays with who took
// it when the session ends, in the next host too.
func TestNotGivenBackToWhatIsGone(t *testing.T) {
	w, a := one(t, newScripted("scripted"))
	const uri = "ahp-terminal:/t"
	claim := ahp.Claim{Kind: ahp.ClaimSession, Session: theSession, Chat: theChat}
	a.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{Channel: uri, Claim: claim, Meta: &ahp.CreateMeta{Command: []string{"cat"}}}, nil)
	give := func(p *peer, seq int64) string {
		p.dispatch(uri, seq, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name}})
		if e := p.echo(seq); e.RejectionReason != "" {
			t.Fatalf("take it: %s", e.RejectionReason)
		}
		p.dispatch(uri, seq+1, ahp.TerminalClaimed{Claim: claim})
		return p.echo(seq + 1).RejectionReason
	}
	if s := give(a.peer, 101); s != "" {
		t.Fatalf("give it back: %s", s)
	}
	a.dispatch(uri, 103, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: a.name}})
	a.echo(103)
	a.must(ahp.MethodDisposeSession, ahp.SubscribeParams{Channel: theSession}, nil)
	const want = "there is no session " + theSession
	if s := give(a.peer, 104); !strings.Contains(s, want) {
		t.Errorf("given back to a session that has ended: %q", s)
	}
	w.shutdown()
	w.startHost()
	b := w.connect("b")
	var root ahp.RootState
	if err := json.Unmarshal(b.initialize(ahp.RootURI).Snapshots[0].State, &root); err != nil {
		t.Fatal(err)
	}
	if row := root.Terminals[0]; row.Resource != uri || row.Meta.HandBack != nil {
		t.Errorf("the next host would give it back: %+v", row.Meta)
	}
	if s := give(b, 1); !strings.Contains(s, want) {
		t.Errorf("given back in the next host: %q", s)
	}
}

// TestAnnouncedOnce: a session that is driven outside of the host is one principal's.
func TestAnnouncedOnce(t *testing.T) {
	w := start(t)
	const session = "copilot:/1"
	scopes := []string{"terminal:read", "terminal:create", "terminal:claim", "session"}
	token := w.token(scopes...).Token
	d := w.connectTCP("driver", token)
	d.drive(session)
	second := w.connectTCP("second", token)
	second.drive(session) // of the same principal
	other := w.connectTCP("other", w.token(scopes...).Token)
	hello := ahp.InitializeParams{Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: "other", Meta: &ahp.HelloMeta{Session: session}}
	if err := other.call(ahp.MethodInitialize, hello, nil); ahp.CodeOf(err) != ahp.CodePermissionDenied || !strings.Contains(err.Error(), "somebody else's") {
		t.Fatalf("announced by two: %v", err)
	}
	hello.Meta.Session = "copilot:/2"
	other.must(ahp.MethodInitialize, hello, nil) // nothing else is in its way
	create := ahp.CreateTerminalParams{Channel: "ahp-terminal:/t", Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: session}}
	if err := other.call(ahp.MethodCreateTerminal, create, nil); err == nil || !strings.Contains(err.Error(), "there is no session") {
		t.Errorf("a terminal for a session that it could not announce: %v", err)
	}
	second.must(ahp.MethodCreateTerminal, create, nil)
}
