package ahp

import (
	"encoding/json"
	"reflect"
	"testing"
)

// The state is the fold of the actions, also over the wire, and folding leaves
// what was folded before alone.
func TestActivityIsTheFoldOfItsActions(t *testing.T) {
	forty := 40
	row := Attention{Bell: 5, Note: &Note{At: 6, Title: "t"}, Status: &ProgramStatus{State: StatusWorking, App: "cargo", Progress: &forty, At: 7}}
	actions := []Action{
		AttentionChanged{Terminal: "a", Attention: &row},
		LayoutWatched{Layout: "l", Clients: 2},
		TerminalSeen{Terminal: "a", At: 9},
		TerminalSeen{Terminal: "b", At: 10},
		LayoutWatched{Layout: "l"},
		AgentsRefused{Refusals: []AgentRefusal{{At: 11, Count: 2, Agent: "claude", Session: "s", What: "rm x", Why: "blocked"}}},
		AgentsRefused{Refusals: []AgentRefusal{}},
		AttentionChanged{Terminal: "b"},
	}
	var s, wired ActivityState
	for i, a := range actions {
		before, _ := json.Marshal(s)
		next := ReduceActivity(s, a)
		if after, _ := json.Marshal(s); string(after) != string(before) {
			t.Fatalf("action %d changed the state that it was folded into", i)
		}
		raw, err := EncodeAction(V1, a)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeAction(raw)
		if err != nil || !reflect.DeepEqual(back, a) {
			t.Fatalf("%s comes back as %+v, %v", raw, back, err)
		}
		s, wired = next, ReduceActivity(wired, back)
	}
	row.Seen = 9
	if want := (ActivityState{Terminals: map[URI]Attention{"a": row}, Layouts: map[URI]int{}}); !reflect.DeepEqual(s, want) || !reflect.DeepEqual(wired, want) {
		t.Errorf("got %+v and %+v", s, wired)
	}
	empty, _ := json.Marshal(ActivityState{})
	if string(empty) != `{"terminals":{},"layouts":{}}` {
		t.Errorf("empty is %s", empty)
	}
}
