package shell

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Every member of a tracker is in its JSON: a new one would be lost.
func TestTrackerState(t *testing.T) {
	want := Tracker{
		Available: true, Trusted: true, PromptID: 1, Running: true, RunTrusted: true, RunID: 2,
		Line: "a", HasLine: true, Host: "c",
	}
	v := reflect.ValueOf(want)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not tested", v.Type().Field(i).Name)
		}
	}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Tracker
	if err := json.Unmarshal(text, &got); err != nil || got != want {
		t.Errorf("got %+v, want %+v (%v)", got, want, err)
	}
}
