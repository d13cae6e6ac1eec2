package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/find"
)

// TestScopes: each scope alone, and what it lets one do: nothing else.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := start(t)
	o := w.connect("o")
	o.initialize()
	const shared = "ahp-terminal:/shared"
	o.create(shared, "sh", "-c", "echo ready; cat")
	verbs := map[string]func(p *peer, me string) error{
		"subscribe": func(p *peer, _ string) error {
			return p.call(ahp.MethodSubscribe, ahp.SubscribeParams{Channel: shared}, nil)
		},
		"read": func(p *peer, _ string) error {
			return p.call(ahp.MethodRead, ahp.ReadParams{Channel: shared, What: ahp.ReadScreen}, nil)
		},
		"history": func(p *peer, _ string) error {
			return p.call(find.MethodHistory, find.HistoryParams{Channel: ahp.RootURI}, nil)
		},
		"search": func(p *peer, _ string) error {
			return p.call(find.MethodSearch, find.SearchParams{Channel: ahp.RootURI, Pattern: "ready"}, nil)
		},
		"create": func(p *peer, me string) error {
			return p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
				Channel: "ahp-terminal:/" + me, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: me}, Meta: &ahp.CreateMeta{Command: []string{"cat"}},
			}, nil)
		},
		"create for a session": func(p *peer, me string) error {
			return p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
				Channel: "ahp-terminal:/s-" + me, Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/" + me, Chat: "ahp-chat:/1"},
				Meta: &ahp.CreateMeta{Command: []string{"cat"}},
			}, nil)
		},
		"tokens": func(p *peer, _ string) error {
			return p.call(ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, nil)
		},
		"dispose another's": func(p *peer, _ string) error {
			return p.call(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: shared + "2"}, nil)
		},
	}
	for scopes, may := range map[string]string{
		"terminal:read": "read subscribe search", "terminal:create": "create", "terminal:input": "", "terminal:claim": "", "session": "",
		"terminal:create session": "create|create for a session",
		"admin":                   "create|create for a session|dispose another's|history|read|search|subscribe|tokens",
	} {
		may = strings.ReplaceAll(may, "read subscribe search", "read|search|subscribe")
		me := "of-" + strings.NewReplacer(":", "-", " ", "-").Replace(scopes)
		p := w.connectTCP(me, w.token(strings.Fields(scopes)...).Token)
		if strings.Contains(may, "create for a session") {
			p.drive("ahp-session:/" + me)
		} else {
			p.initialize()
		}
		o.create(shared+"2", "cat")
		for name, do := range verbs {
			err := do(p, me)
			if want := strings.Contains("|"+may+"|", "|"+name+"|"); want != (err == nil) {
				t.Errorf("%s: %s: %v", scopes, name, err)
			} else if err != nil && ahp.CodeOf(err) != ahp.CodePermissionDenied {
				t.Errorf("%s: %s is refused with %d: %v", scopes, name, ahp.CodeOf(err), err)
			}
		}
		if !strings.Contains(may, "dispose") {
			o.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: shared + "2"}, nil)
		}
	}
}

// TestAuditRecord: who created, took over, cleared and ended a terminal, and
// who was refused, is on record with who it was taken from; what was typed and
// shown is not.
func TestAuditRecord(t *testing.T) {
	t.Parallel()
	w := start(t)
	token := w.token("terminal:read", "terminal:create", "terminal:input", "terminal:claim")
	agent := w.connectTCP("agent", token.Token)
	agent.initialize()
	const uri = "ahp-terminal:/t"
	agent.create(uri, "sh", "-c", "stty -echo; echo shown-secret; cat")
	agent.output(uri, "shown-secret")
	agent.dispatch(uri, 1, ahp.TerminalInput{Data: "typed-secret\n"})
	agent.output(uri, "typed-secret")
	o := w.connect("me")
	o.initialize()
	o.dispatch(uri, 1, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "me"}})
	o.echo(1)
	agent.dispatch(uri, 2, ahp.TerminalInput{Data: "refused-secret\n"})
	agent.echo(2)
	o.dispatch(uri, 2, ahp.TerminalCleared{})
	o.echo(2)
	o.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
	type line struct {
		Msg, Principal, Client, Channel, From, To, Refused string
	}
	want := []line{
		{Msg: "create", Principal: "token:" + token.ID, Client: "agent", Channel: uri},
		{Msg: "claim", Principal: "operator", Client: "me", Channel: uri, From: "client agent", To: "client me"},
		{
			Msg: "terminal/input", Principal: "token:" + token.ID, Client: "agent", Channel: uri,
			Refused: "the terminal is held by client me: only its holder may type",
		},
		{Msg: "clear", Principal: "operator", Client: "me", Channel: uri},
		{Msg: "dispose", Principal: "operator", Client: "me", Channel: uri},
	}
	text := w.audit()
	for raw := range strings.Lines(text) {
		var got line
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if len(want) > 0 && got == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 || strings.Contains(text, "secret") {
		t.Errorf("not on record: %+v\n%s", want, text)
	}
}
