package resource_test

import (
	"encoding/json"
	"testing"

	"tandemux/ahp"
	"tandemux/ahp/resource"
	"tandemux/internal/ahptest"
)

// same is the state of a watch after an action.
func same(s resource.WatchState, _ ahp.Action) resource.WatchState { return s }

func reducer(p ahp.Profile) ahptest.Reducer {
	return ahptest.Fold(ahp.DecodeAction, func(v any) (json.RawMessage, error) { return ahp.Encode(p, v) }, same)
}

// TestUpstreamCases runs those of the protocol's project, of 0.5.
func TestUpstreamCases(t *testing.T) {
	ahptest.Reducers(t, map[string]ahptest.Reducer{"resourceWatch": reducer(ahp.V05)})
}

// TestWatch: nothing that is told changes what is watched, in any generation, and all of it
// is read and written as it is.
func TestWatch(t *testing.T) {
	state := json.RawMessage(`{"root":"file:///w","recursive":true,"excludes":{"items":["**/*.tmp"]},"includes":{"items":[]}}`)
	c := ahptest.Case{Initial: state, Expected: state, Actions: []json.RawMessage{
		json.RawMessage(`{"type":"resourceWatch/changed","changes":{"items":[{"uri":"file:///w/a","type":"added"},{"uri":"file:///w","type":"deleted"}]}}`),
		json.RawMessage(`{"type":"resourceWatch/ofLater","changes":7}`),
	}}
	for _, p := range []ahp.Profile{ahp.V1, ahp.V09, ahp.V05} {
		c.Run(t, reducer(p))
		for _, raw := range c.Actions {
			a, err := ahp.DecodeAction(raw)
			if err != nil {
				t.Fatal(err)
			}
			if sent, err := ahp.EncodeAction(p, a); err != nil || !ahptest.Same(t, sent, raw) {
				t.Errorf("%v: %s is written as %s (%v)", p, raw, sent, err)
			}
		}
	}
	if known, ok := ahp.ClientDispatchable(resource.WatchChanged{}.ActionType()); !known || ok {
		t.Error("clients may dispatch it")
	}
}
