package changeset_test

import (
	"encoding/json"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/changeset"
	"tandemux/internal/ahptest"
)

func reducer(p ahp.Profile) ahptest.Reducer {
	return ahptest.Fold(ahp.DecodeAction, func(v any) (json.RawMessage, error) { return ahp.Encode(p, v) }, changeset.Reduce)
}

// TestUpstream runs the cases of the protocol's project, of 0.5, where they are.
func TestUpstream(t *testing.T) {
	ahptest.Reducers(t, map[string]ahptest.Reducer{"changeset": reducer(ahp.V05)})
}

func TestUpstreamRoundTrips(t *testing.T) {
	ahptest.RoundTrips(t, map[string]func(json.RawMessage) (json.RawMessage, error){
		"ChangesetOperationTarget": func(raw json.RawMessage) (json.RawMessage, error) {
			var target changeset.Target
			if err := ahp.Unmarshal(raw, &target); err != nil {
				return nil, err
			}
			return ahp.Encode(ahp.V05, target)
		},
	})
}

// TestCases runs the project's own.
func TestCases(t *testing.T) {
	ahptest.Cases(t, "testdata/cases.json", func(ahptest.Case) ahptest.Reducer { return reducer(ahp.V1) })
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
