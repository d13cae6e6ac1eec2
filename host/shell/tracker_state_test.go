package shell

import (
	"reflect"
	"testing"
)

// Every member of a tracker is in its state: a new one would be lost.
func TestTrackerState(t *testing.T) {
	want := Tracker{
		available: true, trusted: true, promptID: 1, running: true, runTrusted: true, runID: 2,
		line: "a", hasLine: true, guess: "b", host: "c",
	}
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not tested", v.Type().Field(i).Name)
		}
	}
	if got := want.State().Tracker(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
