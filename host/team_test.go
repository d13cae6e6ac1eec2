package host_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/shell"
)

// TestTeam: an agent's teammates get panes when a person has said so, asked once, at the
// terminal that it leads from; those who don't operate the host see nothing of that.
func TestTeam(t *testing.T) {
	t.Parallel()
	w := start(t, func(c *host.Config) { c.Start.Tmux = shell.TmuxAsk })
	ui := w.connect("ui")
	ui.initialize()
	ui.subscribe("x-tandemux-layout:/main")
	const from, session = ahp.URI("ahp-terminal:/lead"), ahp.URI("x-tandemux-agent:/lead")
	ui.create(from, "cat")
	var lent ahp.TokenNewResult
	ui.must(ahp.MethodTokenNew, ahp.TokenNewParams{Name: "lent", Terminal: from}, &lent)
	v := w.connectTCP("viewer", lent.Token)
	v.initialize()
	lead := func(name string) *peer {
		p := w.connect(name)
		p.must(ahp.MethodInitialize, ahp.InitializeParams{
			Channel: ahp.RootURI, ProtocolVersions: []string{"1.0.0"}, ClientID: name,
			Meta: &ahp.HelloMeta{Agent: &ahp.AgentMeta{Name: name, Asks: true, Team: from}},
		}, nil)
		return p
	}
	g := lead("lead")
	claim := ahp.Claim{Kind: ahp.ClaimSession, Session: session}
	mate := func(p *peer, uri, session ahp.URI) error {
		return p.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: session}, Meta: &ahp.CreateMeta{Command: []string{"cat"}},
		}, nil)
	}
	ask := ahp.AskParams{Channel: from, Claim: claim, TimeoutMs: 60000, Panes: true}
	var r ahp.AskResult
	if g.must(ahp.MethodAsk, ask, &r); r.Answer != ahp.AskNobody { // a command that edits a layout is no person
		t.Fatalf("asked of a command, it is %+v", r)
	}
	ui.subscribe(ahp.ActivityURI)
	for _, grant := range []bool{false, true} {
		if err := mate(g, "ahp-terminal:/early", claim.Session); err == nil || !strings.Contains(err.Error(), "nobody has allowed panes") {
			t.Fatalf("before the answer: %v", err)
		}
		answers := make(chan ahp.AskResult, 1)
		go func() {
			var r ahp.AskResult
			g.call(ahp.MethodAsk, ask, &r) //nolint:errcheck // the answer says it
			answers <- r
		}()
		var q *ahp.Ask
		until(t, "the question", func() bool {
			q = ui.rows()[from].Meta.Ask
			return q != nil && q.Panes && q.Who == g.name
		})
		if r := v.rows()[from]; r.Resource == "" || r.Meta.Ask != nil {
			t.Errorf("the token sees %+v of %q", r.Meta, r.Resource)
		}
		answer := ahp.AnswerParams{Channel: from, ID: q.ID, Grant: grant}
		if err := v.call(ahp.MethodAnswer, answer, nil); err == nil {
			t.Error("the token has answered")
		}
		ui.must(ahp.MethodAnswer, answer, nil)
		want := map[bool]string{true: ahp.AskGranted, false: ahp.AskRefused}[grant]
		if r := <-answers; r.Answer != want {
			t.Fatalf("the answer %v is %+v", grant, r)
		}
		var again ahp.AskResult
		if g.must(ahp.MethodAsk, ask, &again); again.Answer != want {
			t.Errorf("asked again: %+v", again)
		}
		if !grant { // the next one is another agent
			if err := mate(g, "ahp-terminal:/no", session); err == nil {
				t.Error("a refused one got a pane")
			}
			g = lead("second")
			ask.Claim.Session = "x-tandemux-agent:/second"
			claim = ask.Claim
		}
	}
	if err := mate(g, "ahp-terminal:/yes", claim.Session); err != nil {
		t.Error(err)
	}
	if err := w.guest("other").call(ahp.MethodAsk, ahp.AskParams{Channel: from, Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "x-tandemux-agent:/other"}, TimeoutMs: 1000, Panes: true}, nil); err == nil {
		t.Error("who leads nobody asks for panes")
	}
}
