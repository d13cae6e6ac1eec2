package ahp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// generally is a state that the fast way leaves to the general decoder: of two
// members of one name the last counts.
func generally(state string) string { return strings.Replace(state, "{", `{"content":null,`, 1) }

// checkState holds the fast way to the general one.
func checkState(t *testing.T, state string) {
	t.Helper()
	var fast, general TerminalState
	err := json.Unmarshal([]byte(state), &fast)
	want := json.Unmarshal([]byte(generally(state)), &general)
	if (err == nil) != (want == nil) {
		t.Fatalf("%s: %v; the general decoder says %v", state, err, want)
	}
	if err == nil && !reflect.DeepEqual(fast, general) {
		t.Fatalf("%s\n is read as %#v,\ngenerally as %#v", state, fast, general)
	}
}

func states(t testing.TB) (all []string) {
	t.Helper()
	code, took := 3, int64(12)
	s := TerminalState{Title: "content", Cols: 80, Rows: 24, Claim: Claim{Kind: ClaimClient, ClientID: "c"}, SupportsCommandDetection: true}
	add := func() {
		b, err := Encode(V1, s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	add()
	for _, text := range dataSamples {
		s.Content = append(s.Content,
			Part{Type: PartUnclassified, Value: text},
			Part{Type: PartCommand, CommandID: "1", CommandLine: text, Output: text, Timestamp: 5, IsComplete: true, ExitCode: &code, DurationMs: &took})
		add()
	}
	for _, content := range []string{
		`null`, `{}`, `"x"`, `[null]`, `[1]`, `["x"]`, `[{}]`, `[{"type":"unclassified","value":null}]`, `[{"value":1}]`,
		`[{"value":"a","value":"b"}]`, `[{"type":"a","type":"b","value":"c"}]`, `[{"Value":"a"}]`, `[{"v\u0061lue":"a"}]`,
		`[{"value":"a","x":{"value":"b"}}]`, `[ { "value" : "a" , "type" : "new" } , {"output":"o","timestamp":1.5} ]`, `[{"value":"\ud800"}]`,
		`[{"timestamp":"x","value":"a"}]`,
	} {
		all = append(all, `{"content":`+content+`}`, `{ "title" : "t" , "content" : `+content+` , "cols" : 8e1 }`,
			`{"Content":`+content+`}`, `{"c\u006fntent":`+content+`,"title":"t"}`, `{"content":[],"content":`+content+`}`)
	}
	return all
}

func TestContentIsReadAsGenerally(t *testing.T) {
	for _, s := range states(t) {
		checkState(t, s)
	}
	_, rest, ok := takeContent([]byte(states(t)[5]))
	if !ok || strings.Contains(string(rest), "commandId") {
		t.Errorf("parts as they are written are not taken: %s", rest)
	}
}

func TestSubscribeResultIsReadAsGenerally(t *testing.T) {
	s := `{"snapshot":{"resource":"ahp-terminal:/1","state":{"title":"}\"","content":[{"value":"{"}]},"fromSeq":17}}`
	for i, text := range []string{
		s, strings.Replace(s, "17", "1.7e1", 1), strings.Replace(s, `,"fromSeq"`, `,"more":1,"fromSeq"`, 1), s + " ",
		strings.Replace(s, `"fromSeq":17`, `"fromSeq":17,"fromSeq":18`, 1), "{}", `{"snapshot":null}`, `{"snapshot":3}`, "null",
	} {
		got, err := ReadSubscribeResult([]byte(text))
		var general SubscribeResult
		want := json.Unmarshal([]byte(text), &general)
		if (err == nil) != (want == nil) || err == nil && !reflect.DeepEqual(got, general) {
			t.Errorf("%s is read as %#v, %v; generally as %#v, %v", text, got, err, general, want)
		}
		if _, ok := readSnapshot([]byte(text)); ok != (i == 0) {
			t.Errorf("read the fast way: %v: %s", ok, text)
		}
	}
}

func FuzzState(f *testing.F) {
	for _, s := range states(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, state string) {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(state), &object) == nil && len(object) > 0 {
			checkState(t, state)
		}
	})
}
