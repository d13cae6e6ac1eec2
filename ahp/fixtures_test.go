package ahp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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
		if !slices.Contains([]string{"root", "terminal", "session", "chat"}, f.Reducer) {
			continue // Channels that this host does not have.
		}
		ran[f.Reducer]++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) { f.run(t, V05) })
	}
	if ran["root"] < 7 || ran["terminal"] < 19 || ran["session"] < 25 || ran["chat"] < 40 {
		t.Errorf("ran %v cases, want 7 for root, 19 for terminal, 25 for sessions and 40 for chats at least", ran)
	}
}

// TestCases runs the cases of testdata/*cases.json: the newest shapes, and what
// the protocol's own cases leave open.
func TestCases(t *testing.T) {
	var all []fixture
	for _, file := range []string{"testdata/cases.json", "testdata/chat_cases.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var cases []fixture
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, cases...)
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
	case "session":
		now := f.now(p)
		got = fold(t, f, p, func(s SessionState, a Action) SessionState { return reduceSession(s, a, now) })
		if p == V05 {
			got = once(t, got, true)
		}
	case "chat":
		now := f.now(p)
		got = fold(t, f, p, func(s ChatState, a Action) ChatState { return reduceChat(s, a, now) })
		if p == V05 {
			got = once(t, got, false)
		}
	default:
		t.Fatalf("no reducer %q", f.Reducer)
	}
	if !sameJSON(t, got, f.Expected) {
		t.Errorf("%s\n got %s\nwant %s", f.Description, got, f.Expected)
	}
}

// now is the clock of the reducers of 0.5, as the protocol's project sets it for
// its cases; later ones have none.
func (f fixture) now(p Profile) Instant {
	if p == V05 {
		return InstantOf(9999)
	}
	return ""
}

// once is a state that this package writes for 0.5, with its summary's members in
// one of their two places, which must agree: a session's in the summary, as 0.5's
// sources have them, a chat's beside it.
func once(t *testing.T, state json.RawMessage, nested bool) json.RawMessage {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(state, &all); err != nil {
		t.Fatal(err)
	}
	summary, ok := all["summary"].(map[string]any)
	if !ok {
		t.Errorf("%s has no summary", state)
	}
	for k, v := range summary {
		if flat, ok := all[k]; ok && k != "_meta" {
			if !reflect.DeepEqual(flat, v) {
				t.Errorf("member %s is %v, but %v in the summary", k, flat, v)
			}
			if nested {
				delete(all, k)
			}
		}
	}
	if !nested {
		delete(all, "summary")
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return text
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
