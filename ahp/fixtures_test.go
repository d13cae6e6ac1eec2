package ahp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// fixture is one reducer case of the Agent Host Protocol project, or one of
// ours in the same form.
type fixture struct {
	Description string            `json:"description"`
	Reducer     string            `json:"reducer"`
	Profile     string            `json:"profile"` // ours only: "1.x" or "0.5.x"
	Initial     json.RawMessage   `json:"initial"`
	Actions     []json.RawMessage `json:"actions"`
	Expected    json.RawMessage   `json:"expected"`
}

// TestUpstreamCases runs the cases of the protocol's own project, which are of
// the 0.5 profile, where they are laid beside the repository.
func TestUpstreamCases(t *testing.T) {
	dir := "../../shared/fixtures/ahp/reducers"
	files, _ := filepath.Glob(dir + "/*.json")
	if len(files) == 0 {
		t.Skip("the protocol's reducer cases are not laid beside the repository in ../shared/fixtures/ahp")
	}
	ran := map[string]int{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f fixture
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if f.Reducer != "root" && f.Reducer != "terminal" {
			continue // Sessions and chats come with the agents.
		}
		ran[f.Reducer]++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) { f.run(t, V05) })
	}
	if ran["root"] < 7 || ran["terminal"] < 19 {
		t.Errorf("ran %v cases, want 7 for root and 19 for terminal at least", ran)
	}
}

// TestCases runs the cases of testdata/cases.json: the newest shapes, and what
// the protocol's own cases leave open.
func TestCases(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []fixture
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		p := V1
		if f.Profile == V05.String() {
			p = V05
		}
		t.Run(f.Description, func(t *testing.T) { f.run(t, p) })
	}
}

func (f fixture) run(t *testing.T, p Profile) {
	t.Helper()
	var got json.RawMessage
	switch f.Reducer {
	case "root":
		got = fold(t, f, p, ReduceRoot)
	case "terminal":
		got = fold(t, f, p, ReduceTerminal)
		if lazy := foldTerminal(t, f, p); !sameJSON(t, lazy, got) {
			t.Errorf("TerminalFold differs from ReduceTerminal:\n got %s\nwant %s", lazy, got)
		}
	case "layout":
		got = fold(t, f, p, ReduceLayout)
	default:
		t.Fatalf("no reducer %q", f.Reducer)
	}
	if !sameJSON(t, got, f.Expected) {
		t.Errorf("%s\n got %s\nwant %s", f.Description, got, f.Expected)
	}
}

func fold[S any](t *testing.T, f fixture, p Profile, reduce func(S, Action) S) json.RawMessage {
	t.Helper()
	var s S
	if err := json.Unmarshal(f.Initial, &s); err != nil {
		t.Fatal(err)
	}
	for _, a := range f.decode(t) {
		before := encode(t, V1, s)
		s2 := reduce(s, a)
		if after := encode(t, V1, s); string(before) != string(after) {
			t.Errorf("%s changed its input:\n was %s\n now %s", a.ActionType(), before, after)
		}
		s = s2
	}
	return encode(t, p, s)
}

func foldTerminal(t *testing.T, f fixture, p Profile) json.RawMessage {
	t.Helper()
	var s TerminalState
	if err := json.Unmarshal(f.Initial, &s); err != nil {
		t.Fatal(err)
	}
	lazy := NewTerminalFold(s, 0)
	for _, a := range f.decode(t) {
		lazy.Apply(a)
	}
	return encode(t, p, lazy.State())
}

func (f fixture) decode(t *testing.T) []Action {
	t.Helper()
	var all []Action
	for _, raw := range f.Actions {
		a, err := DecodeAction(raw)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

func encode(t *testing.T, p Profile, v any) json.RawMessage {
	t.Helper()
	b, err := Encode(p, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// sameJSON compares values after dropping null members.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%v in %s", err, a)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	return reflect.DeepEqual(dropNulls(x), dropNulls(y))
}

func dropNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			if e == nil {
				delete(v, k)
			} else {
				v[k] = dropNulls(e)
			}
		}
	case []any:
		for i, e := range v {
			v[i] = dropNulls(e)
		}
	}
	return v
}
