package annotation_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/internal/ahptest"
)

func reducer(p ahp.Profile) ahptest.Reducer {
	return ahptest.Fold(ahp.DecodeAction, func(v any) (json.RawMessage, error) { return ahp.Encode(p, v) }, annotation.Reduce)
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
	ahptest.Reducers(t, map[string]ahptest.Reducer{"annotations": reducer(ahp.V05)})
}

// TestCases runs our own, of the newest form.
func TestCases(t *testing.T) {
	ahptest.Cases(t, "testdata/cases.json", func(ahptest.Case) ahptest.Reducer { return reducer(ahp.V1) })
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
