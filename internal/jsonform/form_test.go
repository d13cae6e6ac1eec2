package jsonform

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"tandemux/ahp"
)

func TestWrite(t *testing.T) {
	at := time.Date(2026, 11, 23, 4, 5, 6, 789_123_456, time.FixedZone("", 3600))
	type inner struct {
		Created int64    `json:"created"`
		Cwd     string   `json:"cwd,omitempty"`
		Text    string   `json:"text"`
		List    []string `json:"list"`
	}
	for _, c := range []struct {
		v    any
		want string
	}{
		{[]inner(nil), `[]`},
		{inner{Created: 1000, Cwd: "file:///a%20b", Text: "file:///a"}, `{"createdAt":"1970-01-01T00:00:01.000Z","cwd":"/a b","text":"file:///a","list":[]}`},
		{
			struct {
				At  time.Time       `json:"updated_at"`
				Raw json.RawMessage `json:"raw_json"`
				Of  map[string]int  `json:"of_each"`
				For int64           `json:"duration"`
			}{at, json.RawMessage(`{"created":1,"a_b":[{"cwd":"file:///"}]}`), map[string]int{"created": 1, "a_b": 2}, 3},
			`{"updatedAt":"2026-11-23T03:05:06.789Z","rawJson":{"created":1,"a_b":[{"cwd":"file:///"}]},"ofEach":{"a_b":2,"created":1},"durationMs":3}`,
		},
		{
			ahp.Envelope{Channel: "ahp-terminal:/a", Action: ahp.TerminalCwdChanged{Cwd: "file:///srv"}, ServerSeq: 7},
			`{"channel":"ahp-terminal:/a","action":{"type":"terminal/cwdChanged","cwd":"/srv"},"serverSeq":7}`,
		},
	} {
		got, err := Write(reflect.TypeOf(c.v), c.v, false)
		if err != nil || string(got) != c.want+"\n" {
			t.Errorf("%T: %s %v, want %s", c.v, got, err, c.want)
			continue
		}
		s := Schema(reflect.TypeOf(c.v))
		s.Defs = Definitions()
		r, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		json.Unmarshal(got, &v) //nolint:errcheck // it is JSON
		if err := r.Validate(v); err != nil {
			t.Errorf("%T: %v", c.v, err)
		}
	}
}

// TestDescriptions: members are described by the tag doc, wherever in a type they stand.
func TestDescriptions(t *testing.T) {
	type inner struct {
		Created int64 `json:"created" doc:"When"`
	}
	type outer struct {
		inner
		All  []*inner `json:"all_of" doc:"Them"`
		Bare bool     `json:"bare"`
	}
	s := Schema(reflect.TypeFor[[]outer]()).Items.Properties
	if at := s["createdAt"]; at.Description != "When" || at.Format != "date-time" {
		t.Errorf("an embedded member is %v", at)
	}
	if s["allOf"].Description != "Them" || s["allOf"].Items.Properties["createdAt"].Description != "When" || s["bare"].Description != "" {
		t.Errorf("members are %v", s)
	}
}

func TestCode(t *testing.T) {
	for want, err := range map[string]error{"failed": json.Unmarshal([]byte("{"), new(int)), "not_found": ahp.Errorf(ahp.CodeNotFound, "no")} {
		if got := Code(err); got != want {
			t.Errorf("%v is %s, want %s", err, got, want)
		}
	}
}
