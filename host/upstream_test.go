package host_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/changeset"
	"tandemux/ahp/resource"
)

// upstream are the schemas that the protocol's project publishes for 0.5, from its
// checkout; nil without one. Its files are mended: they refer to enumerations and
// aliases that they do not have, let the first of the alternatives of many unions be
// anything, require members that may be undefined, and take objects and lists for strings.
var upstream = sync.OnceValue(func() *published {
	dir := os.Getenv("TANDEMUX_AHP_TREE")
	if dir == "" {
		return nil
	}
	p := &published{defs: map[string]*jsonschema.Schema{}, params: map[string]string{}, results: map[string]string{}, actions: map[string][]string{}, known: map[string]*jsonschema.Resolved{}}
	files, err := filepath.Glob(filepath.Join(dir, "schema/*.schema.json"))
	if err != nil || len(files) == 0 {
		panic("there are no schemas in " + dir)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		doc := &jsonschema.Schema{}
		if err == nil {
			err = json.Unmarshal(text, doc)
		}
		if err != nil {
			panic(fmt.Sprintf("%s: %v", file, err))
		}
		for name, s := range doc.Defs {
			p.defs[name] = s
		}
	}
	p.readTypes(os.DirFS(dir))
	for _, s := range p.defs {
		p.mend(s)
	}
	for name, s := range p.defs {
		if kind := s.Properties["type"]; kind != nil && strings.HasSuffix(name, "Action") && kind.Const != nil {
			p.actions[fmt.Sprint(*kind.Const)] = append(p.actions[fmt.Sprint(*kind.Const)], name)
		}
	}
	return p
})

type published struct {
	defs    map[string]*jsonschema.Schema
	params  map[string]string // names of types by method
	results map[string]string
	actions map[string][]string // by type
	known   map[string]*jsonschema.Resolved
	mu      sync.Mutex
}

var (
	enumeration = regexp.MustCompile(`(?s)export (?:const )?enum (\w+) \{(.*?)\n\}`)
	enumerated  = regexp.MustCompile(`(?m)^  (\w+) = (?:'(.*)'|(\d.*|\(.*)),`)
	interfaces  = regexp.MustCompile(`(?s)export interface (\w+)[^{]*\{(.*?)\n\}`)
	undefined   = regexp.MustCompile(`(?m)^  (?:readonly )?(\w+): .*\| undefined;`)
	messages    = regexp.MustCompile(`(?m)^  '([\w/]+)': \{ params: (\w+)(?:; result: (\w+))? \};`)
)

// readTypes takes from the sources what the schemas lack.
func (p *published) readTypes(tree fs.FS) {
	err := fs.WalkDir(tree, "types", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".ts") {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		for _, e := range enumeration.FindAllSubmatch(text, -1) {
			all := &jsonschema.Schema{}
			for _, v := range enumerated.FindAllSubmatch(e[2], -1) {
				if len(v[3]) > 0 { // flags
					all = &jsonschema.Schema{Type: "integer"}
					break
				}
				var value any = string(v[2])
				p.defs[string(e[1])+"."+string(v[1])] = &jsonschema.Schema{Const: &value}
				all.Enum = append(all.Enum, value)
			}
			p.defs[string(e[1])] = all
		}
		for _, i := range interfaces.FindAllSubmatch(text, -1) {
			for _, member := range undefined.FindAllSubmatch(i[2], -1) {
				if s := p.defs[string(i[1])]; s != nil {
					s.Required = without(s.Required, string(member[1]))
				}
			}
		}
		for _, m := range messages.FindAllSubmatch(text, -1) {
			p.params[string(m[1])], p.results[string(m[1])] = string(m[2]), string(m[3])
		}
		return err
	})
	if err != nil {
		panic(err)
	}
}

func without(list []string, s string) (rest []string) {
	for _, e := range list {
		if e != s {
			rest = append(rest, e)
		}
	}
	return rest
}

// mend makes references lead somewhere and unions choose.
func (p *published) mend(s *jsonschema.Schema) {
	if name, is := strings.CutPrefix(s.Ref, "#/$defs/"); is {
		if *s = (jsonschema.Schema{Ref: s.Ref}); p.defs[name] == nil {
			p.defs[name] = &jsonschema.Schema{}
		}
		switch d := p.defs[name]; {
		case d.Const != nil: // so that actions can be found by it
			*s = jsonschema.Schema{Const: d.Const}
		case name == "" || d.Ref == "" && d.Type == "" && d.Properties == nil && d.OneOf == nil && d.AnyOf == nil && d.Enum == nil:
			*s = jsonschema.Schema{}
		}
	}
	for _, one := range s.OneOf {
		p.mend(one)
		if one.Ref != "" || one.Type != "" {
			s.AnyOf = append(s.AnyOf, one)
		}
	}
	s.OneOf = nil
	for _, member := range s.Properties {
		p.mend(member)
		for _, name := range []string{"items", "content"} { // within a member, types with names became strings
			if within := member.Properties[name]; within != nil && within.Type == "string" {
				*within = jsonschema.Schema{}
			}
		}
	}
	for _, of := range []*jsonschema.Schema{s.Items, s.AdditionalProperties} {
		if of != nil {
			p.mend(of)
		}
	}
}

// fits says what is wrong with a value of a type of 0.5.
func (p *published) fits(name string, value any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.defs[name] == nil {
		return fmt.Errorf("0.5 has no type %q", name)
	}
	if p.known[name] == nil {
		r, err := (&jsonschema.Schema{Ref: "#/$defs/" + name, Defs: p.defs}).Resolve(nil)
		if err != nil {
			return err
		}
		p.known[name] = r
	}
	return p.known[name].Validate(value)
}

// said05 says what is wrong with what the host says of its own accord.
func (p *published) said05(method string, params map[string]any) error {
	name := p.params[method]
	if name == "" {
		return fmt.Errorf("0.5 has no notification %q", method)
	}
	if method != ahp.MethodAction {
		return p.fits(name, params)
	}
	action, _ := params["action"].(map[string]any)
	kind := fmt.Sprint(action["type"])
	if strings.HasPrefix(kind, "x-tandemux/") {
		return nil
	}
	var wrong []error
	for _, name := range p.actions[kind] {
		if err := p.fits(name, action); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(p.actions[kind]) == 0 {
		return fmt.Errorf("0.5 has no action %q", kind)
	}
	if len(wrong) == len(p.actions[kind]) {
		return errors.Join(wrong...)
	}
	return p.fits(name, params)
}

// answered05 says what is wrong with the answer to a request.
func (p *published) answered05(method string, result any) error {
	switch name := p.results[method]; name {
	case "": // is ours
		return nil
	case "null":
		if result != nil {
			return fmt.Errorf("%s is answered with %v", method, result)
		}
		return nil
	case "ReconnectResult":
		if r, _ := result.(map[string]any); r["type"] == ahp.ReconnectReplay {
			return p.fits("ReconnectReplayResult", result)
		}
		return p.fits("ReconnectSnapshotResult", result)
	default:
		return p.fits(name, result)
	}
}

// down says what would be wrong with a message if its reader were one of 0.5: it is
// written again for one. method is what it is of, or what it answers.
func (p *published) down(method string, params map[string]any, result any) error {
	switch method {
	case ahp.MethodAction:
		if params["rejectionReason"] != nil {
			return nil
		}
		text, err := json.Marshal(params["action"])
		if err != nil {
			return err
		}
		action, err := ahp.DecodeAction(text)
		if err != nil || !ahp.Speaks(ahp.V05, action.ActionType()) {
			return err
		}
		text, err = ahp.EncodeAction(ahp.V05, action)
		if err != nil {
			return err
		}
		return p.said05(method, with(params, "action", text))
	case ahp.NoteSessionAdded:
		text, err := for05(params["summary"], new(ahp.SessionSummary))
		if err != nil {
			return err
		}
		return p.said05(method, with(params, "summary", text))
	case ahp.NoteSessionSummaryChanged, ahp.NoteAuthRequired, ahp.MethodFetchTurns: // are made for their reader
		return nil
	case ahp.MethodListSessions:
		text, err := for05(result, new(ahp.ListSessionsResult))
		if err != nil {
			return err
		}
		return p.answered05(method, with(map[string]any{}, "", text)[""])
	case ahp.MethodInitialize, ahp.MethodReconnect, ahp.MethodSubscribe:
		for _, snapshot := range snapshots(result) {
			kind := kindOfState(snapshot["state"].(map[string]any))
			to, is := map[string]any{
				"root": new(ahp.RootState), "terminal": new(ahp.TerminalState), "session": new(ahp.SessionState), "chat": new(ahp.ChatState),
				"annotations": new(annotation.State), "changeset": new(changeset.State), "resourceWatch": new(resource.WatchState),
			}[kind]
			if !is {
				continue
			}
			text, err := for05(snapshot["state"], to)
			if err == nil {
				err = p.fits(strings.ToUpper(kind[:1])+kind[1:]+"State", with(map[string]any{}, "", text)[""])
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if params != nil {
		if p.params[method] == "" { // 0.5 does not have it
			return nil
		}
		return p.said05(method, params)
	}
	return p.answered05(method, result)
}

// for05 is what a reader of 0.5 is written of a value that was read as a type.
func for05(value, as any) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, as)
	}
	if err != nil {
		return nil, err
	}
	return ahp.Encode(ahp.V05, as)
}

// with is an object with another member.
func with(object map[string]any, member string, text json.RawMessage) map[string]any {
	object = maps.Clone(object)
	var v any
	json.Unmarshal(text, &v) //nolint:errcheck // it was just written
	object[member] = v
	return object
}

// TestUpstreamSchemas: what the published schemas of 0.5 are mended to refuses what 0.5
// does not type, so that all that this package's tests receive is held against something.
func TestUpstreamSchemas(t *testing.T) {
	p := upstream()
	if p == nil {
		t.Skip("TANDEMUX_AHP_TREE does not name a checkout of the protocol's project")
	}
	for action, fits := range map[string]bool{
		`{"type":"terminal/exited","exitCode":1}`:                                                                           true,
		`{"type":"terminal/exited","exitCode":"1"}`:                                                                         false,
		`{"type":"terminal/claimed","claim":{"kind":"session","session":"s"}}`:                                              true,
		`{"type":"terminal/claimed","claim":{"kind":"session","clientId":"a"}}`:                                             false,
		`{"type":"chat/toolCallDelta","turnId":"t","toolCallId":"c","content":""}`:                                          true,
		`{"type":"chat/toolCallDelta","turnId":"t","toolCallId":"c"}`:                                                       false,
		`{"type":"session/chatUpdated","chat":"c","changes":{"activity":""}}`:                                               true,
		`{"type":"session/chatUpdated","chat":"c","changes":{"activity":null}}`:                                             false,
		`{"type":"chat/error","turnId":"t","error":{"errorType":"e","message":"m"}}`:                                        true,
		`{"type":"chat/error","turnId":"t","part":{"kind":"error","error":{"errorType":"e","message":"m"}}}`:                false,
		`{"type":"chat/responsePart","turnId":"t","part":{"kind":"markdown","id":"p","content":"x"}}`:                       true,
		`{"type":"chat/responsePart","turnId":"t","part":{"kind":"error","error":{"errorType":"e","message":"m"}}}`:         false,
		`{"type":"chat/turnResume","turnId":"t"}`:                                                                           false,
		`{"type":"root/terminalsChanged","terminals":[{"resource":"t","title":"","claim":{"kind":"client"}}]}`:              false,
		`{"type":"chat/toolCallConfirmed","turnId":"t","toolCallId":"c","approved":false}`:                                  false,
		`{"type":"chat/toolCallConfirmed","turnId":"t","toolCallId":"c","approved":false,"reason":"denied"}`:                true,
		`{"type":"session/chatAdded","summary":{"resource":"c","title":"","status":1,"modifiedAt":"2026-11-23T00:00:00Z"}}`: true,
		`{"type":"session/chatAdded","summary":{"resource":"c","title":"","status":1,"modifiedAt":1}}`:                      false,
	} {
		envelope := with(map[string]any{"channel": "c", "serverSeq": 1}, "action", json.RawMessage(action))
		if err := p.said05(ahp.MethodAction, envelope); (err == nil) != fits {
			t.Errorf("%s: %v", action, err)
		}
	}
	for method, result := range map[string]any{
		ahp.MethodPing:         map[string]any{},
		ahp.MethodSubscribe:    map[string]any{"snapshot": map[string]any{"resource": "t", "fromSeq": 1, "state": map[string]any{"title": ""}}},
		ahp.MethodListSessions: map[string]any{"items": []any{map[string]any{"resource": "s"}}},
		ahp.MethodReconnect:    map[string]any{"type": "replay"},
	} {
		if p.answered05(method, result) == nil {
			t.Errorf("%s may be answered with %v", method, result)
		}
	}
}
