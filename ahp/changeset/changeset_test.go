package changeset_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/changeset"
)

// fixture is a case of a reducer, as the protocol's own project writes them.
type fixture struct {
	Description string
	Reducer     string
	Initial     json.RawMessage
	Actions     []json.RawMessage
	Expected    json.RawMessage
}

func (f fixture) run(t *testing.T) {
	t.Helper()
	var s changeset.State
	if err := ahp.Unmarshal(f.Initial, &s); err != nil {
		t.Fatal(err)
	}
	for _, raw := range f.Actions {
		a, err := ahp.DecodeAction(raw)
		if err != nil {
			t.Fatal(err)
		}
		before := encode(t, s)
		next := changeset.Reduce(s, a)
		if after := encode(t, s); after != before {
			t.Errorf("%s changed its input from %s to %s", a.ActionType(), before, after)
		}
		// What is sent is read again as it was.
		sent := encode(t, a)
		if again, err := ahp.DecodeAction(json.RawMessage(sent)); err != nil || encode(t, again) != sent {
			t.Errorf("%s is read back as %+v (%v)", sent, again, err)
		}
		s = next
	}
	var got, want any
	if json.Unmarshal([]byte(encode(t, s)), &got) != nil || json.Unmarshal(f.Expected, &want) != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %s\nwant %s", f.Description, encode(t, s), f.Expected)
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := ahp.Encode(ahp.V1, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestUpstreamCases runs those of the protocol's project where they are.
func TestUpstreamCases(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/fixtures/ahp/reducers/*changeset*.json")
	ran := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var f fixture
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if f.Reducer != "changeset" {
			continue // the list of a session
		}
		ran++
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) { f.run(t) })
	}
	if ran == 0 {
		t.Skip("the protocol's reducer cases are not laid beside the repository in ../shared/fixtures/ahp")
	}
}

// TestCases runs the project's own.
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
		t.Run(f.Description, func(t *testing.T) { f.run(t) })
	}
}

// TestReview: it is all that clients may dispatch, and those of 0.5 are not told of it.
func TestReview(t *testing.T) {
	for _, a := range []ahp.Action{
		changeset.StatusChanged{},
		changeset.FileSet{},
		changeset.FileRemoved{},
		changeset.FilesReviewChanged{},
		changeset.ContentChanged{},
		changeset.OperationsChanged{},
		changeset.OperationStatusChanged{},
		changeset.Cleared{},
	} {
		_, review := a.(changeset.FilesReviewChanged)
		if known, may := ahp.ClientDispatchable(a.ActionType()); !known || may != review {
			t.Errorf("%s: known %v, from clients %v", a.ActionType(), known, may)
		}
		if ahp.Speaks(ahp.V05, a.ActionType()) == review {
			t.Errorf("%s: 0.5 speaks it: %v", a.ActionType(), !review)
		}
	}
}
