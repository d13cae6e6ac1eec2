package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"tandemux/ahp"
)

// activity folds what a client is told of what goes on.
type activity struct {
	p     *peer
	state ahp.ActivityState
}

func (p *peer) activity() *activity {
	p.t.Helper()
	a := &activity{p: p}
	p.seen = func(e ahp.Envelope) {
		if e.Channel == ahp.ActivityURI {
			a.state = ahp.ReduceActivity(a.state, e.Action)
		}
	}
	if err := json.Unmarshal(p.subscribe(ahp.ActivityURI).State, &a.state); err != nil {
		p.t.Fatal(err)
	}
	return a
}

// until folds on until the state is as wanted.
func (a *activity) until(what string, ok func(ahp.ActivityState) bool) {
	a.p.t.Helper()
	if ok(a.state) {
		return
	}
	a.p.envelope(what, func(ahp.Envelope) bool { return ok(a.state) })
}

// TestActivity: a client that follows no terminal learns what they have to tell,
// what was seen, and who else shows a layout; a snapshot says the same.
func TestActivity(t *testing.T) {
	w := start(t)
	a, b := w.connect("a"), w.connect("b")
	a.initialize()
	b.initialize()
	news := b.activity()
	const uri = "ahp-terminal:/bell"
	a.create(uri, "sh", "-c", `stty raw -echo; printf 'ready\007\033]777;notify;CI;red\033\\\033]7501;state=blocked:app=claude:kind=permission\033\\'; cat`)
	a.output(uri, "ready")
	row := func(s ahp.ActivityState) ahp.Attention { return s.Terminals[uri] }
	news.until("the row", func(s ahp.ActivityState) bool {
		r := row(s)
		return r.Bell > 0 && r.Note != nil && r.Note.Title == "CI" && r.Note.Body == "red" && r.Status != nil && r.Status.Kind == "permission"
	})
	if out := a.out[uri].String(); strings.Contains(out, "7501") {
		t.Errorf("viewers got %q", out)
	}

	b.dispatch(ahp.ActivityURI, 1, ahp.TerminalSeen{Terminal: uri, At: 5})
	news.until("that it was seen", func(s ahp.ActivityState) bool { return row(s).Seen >= row(s).Bell })
	c := w.connect("c")
	c.initialize()
	again := c.activity()
	if got, want := row(again.state), row(news.state); got.Seen != want.Seen || got.Bell != want.Bell || *got.Note != *want.Note {
		t.Errorf("a snapshot says %+v, the actions said %+v", got, want)
	}

	const main = ahp.LayoutScheme + "/main"
	c.subscribe(main)
	again.until("itself", func(s ahp.ActivityState) bool { return s.Layouts[main] == 1 })
	d := w.connect("d")
	d.initialize()
	d.subscribe(main)
	d.activity().until("itself, though it follows the layout already", func(s ahp.ActivityState) bool { return s.Layouts[main] == 2 })
	d.hangUp()
	news.until("one client", func(s ahp.ActivityState) bool { return s.Layouts[main] == 1 })
	b.subscribe(main)
	a.subscribe(main) // which does not follow the activity, as a command
	news.until("two clients", func(s ahp.ActivityState) bool { return s.Layouts[main] == 2 })
	c.hangUp()
	news.until("one client again", func(s ahp.ActivityState) bool { return s.Layouts[main] == 1 })

	a.must(ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: uri}, nil)
	news.until("that it is gone", func(s ahp.ActivityState) bool { _, ok := s.Terminals[uri]; return !ok })
}

// TestActivityIsGuarded: who may not change a terminal takes no marks away; a bound
// token does not reach the channel; what the host says nobody else does.
func TestActivityIsGuarded(t *testing.T) {
	w := start(t)
	a := w.connect("a")
	a.initialize()
	const uri = "ahp-terminal:/mine"
	a.create(uri, "cat")
	reader := w.connectTCP("reader", w.token("terminal:read", "terminal:input").Token)
	reader.initialize()
	reader.activity()
	for i, c := range []struct {
		action ahp.Action
		why    string
	}{
		{ahp.TerminalSeen{Terminal: uri}, "only its holder or the host's operator"},
		{ahp.TerminalSeen{Terminal: "ahp-terminal:/none"}, "there is no terminal"},
		{ahp.AttentionChanged{Terminal: uri}, "is the host's to say"},
		{ahp.LayoutWatched{Layout: "x", Clients: 9}, "is the host's to say"},
	} {
		reader.dispatch(ahp.ActivityURI, int64(i+1), c.action)
		if e := reader.echo(int64(i + 1)); !strings.Contains(e.RejectionReason, c.why) {
			t.Errorf("%s is answered with %q, want %q", c.action.ActionType(), e.RejectionReason, c.why)
		}
	}
	reader.dispatch(uri, 9, ahp.TerminalSeen{Terminal: uri})
	if e := reader.echo(9); !strings.Contains(e.RejectionReason, "does not belong on") {
		t.Errorf("on a terminal it is answered with %q", e.RejectionReason)
	}
	err := a.call(ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: ahp.ActivityURI, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "a"},
	}, nil)
	if err == nil {
		t.Error("a terminal takes the channel's URI")
	}
}

// TestHolderName: the list says what people call a token's client.
func TestHolderName(t *testing.T) {
	w := start(t)
	a := w.connect("a")
	a.initialize(ahp.RootURI)
	c := w.connectTCP("c", w.token().Token)
	c.initialize()
	c.create("ahp-terminal:/theirs", "cat")
	a.envelope("the list", func(e ahp.Envelope) bool {
		l, ok := e.Action.(ahp.RootTerminalsChanged)
		return ok && len(l.Terminals) == 1 && l.Terminals[0].Meta.Holder == "test"
	})
}
