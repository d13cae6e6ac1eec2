package client

import (
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
