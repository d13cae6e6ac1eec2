package ahptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const treeEnv = "TANDEMUX_AHP_TREE"

// Case is one case of a reducer, or one of ours in the same form.
type Case struct {
	Description string            `json:"description"`
	Reducer     string            `json:"reducer"` // its family
	Profile     string            `json:"profile"` // ours only
	Initial     json.RawMessage   `json:"initial"`
	Actions     []json.RawMessage `json:"actions"`
	Expected    json.RawMessage   `json:"expected"`
}

// Reducer gives the state after a case's actions.
type Reducer func(t *testing.T, c Case) json.RawMessage

// Fold is a Reducer that applies one action after the other, none of which may change
// the state before, and each of which is written and read again as it was.
func Fold[S, A any](decode func(json.RawMessage) (A, error), encode func(any) (json.RawMessage, error), reduce func(S, A) S) Reducer {
	return func(t *testing.T, c Case) json.RawMessage {
		t.Helper()
		var s S
		if err := json.Unmarshal(c.Initial, &s); err != nil {
			t.Fatal(err)
		}
		read := func(raw json.RawMessage) A {
			a, err := decode(raw)
			if err != nil {
				t.Fatalf("%v in %s", err, raw)
			}
			return a
		}
		write := func(v any) json.RawMessage {
			text, err := encode(v)
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		for _, raw := range c.Actions {
			a := read(raw)
			sent := write(&a)
			if again := read(sent); string(write(&again)) != string(sent) {
				t.Errorf("%s is written as %s, which is read as something else", raw, sent)
			}
			before, was := s, write(s)
			s = reduce(s, a)
			if now := write(before); string(now) != string(was) {
				t.Errorf("%s changed its input:\n was %s\n now %s", raw, was, now)
			}
		}
		return write(s)
	}
}

// Run compares a case's state with what it expects; null is as good as nothing there.
func (c Case) Run(t *testing.T, reduce Reducer) {
	t.Helper()
	if got := reduce(t, c); !Same(t, got, c.Expected) {
		t.Errorf("%s\n got %s\nwant %s", c.Description, got, c.Expected)
	}
}

// Cases runs those of a file of ours.
func Cases(t *testing.T, file string, of func(c Case) Reducer) {
	t.Helper()
	var all []Case
	read(t, file, &all)
	for _, c := range all {
		t.Run(c.Description, func(t *testing.T) { c.Run(t, of(c)) })
	}
}

// Reducers runs all cases of some families, by their names.
func Reducers(t *testing.T, families map[string]Reducer) {
	t.Helper()
	known, passed, skipped := map[string]int{}, map[string]int{}, map[string]int{}
	for _, file := range files(t, "reducers") {
		var c Case
		read(t, file, &c)
		reduce, ours := families[c.Reducer]
		if !ours {
			continue
		}
		known[c.Reducer]++
		ok := t.Run(name(file), func(t *testing.T) {
			defer func() {
				if t.Skipped() {
					skipped[c.Reducer]++
				}
			}()
			c.Run(t, reduce)
		})
		if ok {
			passed[c.Reducer]++
		}
	}
	for family := range families {
		t.Logf("%s: %d of %d cases passed, %d skipped", family, passed[family]-skipped[family], known[family], skipped[family])
		switch {
		case known[family] > 0:
		case os.Getenv(treeEnv) != "":
			t.Errorf("there are no cases of %s", family)
		case !t.Failed():
			t.Skipf("what lies beside the repository has no cases of %s", family)
		}
	}
}

// RoundTrips runs the cases of some types, each of which reads a text and writes it again.
// That must be what the case says to the letter, but for the order of members.
func RoundTrips(t *testing.T, types map[string]func(json.RawMessage) (json.RawMessage, error)) {
	t.Helper()
	known, passed, others := 0, 0, []string{}
	for _, file := range files(t, "round-trips") {
		var c struct {
			Type   string            `json:"type"`
			Input  json.RawMessage   `json:"input"`
			Output []json.RawMessage `json:"acceptableOutputs"`
		}
		read(t, file, &c)
		again := types[c.Type]
		if again == nil {
			others = append(others, c.Type)
			continue
		}
		known++
		if t.Run(name(file), func(t *testing.T) {
			got, err := again(c.Input)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(decode(t, got), decode(t, c.Output[0])) {
				t.Errorf("got %s\nwant %s", got, c.Output[0])
			}
		}) {
			passed++
		}
	}
	t.Logf("%d of %d round trips passed; %d are of other types: %v", passed, known, len(others), others)
	if known < len(types) {
		t.Errorf("there are %d cases of %d types", known, len(types))
	}
}

func files(t *testing.T, kind string) []string {
	t.Helper()
	dir := filepath.Join(os.Getenv(treeEnv), "types/test-cases")
	if os.Getenv(treeEnv) == "" {
		root := "."
		for _, err := os.Stat("go.mod"); err != nil; _, err = os.Stat(filepath.Join(root, "go.mod")) {
			root = filepath.Join(root, "..")
		}
		dir = filepath.Join(root, "../shared/fixtures/ahp")
	}
	all, err := filepath.Glob(filepath.Join(dir, kind, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Skipf("the protocol's %s are not in TANDEMUX_AHP_TREE, nor laid beside the repository in ../shared/fixtures/ahp", kind)
	}
	return all
}

func name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".json") }

func read(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// Same compares values after dropping null members.
func Same(t *testing.T, a, b []byte) bool {
	t.Helper()
	return reflect.DeepEqual(WithoutNulls(t, a), WithoutNulls(t, b))
}

// WithoutNulls is a value without members that are null.
func WithoutNulls(t *testing.T, text []byte) any { return dropNulls(decode(t, text)) }

func decode(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
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
