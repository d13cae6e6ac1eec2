package hooks

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"tandemux/ahp"
)

// knows is a host that has one terminal and one chat.
type knows struct{}

func (knows) Terminal(uri ahp.URI) (*Terminal, *Ran) {
	if uri != "ahp-terminal:/a" {
		return nil, nil
	}
	return &Terminal{ID: "a"}, &Ran{ID: "c2", Line: "make"}
}

func (knows) Chat(uri ahp.URI) *Session {
	if uri != "ahp-chat:/c" {
		return nil
	}
	return &Session{ID: "s", Chat: "c"}
}

// TestWatch: which events are made of which actions: what is new, once, and only of what is
// there.
func TestWatch(t *testing.T) {
	hs := New(slog.New(slog.DiscardHandler))
	kinds := map[string]bool{}
	for _, kind := range Kinds {
		kinds[kind] = true
	}
	hs.wanted.Store(&kinds)
	q := &queue{name: "all", hook: Hook{On: Kinds}, news: make(chan struct{}, 1)}
	hs.all = map[string]*queue{"all": q}
	w := NewWatch(hs, func() time.Time { return time.UnixMilli(1000) })
	const a, gone, chat, session = ahp.URI("ahp-terminal:/a"), ahp.URI("ahp-terminal:/gone"), ahp.URI("ahp-chat:/c"), ahp.URI("ahp-session:/s")
	row := func(r ahp.Attention) ahp.Action { return ahp.AttentionChanged{Terminal: a, Attention: &r} }
	ask := ahp.SessionInputNeededSet{Request: ahp.InputNeeded{ID: "n", Chat: chat, Kind: ahp.NeedToolConfirmation, ToolCall: &ahp.ToolCall{InvocationMessage: ahp.Plain("rm x")}}}
	asking := func(id string) ahp.Action {
		return ahp.RootTerminalsChanged{Terminals: []ahp.TerminalInfo{{Resource: a, Meta: &ahp.TerminalMeta{Ask: &ahp.Ask{ID: id, Command: "rm x"}}}}}
	}
	tool := ask
	tool.Request.Kind = ahp.NeedToolClientExecution
	for i, step := range []struct {
		at    ahp.URI
		a     ahp.Action
		makes string
	}{
		{a, ahp.TerminalData{Data: "x"}, ""},
		{a, ahp.TerminalCommandFinished{CommandID: "c2"}, "command"},
		{a, ahp.TerminalCommandFinished{CommandID: "c1"}, ""}, // another one is the newest
		{gone, ahp.TerminalExited{}, ""},
		{a, ahp.TerminalExited{}, "exit"},
		{a, ahp.TerminalClaimed{}, "claim"},
		{ahp.ActivityURI, row(ahp.Attention{Bell: 900}), ""}, // told by an earlier host
		{ahp.ActivityURI, row(ahp.Attention{Bell: 1001}), "bell"},
		{ahp.ActivityURI, row(ahp.Attention{Bell: 1001, Seen: 1002}), ""},
		{ahp.ActivityURI, row(ahp.Attention{Bell: 1001, Note: &ahp.Note{At: 1003}}), "attention"},
		{ahp.ActivityURI, row(ahp.Attention{Note: &ahp.Note{At: 1003}, Status: &ahp.ProgramStatus{State: ahp.StatusWorking, At: 1004}}), ""},
		{ahp.ActivityURI, row(ahp.Attention{Note: &ahp.Note{At: 1003}, Status: &ahp.ProgramStatus{State: ahp.StatusBlocked, At: 1005}}), "attention"},
		{ahp.ActivityURI, row(ahp.Attention{Output: 1006, Bell: 1007}), "bell output"},
		{ahp.ActivityURI, ahp.LayoutWatched{Layout: "x-tandemux-layout:/main", Clients: 1}, "attach"},
		{ahp.ActivityURI, ahp.LayoutWatched{Layout: "x-tandemux-layout:/main", Clients: 2}, "attach"},
		{ahp.ActivityURI, ahp.LayoutWatched{Layout: "x-tandemux-layout:/main", Clients: 1}, "detach"},
		{"x-tandemux-layout:/main", ahp.LayoutChanged{Rev: 2}, "layout"},
		{ahp.RootURI, ahp.RootTerminalsChanged{Terminals: []ahp.TerminalInfo{{Resource: a, Meta: &ahp.TerminalMeta{}}, {Resource: gone}}}, ""},
		{ahp.RootURI, asking("1"), "question"},
		{ahp.RootURI, asking("1"), ""},
		{ahp.RootURI, asking("2"), "question"},
		{session, tool, ""},
		{session, ask, "question"},
		{session, ask, ""},
		{session, ahp.SessionInputNeededRemoved{ID: "n"}, ""},
		{session, ask, "question"},
		{chat, ahp.ChatTurnComplete{}, "turn"},
		{"ahp-chat:/gone", ahp.ChatTurnComplete{}, ""},
		{chat, ahp.ChatError{Part: ahp.ResponsePart{Error: &ahp.ErrorInfo{Message: "no"}}}, "turn"},
	} {
		w.Follow(step.at, step.a, knows{})
		var made []string
		for e, ok := q.take(); ok; e, ok = q.take() {
			made = append(made, e.Event)
			if e.Event == Turn && (e.Outcome == Failed) != (e.Error == "no") || e.Event == Question && e.Question != "rm x" {
				t.Errorf("step %d: %+v", i, e)
			}
		}
		slices.Sort(made)
		if got := fmt.Sprint(made); got != "["+step.makes+"]" {
			t.Errorf("step %d, %T: %s, want [%s]", i, step.a, got, step.makes)
		}
	}
	var data ahp.Action = ahp.TerminalData{Data: "x"}
	if n := testing.AllocsPerRun(100, func() { w.Follow(a, data, knows{}) }); n > 0 {
		t.Errorf("an action that is no event takes %v allocations", n)
	}
}
