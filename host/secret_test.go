package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestWhoSeesCommands: what a terminal was started with, and its last command, are in its
// row for the operator and the holder's principal, and for no other token, however it
// comes by the row.
func TestWhoSeesCommands(t *testing.T) {
	w := start(t)
	op := w.connect("op")
	op.initialize()
	agents := w.token("terminal:read", "terminal:create", "terminal:input", "terminal:claim")
	agent := w.connectTCP("agent", agents.Token)
	agent.initialize()
	reader := w.token("terminal:read")

	// of gives whose commands a list shows.
	of := func(list []ahp.TerminalInfo) (seen string) {
		for _, row := range list {
			if len(row.Meta.Command) > 0 {
				seen += " " + row.Meta.Name
			}
			if row.Meta.LastCommand != nil {
				seen += " " + row.Meta.Name + "'s last"
			}
		}
		return strings.TrimSpace(seen)
	}
	state := func(s ahp.Snapshot) string {
		var r ahp.RootState
		if err := json.Unmarshal(s.State, &r); err != nil {
			t.Fatal(err)
		}
		return of(r.Terminals)
	}
	create := func(p *peer, name string) {
		p.must(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: "ahp-terminal:/" + name, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: p.name},
			Meta: &ahp.CreateMeta{Name: name, Command: []string{"sh", "-c", "exec cat # hunter2"}},
		}, nil)
	}
	const all, own = "mine mine's last theirs theirs's last", "theirs theirs's last"
	watchers := []struct {
		*peer
		want string
	}{
		{w.connect("live op"), all},
		{w.connectTCP("live admin", w.token("admin").Token), all},
		{w.connectTCP("live agent", agents.Token), own},
		{w.connectTCP("live reader", reader.Token), ""},
	}
	for _, p := range watchers {
		p.initialize(ahp.RootURI)
	}
	away := w.connectTCP("away", reader.Token)
	away.initialize(ahp.RootURI)
	away.hangUp()
	create(op, "mine")
	create(agent, "theirs")
	// list reads on to one that shows what is wanted, and nothing else before.
	list := func(p *peer, want string) {
		t.Helper()
		p.envelope("a list that shows "+want, func(e ahp.Envelope) bool {
			a, ok := e.Action.(ahp.RootTerminalsChanged)
			got := of(a.Terminals)
			for name := range strings.SplitSeq(got, " ") {
				if !strings.Contains(want, name) {
					t.Errorf("%s is told of %s", p.name, got)
				}
			}
			return ok && got == want && len(a.Terminals) == 2
		})
	}
	for _, p := range watchers {
		list(p.peer, p.want)
		if got := state(p.subscribe(ahp.RootURI)); got != p.want {
			t.Errorf("%s subscribes to %q, want %q", p.name, got, p.want)
		}
		again := w.connect(p.name + " again")
		if token := map[string]string{own: agents.Token, "": reader.Token}[p.want]; token != "" {
			again = w.connectTCP(p.name+" again", token)
		}
		if got := state(again.initialize(ahp.RootURI).Snapshots[0]); got != p.want {
			t.Errorf("%s begins with %q, want %q", p.name, got, p.want)
		}
	}
	for seen, kind := range map[int64]string{away.from[ahp.RootURI]: ahp.ReconnectReplay, 1: ahp.ReconnectSnapshot} {
		back := w.connectTCP("away", reader.Token)
		var raw json.RawMessage
		back.must(ahp.MethodReconnect, ahp.ReconnectParams{Channel: ahp.RootURI, ClientID: "away", LastSeenServerSeq: seen, Subscriptions: []ahp.URI{ahp.RootURI}}, &raw)
		if text := string(raw); !strings.Contains(text, kind) || !strings.Contains(text, "ahp-terminal:/mine") || strings.Contains(text, "hunter2") {
			t.Errorf("the reconnect for a %s gives %s", kind, raw)
		}
		back.hangUp()
	}

	// It goes with the claim.
	op.dispatch("ahp-terminal:/theirs", 1, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "op"}})
	lost := watchers[2].envelope("the list", func(e ahp.Envelope) bool {
		a, ok := e.Action.(ahp.RootTerminalsChanged)
		return ok && a.Terminals[1].Claim.ClientID == "op"
	})
	if got := of(lost.Action.(ahp.RootTerminalsChanged).Terminals); got != "" {
		t.Errorf("who has lost it is told of %s", got)
	}
}
