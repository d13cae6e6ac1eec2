package ahp

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestUnmarshalIsExact: members are what their names say, byte for byte, the
// last of one name counts whole, and integers may be written as fractions.
func TestUnmarshalIsExact(t *testing.T) {
	type all struct {
		CreateTerminalParams
		Map map[string]Claim `json:"map"`
		Raw json.RawMessage  `json:"raw"`
		Any any              `json:"any"`
	}
	for _, c := range []struct {
		text string
		want all
	}{
		{`{"channel":"a","Channel":"b","CHANNEL":"c"}`, all{CreateTerminalParams: CreateTerminalParams{Channel: "a"}}},
		{`{"Channel":"b"}`, all{}},
		{`{"ch\u0061nnel":"a"}`, all{CreateTerminalParams: CreateTerminalParams{Channel: "a"}}},
		{`{"channel":"a","channel":"b"}`, all{CreateTerminalParams: CreateTerminalParams{Channel: "b"}}},
		// U+212A and U+017F fold to k and s.
		{"{\"claim\":{\"\u212aind\":\"client\",\"\u017fession\":\"x\"}}", all{}},
		{`{"claim":{"kind":"session","session":"s"},"claim":{"kind":"client"}}`, all{CreateTerminalParams: CreateTerminalParams{Claim: Claim{Kind: "client"}}}},
		{`{"cols":80.0,"rows":2.4e1}`, all{CreateTerminalParams: CreateTerminalParams{Cols: 80, Rows: 24}}},
		{` { "cols" : 80.0 , "x" : [ { } , "]}" ] , "rows":24 } `, all{CreateTerminalParams: CreateTerminalParams{Cols: 80, Rows: 24}}},
		{`{"cols":null,"name":null,"claim":null,"_meta":null}`, all{}},
		// What is data keeps its spelling: names of variables, documents.
		{`{"_meta":{"tandemux/env":{"Path":"1","PATH":"2","path":"3"},"Tandemux/Shell":"x"}}`, all{CreateTerminalParams: CreateTerminalParams{
			Meta: &CreateMeta{Env: map[string]string{"Path": "1", "PATH": "2", "path": "3"}},
		}}},
		{`{"map":{"A":{"Kind":"x"},"a":{"kind":"y"}}}`, all{Map: map[string]Claim{"A": {}, "a": {Kind: "y"}}}},
		{`{"raw":{"A":1,"a":2,"a":3.0},"any":[1.5],"Raw":0}`, all{Raw: json.RawMessage(`{"A":1,"a":2,"a":3.0}`), Any: []any{1.5}}},
	} {
		var got all
		if err := Unmarshal([]byte(c.text), &got); err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.text, got, c.want)
		}
	}
	for _, text := range []string{
		`{"cols":80.5}`, `{"cols":1e300}`, `{"cols":9007199254740994.0}`, `{"cols":"80"}`, `{"cols":80.0} x`, `{"cols":80.0`, `{"cols":80.0,}`,
		`{"Channel"`, `{"Channel":`, `{"cols":8.0.0}`, `[`, ``, `{"x":"`, `{"x":"\`, `{"Claim":{},"name":"a`, `7`, `{"cols" 80.0}`,
	} {
		var got all
		if err := Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s was accepted: %+v", text, got)
		}
	}
}

// TestActionsAreExact: the type and the payload of an action are as exact as the
// envelope around it.
func TestActionsAreExact(t *testing.T) {
	for text, want := range map[string]Action{
		`{"type":"terminal/titleChanged","Title":"x","title":"y"}`:                                       TerminalTitleChanged{Title: "y"},
		`{"type":"terminal/input","type":"terminal/titleChanged","title":"y"}`:                           TerminalTitleChanged{Title: "y"},
		`{"type":"terminal/resized","cols":80.0,"rows":24,"Rows":7}`:                                     TerminalResized{Cols: 80, Rows: 24},
		`{"type":"terminal/claimed","claim":{"kind":"client","ClientId":"b"}}`:                           TerminalClaimed{Claim: Claim{Kind: "client"}},
		`{"type":"terminal/claimed","claim":{"kind":"session","session":"s"},"claim":{"kind":"client"}}`: TerminalClaimed{Claim: Claim{Kind: "client"}},
	} {
		if got, err := DecodeAction([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	if a, err := DecodeAction([]byte(`{"Type":"terminal/input","data":"x"}`)); err == nil {
		t.Errorf("an action without a type is %+v", a)
	}
}

// FuzzUnmarshal: of JSON without foreign spellings Unmarshal makes what
// json.Unmarshal makes; of no text does it accept what json.Unmarshal refuses,
// but for numbers.
func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{
		`{"channel":"a","clientSeq":1,"action":{"type":"terminal/resized","cols":80,"rows":24}}`,
		`{"channel":"a","claim":{"kind":"client","clientId":"c"},"_meta":{"tandemux/command":["a","b"],"tandemux/env":{"A":"b"}},"cols":80.0}`,
		`{"a":[1,{"b":"\"}"}],"Channel":7}`, `{"rows":1e2,"rows":3`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want CreateTerminalParams
		err, werr := Unmarshal([]byte(text), &got), json.Unmarshal([]byte(text), &want)
		if !json.Valid([]byte(text)) && err == nil {
			t.Fatalf("%q is no JSON and was read as %+v", text, got)
		}
		if odd := strings.ContainsAny(text, `\.eEKs`) || strings.ToLower(text) != text || repeats(text); odd {
			return
		}
		if (err == nil) != (werr == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q gives %+v, %v; want %+v, %v", text, got, err, want, werr)
		}
	})
}

// repeats reports whether some member comes twice.
func repeats(text string) bool {
	for _, name := range []string{"channel", "claim", "name", "cwd", "cols", "rows", "_meta", "kind", "chat"} {
		if strings.Count(text, `"`+name+`"`) > 1 {
			return true
		}
	}
	return false
}

func BenchmarkUnmarshalDispatch(b *testing.B) {
	text := []byte(`{"channel":"ahp-terminal:/1","clientSeq":17,"action":{"type":"terminal/input","data":"x"}}`)
	for b.Loop() {
		var p DispatchParams
		if err := Unmarshal(text, &p); err != nil {
			b.Fatal(err)
		}
	}
}
