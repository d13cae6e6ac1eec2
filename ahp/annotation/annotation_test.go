package annotation_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/internal/ahptest"
)

// reducer is that of a version. What it reads is written, and read again, as it was.
func reducer(p ahp.Profile) ahptest.Reducer {
	write := func(v any) (json.RawMessage, error) { return ahp.Encode(p, v) }
	fold := ahptest.Fold(ahp.DecodeAction, write, annotation.Reduce)
	return func(t *testing.T, c ahptest.Case) json.RawMessage {
		for _, raw := range c.Actions {
			a, err := ahp.DecodeAction(raw)
			if err != nil {
				t.Fatal(err)
			}
			sent := encode(t, ahp.V1, a)
			if again, err := ahp.DecodeAction(json.RawMessage(sent)); err != nil || encode(t, ahp.V1, again) != sent {
				t.Errorf("%s is read back as %+v (%v)", sent, again, err)
			}
		}
		return fold(t, c)
	}
}

func encode(t *testing.T, p ahp.Profile, v any) string {
	t.Helper()
	b, err := ahp.Encode(p, v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestUpstreamCases runs those of the protocol's project, of 0.5, where they are.
func TestUpstreamCases(t *testing.T) {
	ahptest.Tree(t) // what lies beside the repository has none
	ahptest.Reducers(t, map[string]ahptest.Reducer{"annotations": reducer(ahp.V05)})
}

// TestCases runs our own, of the newest form.
func TestCases(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []ahptest.Case
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Run(c.Description, func(t *testing.T) { c.Run(t, reducer(ahp.V1)) })
	}
}

// TestUpdated05 is an update as 0.5 has it, both ways.
func TestUpdated05(t *testing.T) {
	a, err := ahp.DecodeAction([]byte(`{"type":"annotations/updated","annotationId":"a","turnId":"t"}`))
	turn := "t"
	if err != nil || !reflect.DeepEqual(a, annotation.Updated{AnnotationID: "a", TurnID: &turn}) {
		t.Fatalf("read %+v, %v", a, err)
	}
	origin := annotation.Origin{Session: "ahp-session:/s", TurnID: turn}
	var update ahp.Action = annotation.Updated{AnnotationID: "a", Origin: &origin}
	if got := encode(t, ahp.V05, update); got != `{"type":"annotations/updated","annotationId":"a","turnId":"t"}` {
		t.Errorf("0.5 gets %s", got)
	}
	var set ahp.Action = annotation.Set{Annotation: annotation.Annotation{ID: "a", Origin: origin, Entries: []annotation.Entry{}}}
	if got := encode(t, ahp.V05, set); strings.Contains(got, "origin") || !strings.Contains(got, `"turnId":"t"`) {
		t.Errorf("0.5 gets %s", got)
	}
}

func TestSummary(t *testing.T) {
	s := annotation.State{Annotations: []annotation.Annotation{{Entries: make([]annotation.Entry, 2)}, {Entries: make([]annotation.Entry, 1)}}}
	if got, want := s.Summary("x:/y"), (annotation.Summary{Resource: "x:/y", AnnotationCount: 2, EntryCount: 3}); got != want {
		t.Errorf("summary %+v, want %+v", got, want)
	}
}
