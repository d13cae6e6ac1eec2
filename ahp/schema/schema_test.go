package schema

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"tandemux/ahp"
	"tandemux/internal/ahptest"
	"tandemux/internal/soak"
)

var profiles = []ahp.Profile{ahp.V1, ahp.V09, ahp.V05}

func resolved(t *testing.T, s *jsonschema.Schema) *jsonschema.Resolved {
	t.Helper()
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// table is one of a document's, in which a value is looked up by its name.
func table(t *testing.T, doc *jsonschema.Schema, name string) *jsonschema.Resolved {
	t.Helper()
	return resolved(t, &jsonschema.Schema{Ref: refTo(name), Defs: doc.Defs})
}

func decode(t *testing.T, text []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// TestMessages: what a message must have is asked for, in each generation what it has.
func TestMessages(t *testing.T) {
	const (
		claim    = `{"jsonrpc":"2.0","method":"dispatchAction","params":{"channel":"c","clientSeq":1,"action":{"type":"terminal/claimed","claim":`
		action   = `{"jsonrpc":"2.0","method":"action","params":{"channel":"c","serverSeq":1,"action":`
		delta    = `{"type":"chat/toolCallDelta","turnId":"t","toolCallId":"c"}`
		appended = `{"type":"chat/responsePart","turnId":"t","part":`
	)
	docs := map[ahp.Profile]*jsonschema.Resolved{}
	for _, p := range profiles {
		docs[p] = resolved(t, Document(p))
	}
	for _, c := range []struct {
		message string
		unfit   string // what is said of it in 1.x, "" where it fits
		unfit05 string // and in 0.5
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"channel":"ahp-root://","more":1}}`, "", ""},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `missing properties: ["params"]`, `missing properties: ["params"]`},
		{`{"jsonrpc":"1.0","id":1,"method":"ping","params":{"channel":"ahp-root://"}}`, "const", "const"},
		{`{"jsonrpc":"2.0","method":"somebodys/own","params":7}`, "", ""},
		{claim + `{"kind":"client","clientId":"a"}}}}`, "", ""},
		{claim + `{"kind":"client"}}}}`, `["clientId"]`, `["clientId"]`},
		{claim + `{"kind":"session","session":"s"}}}}`, `["chat"]`, ""},
		{claim + `{"kind":"session","session":"s","chat":"s","turnId":7}}}}`, `has type "integer"`, `has type "integer"`},
		{claim + `{"kind":"a kind of later"}}}}`, "", ""},
		{strings.Replace(claim, "terminal/claimed", "terminal/data", 1) + `1,"data":""}}}`, "does not equal any of", "does not equal any of"},
		{action + `{"type":"somebodys/own"}}}`, "", ""},
		{action + `{"type":"terminal/exited","exitCode":null}}}`, "null", "null"},
		{action + `{"type":"x-tandemux/attentionChanged","terminal":"t","attention":null}}}`, "", ""},
		{action + delta + `}}`, "", `["content"]`},
		{action + appended + `{"kind":"markdown","id":"p"}}}}`, `["content"]`, `["content"]`},
		{action + appended + `{"kind":"systemNotification","content":{"markdown":"*x*"}}}}}`, "", ""},
		{action + appended + `{"kind":"systemNotification","content":{"text":"x"}}}}}`, "did not validate", "did not validate"},
		{action + `{"type":"chat/error","turnId":"t","part":{"kind":"error","error":{"errorType":"e","message":"m"}}}}}`, "", `["error"]`},
		{action + `{"type":"chat/error","turnId":"t","error":{"errorType":"e","message":"m"}}}}`, `["part"]`, ""},
		{action + `{"type":"chat/turnResume"}}}`, `["turnId"]`, ""}, // not in 0.5
	} {
		for p, doc := range docs {
			want := c.unfit
			if p == ahp.V05 {
				want = c.unfit05
			}
			err := doc.Validate(decode(t, []byte(c.message)))
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %s:\n got %v\nwant %q", p, c.message, err, want)
			}
		}
	}
}

// TestAllThatIsWritten: what package ahp writes of each type fits its schema and has no
// member that this does not have, be all of it empty or there.
func TestAllThatIsWritten(t *testing.T) {
	for _, p := range profiles[:soak.Short(1, len(profiles))] {
		doc := Closed(Document(p))
		actions, results, params, ofStates := table(t, doc, Actions), table(t, doc, Results), table(t, doc, Params), table(t, doc, States)
		fits := func(r *jsonschema.Resolved, name string, of reflect.Type) {
			t.Helper()
			full := reflect.New(of).Elem()
			fill(full)
			for _, v := range []reflect.Value{reflect.Zero(of), full} {
				text, err := ahp.Encode(p, v.Interface())
				if err != nil {
					t.Fatalf("%v %s: %v", p, name, err)
				}
				if err := r.Validate(map[string]any{name: decode(t, text)}); err != nil {
					t.Errorf("%v: %s\n%v", p, text, err)
				}
			}
		}
		for name := range doc.Defs[Actions].Properties {
			if of := reflect.TypeOf(ahp.EmptyAction(name)); of != typeOf[ahp.ChatToolCallConfirmed]() { // is of one kind or the other
				fits(actions, name, of)
			}
		}
		for name, of := range states {
			fits(ofStates, name, of)
		}
		for _, m := range methods {
			if m.params == typeOf[ahp.DispatchParams]() || m.params == typeOf[ahp.Envelope]() {
				continue // An action is there or they are not written.
			}
			fits(params, m.name, m.params)
			if m.result != nil && m.result != typeOf[nothing]() {
				fits(results, m.name, m.result)
			}
		}
	}
}

var skipped = json.RawMessage(`{"state":"skipped"}`)

// fill gives everything in v a value, but for what is of several kinds.
func fill(v reflect.Value) {
	if _, several := unions[v.Type()]; several || !v.CanSet() {
		return
	}
	switch to := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*to = json.RawMessage(`{}`)
		return
	case *ahp.Instant:
		*to = ahp.InstantOf(1)
		return
	case *map[string]json.RawMessage: // only answers are kept so
		*to = map[string]json.RawMessage{"k": skipped}
		return
	case *[]json.RawMessage:
		*to = []json.RawMessage{json.RawMessage(`{"label":"x","uriTemplate":"x","changeKind":"x"}`)} // a changeset, else anything
		return
	case *ahp.SessionInfo:
		*to = ahp.SessionInfo{Activity: "x", Project: &ahp.Project{}, WorkingDirectories: []ahp.URI{"x"}, Origin: json.RawMessage(`{}`)}
		to.Annotations = json.RawMessage(`{"resource":"x","annotationCount":1,"entryCount":1}`)
		return
	case *ahp.ChatInputAnswerChanged:
		*to = ahp.ChatInputAnswerChanged{RequestID: "x", QuestionID: "x", Answer: skipped}
		return
	case *ahp.Snapshot:
		*to = ahp.Snapshot{Resource: "x", State: json.RawMessage(`{"rev":1,"doc":{},"terminals":[]}`), FromSeq: 1}
		return
	case *ahp.SessionChanges:
		fill(reflect.ValueOf(&to.After).Elem())
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8, reflect.Uint32:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.String:
		v.SetString("x")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		e := reflect.New(v.Type().Elem()).Elem()
		fill(e)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("k").Convert(v.Type().Key()), e)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// TestSame: a document is the same each time, so that its text can be compared.
func TestSame(t *testing.T) {
	for _, p := range profiles {
		a, err := json.Marshal(Document(p))
		b, err2 := json.Marshal(Document(p))
		if err != nil || err2 != nil || string(a) != string(b) {
			t.Errorf("%v: two documents differ (%v, %v)", p, err, err2)
		}
	}
}

// TestUpstreamCasesFit: states and actions of the protocol's own cases fit what is said
// here of 0.5.
func TestUpstreamCasesFit(t *testing.T) {
	doc := Document(ahp.V05)
	actions, ofStates := table(t, doc, Actions), table(t, doc, States)
	fit := func(t *testing.T, c ahptest.Case) json.RawMessage {
		t.Helper()
		for _, state := range []json.RawMessage{c.Initial, c.Expected} {
			if err := ofStates.Validate(map[string]any{c.Reducer: ahptest.WithoutNulls(t, state)}); err != nil {
				t.Errorf("%s\n%v", state, err)
			}
		}
		for _, raw := range c.Actions {
			action := ahptest.WithoutNulls(t, raw).(map[string]any)
			if err := actions.Validate(map[string]any{action["type"].(string): action}); err != nil {
				t.Errorf("%s\n%v", raw, err)
			}
		}
		return c.Expected
	}
	ahptest.Reducers(t, map[string]ahptest.Reducer{"root": fit, "terminal": fit, "session": fit, "chat": fit})
}
