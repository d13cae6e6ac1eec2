package asciicast

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"
)

// published is what docs.asciinema.org/manual/asciicast/v3 says of a header's and its
// terminal's attributes, by JSON type.
var published = map[string]map[string]string{
	"": {
		"version": "3", "term": "object", "timestamp": "integer", "idle_time_limit": "number",
		"command": "string", "title": "string", "env": "object", "tags": "array",
	},
	"term": {"cols": "integer", "rows": "integer", "type": "string", "version": "string", "theme": "object"},
}

// eventData is what the data of each event must be.
var eventData = map[string]*regexp.Regexp{
	"o": regexp.MustCompile(`(?s).*`), "i": regexp.MustCompile(`(?s).*`), "m": regexp.MustCompile(`^[^\n]*$`),
	"r": regexp.MustCompile(`^[1-9][0-9]*x[1-9][0-9]*$`), "x": regexp.MustCompile(`^-?[0-9]+$`),
}

// kindOf is a JSON value's type as published has it.
func kindOf(raw json.RawMessage) string {
	switch c := raw[0]; {
	case c == '{':
		return "object"
	case c == '[':
		return "array"
	case c == '"':
		return "string"
	case regexp.MustCompile(`^-?[0-9]+$`).Match(raw):
		return "integer"
	}
	return "number"
}

func checkMembers(t *testing.T, what string, raw json.RawMessage, required ...string) map[string]json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%q is no object: %v", raw, err)
	}
	for name, v := range m {
		want, known := published[what][name]
		if got := kindOf(v); !known || want != got && want != string(v) && (want != "number" || got != "integer") {
			t.Errorf("%s %q is %s: want %q", what, name, v, want)
		}
	}
	for _, name := range required {
		if m[name] == nil {
			t.Errorf("%s lacks %q", what, name)
		}
	}
	return m
}

// TestPublished: what is written is of the published form, looked at without what
// reads it here.
func TestPublished(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, Header{
		Version: V3, Cols: 80, Rows: 24, Term: "xterm-256color", Time: time.Unix(1504467315, 0),
		Title: "a \"title\"", IdleLimit: 1500 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []Event{
		{At: time.Millisecond, Kind: Output, Data: "\x1b[1mx\r\n\u2028\"\\\x00"},
		{At: 3 * time.Second, Kind: Input, Data: "\x03"},
		{At: 3 * time.Second, Kind: Marker, Data: "make all"},
		{At: 4 * time.Second, Kind: Resize, Cols: 90, Rows: 30},
		{At: 5 * time.Second, Kind: Exit, Code: 2},
	} {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	lines := bytes.Split(bytes.TrimSuffix(b.Bytes(), []byte("\n")), []byte("\n"))
	head := checkMembers(t, "", lines[0], "version", "term")
	checkMembers(t, "term", head["term"], "cols", "rows")
	total := 0.0
	var codes []string
	for _, line := range lines[1:] {
		var e []json.RawMessage
		var after float64
		var code, data string
		if json.Unmarshal(line, &e) != nil || len(e) != 3 || json.Unmarshal(e[0], &after) != nil ||
			json.Unmarshal(e[1], &code) != nil || json.Unmarshal(e[2], &data) != nil {
			t.Fatalf("%s is no event", line)
		}
		if re := eventData[code]; after < 0 || re == nil || !re.MatchString(data) {
			t.Errorf("event %s is not of the published form", line)
		}
		total += after
		codes = append(codes, code)
	}
	if total < 4.999 || total > 5.001 || !slices.Equal(codes, []string{"o", "i", "m", "r", "x"}) {
		t.Errorf("%v in %v s", codes, total)
	}
}
