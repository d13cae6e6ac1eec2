package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandemux/ahp"
)

const layout1 = "x-tandemux-layout:/main"

func TestMirror(t *testing.T) {
	m := NewMirror(0)
	if _, ok := m.Root(); ok {
		t.Error("an empty mirror has a root")
	}
	snap := func(uri, state string) { m.Snapshot(ahp.Snapshot{Resource: uri, State: json.RawMessage(state)}) }
	act := func(uri string, a ahp.Action) { m.Action(ahp.Envelope{Channel: uri, Action: a}) }
	changed := m.Changed()
	snap(ahp.RootURI, `{"agents":[]}`)
	<-changed
	snap("terminal:/ODD", `{"title":"t","content":[{"type":"unclassified","value":"$ "}],"exitCode":3,"claim":{"kind":"client","clientId":"c"}}`)
	snap(layout1, `{"rev":1,"doc":{"a":1},"terminals":[]}`)
	snap("ahp-session:/1", `{"title":"not a terminal"}`)
	snap("ahp-terminal:/broken", `7`)
	act(ahp.RootURI, ahp.RootTerminalsChanged{Terminals: []ahp.TerminalInfo{{Resource: "terminal:/ODD"}}})
	act("terminal:/ODD", ahp.TerminalData{Data: "x"})
	act("ahp-terminal:/unheard-of", ahp.TerminalData{Data: "x"})
	act(layout1, ahp.LayoutChanged{Rev: 2, Doc: json.RawMessage(`{"a":2}`)})
	m.Action(ahp.Envelope{Channel: "terminal:/ODD", Action: ahp.TerminalCleared{}, RejectionReason: "no"})
	if root, ok := m.Root(); !ok || len(root.Terminals) != 1 {
		t.Errorf("root is %+v", root)
	}
	if s, ok := m.Terminal("terminal:/ODD"); !ok || text(s) != "$ x" || *s.Lifecycle.ExitCode != 3 {
		t.Errorf("terminal is %+v", s)
	}
	if l, ok := m.Layout(layout1); !ok || l.Rev != 2 || string(l.Doc) != `{"a":2}` {
		t.Errorf("layout is %+v", l)
	}
	if len(m.terminals)+len(m.layouts) != 2 {
		t.Errorf("there are %v and %v", m.terminals, m.layouts)
	}
	m.Gone("terminal:/ODD")
	m.Gone(layout1)
	if len(m.terminals)+len(m.layouts) != 0 {
		t.Errorf("there are %v and %v", m.terminals, m.layouts)
	}
}

func TestMirrorBoundsText(t *testing.T) {
	m := NewMirror(1000)
	m.Snapshot(ahp.Snapshot{Resource: t1, State: json.RawMessage(`{"title":"t","content":[]}`)})
	for i := range 1000 {
		m.Action(ahp.Envelope{Channel: t1, Action: ahp.TerminalData{Data: fmt.Sprintf("line %d\n", i)}})
	}
	s, _ := m.Terminal(t1)
	if got := text(s); len(got) > 1250 || !strings.HasSuffix(got, "line 999\n") {
		t.Errorf("kept %d bytes, ending in %q", len(got), got[len(got)-10:])
	}
}

// TestMirrorPredicts title, claim and layout, and takes back what is refused.
func TestMirrorPredicts(t *testing.T) {
	m := NewMirror(0)
	_, p, c, _ := start(t, Options{Sink: m, Wants: Wants{Predict: m}})
	for _, uri := range []string{t1, layout1} {
		got := make(chan error, 1)
		go func() { got <- c.Subscribe(context.Background(), uri) }()
		req := p.expect("subscribe", "")
		if uri == t1 {
			p.reply(req, `{"snapshot":`+terminalSnapshot(t1, 20)+`}`)
		} else {
			p.reply(req, `{"snapshot":{"resource":"`+layout1+`","state":{"rev":4,"doc":null,"terminals":[]},"fromSeq":20}}`)
		}
		if err := within(t, "Subscribe", got); err != nil {
			t.Fatal(err)
		}
	}
	title := func(want string) {
		t.Helper()
		waitFor(t, m, func() bool { s, _ := m.Terminal(t1); return s.Title == want })
	}
	doc := func(want string) {
		t.Helper()
		waitFor(t, m, func() bool { l, _ := m.Layout(layout1); return string(l.Doc) == want })
	}
	dispatch := func(uri string, a ahp.Action) {
		t.Helper()
		if _, err := c.Dispatch(uri, a); err != nil {
			t.Fatal(err)
		}
		p.expect("dispatchAction", "")
	}
	dispatch(t1, ahp.TerminalTitleChanged{Title: "mine"})
	dispatch(t1, ahp.TerminalInput{Data: "not predicted"})
	dispatch(t1, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimSession, Session: "s"}})
	title("mine")
	if s, _ := m.Terminal(t1); s.Claim.Session != "s" || text(s) != "" {
		t.Errorf("state is %+v", s)
	}
	p.action(t1, 21, `{"type":"terminal/titleChanged","title":"theirs"}`, "")
	p.action(t1, 22, `{"type":"terminal/cwdChanged","cwd":"file:///x"}`, "")
	waitFor(t, m, func() bool { s, _ := m.Terminal(t1); return s.Cwd == "file:///x" })
	title("mine") // Still pending, on top of the other's.
	p.action(t1, 23, `{"type":"terminal/titleChanged","title":"mine"}`, origin(1)+`,"rejectionReason":"no"`)
	title("theirs")
	p.action(t1, 24, `{"type":"terminal/claimed","claim":{"kind":"session","session":"s"}}`, origin(3))
	waitFor(t, m, func() bool { m.mu.Lock(); defer m.mu.Unlock(); return len(m.predicted) == 0 })
	if s, _ := m.Terminal(t1); s.Claim.Session != "s" {
		t.Errorf("claim is %+v", s.Claim)
	}

	// A layout's writer that comes second is no longer shown.
	dispatch(layout1, ahp.LayoutChanged{Rev: 5, Doc: json.RawMessage(`"mine"`)})
	doc(`"mine"`)
	p.action(layout1, 25, `{"type":"x-tandemux/layoutChanged","rev":5,"doc":"theirs","terminals":[]}`, "")
	doc(`"theirs"`)
	p.action(layout1, 26, `{"type":"x-tandemux/layoutChanged","rev":5,"doc":"mine","terminals":[]}`, origin(4)+`,"rejectionReason":"stale"`)
	dispatch(layout1, ahp.LayoutChanged{Rev: 6, Doc: json.RawMessage(`"again"`)})
	doc(`"again"`)
	p.action(layout1, 27, `{"type":"x-tandemux/layoutChanged","rev":6,"doc":"again","terminals":[]}`, origin(5))
	p.action(layout1, 28, `{"type":"x-tandemux/layoutChanged","rev":7,"doc":"later","terminals":[]}`, "")
	doc(`"later"`)

	// What was pending when the connection ended is taken back.
	dispatch(t1, ahp.TerminalTitleChanged{Title: "never"})
	title("never")
	p.drop()
	title("theirs")
}

func waitFor(t *testing.T, m *Mirror, ok func() bool) {
	t.Helper()
	for {
		changed := m.Changed()
		if ok() {
			return
		}
		within(t, "the mirror", changed)
	}
}
