package host_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/ahp/schema"
	"tandemux/host"
	"tandemux/internal/soak"
)

// document is one of the protocol's schemas, with a property for its messages and for
// each table of what it has by names: to resolve it once for each takes seconds.
type document struct{ *jsonschema.Resolved }

func resolve(doc *jsonschema.Schema) document {
	message := *doc
	message.Schema, message.Defs = "", nil
	all := &jsonschema.Schema{Defs: doc.Defs, Properties: map[string]*jsonschema.Schema{"message": &message}}
	for _, table := range []string{schema.Params, schema.Results, schema.Actions, schema.States} {
		all.Properties[table] = &jsonschema.Schema{Ref: "#/$defs/" + table}
	}
	r, err := all.Resolve(nil)
	if err != nil {
		panic(err)
	}
	return document{r}
}

// fits says what is wrong with a value that has a name in a table.
func (d document) fits(table, name string, value any) error {
	return d.Validate(map[string]any{table: map[string]any{name: value}})
}

// message says what is wrong with a message.
func (d document) message(value any) error { return d.Validate(map[string]any{"message": value}) }

// opened and closed are the schemas of a profile: what hosts write is held by the closed
// ones.
var opened, closed = schemas(resolve), schemas(func(doc *jsonschema.Schema) document { return resolve(schema.Closed(doc)) })

func schemas(of func(*jsonschema.Schema) document) (all [ahp.V05 + 1]func() document) {
	for p := range all {
		all[p] = sync.OnceValue(func() document { return of(schema.Document(ahp.Profile(p))) })
	}
	return all
}

// speech holds the messages of one connection against the schemas of its version.
type speech struct {
	mu      sync.Mutex
	profile ahp.Profile
	asked   map[string]string // methods of requests, by id
	heard   tally
}

// tally counts messages by profile, method, type of action and reason of a refusal.
type tally struct {
	mu sync.Mutex
	n  map[[4]string]int
}

// heardByAll is all connections' with -short.
var heardByAll tally

func (c *tally) add(kind [4]string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[[4]string]int{}
	}
	c.n[kind]++
	return c.n[kind]
}

// often says that enough of the host's messages of this kind were looked at: of actions on
// this connection, and with -short of answers, too, and on all. A flood is of one kind, and
// looking at each costs more than the host spends on it: after the first hundred, with -short
// twenty, one in twenty is held against the schemas, in a soak all.
func (s *speech) often(t testing.TB, f frame) bool {
	var params struct {
		Action          struct{ Type string }
		RejectionReason string
	}
	if f.Method != ahp.MethodAction && !testing.Short() || soak.Time(t) > 0 || f.Params != nil && json.Unmarshal(f.Params, &params) != nil {
		return false
	}
	of := &s.heard
	if testing.Short() {
		of = &heardByAll
	}
	n := of.add([4]string{fmt.Sprint(s.profile), cmp.Or(f.Method, s.asked[string(f.ID)]), params.Action.Type, params.RejectionReason})
	return n > soak.Short(20, 100) && n%20 != 0
}

// profiles are those of clients, by host and clientId: one that reconnects speaks as
// before.
var profiles sync.Map

type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result any             `json:"result"`
	Error  any             `json:"error"`
}

// sent notes what a client asks.
func (s *speech) sent(w *fixture, raw []byte) {
	var f frame
	if ahp.Unmarshal(raw, &f) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked == nil {
		s.asked = map[string]string{}
	}
	s.asked[string(f.ID)] = f.Method
	if f.Method == ahp.MethodInitialize || f.Method == ahp.MethodReconnect {
		var hello ahp.InitializeParams
		ahp.Unmarshal(f.Params, &hello) //nolint:errcheck // the schema says so
		key := w.dir + " " + hello.ClientID
		if _, p, err := ahp.Negotiate(hello.ProtocolVersions); err == nil {
			profiles.Store(key, p)
		}
		if p, ok := profiles.Load(key); ok {
			s.profile = p.(ahp.Profile)
		}
	}
}

// fits says what is wrong with a message of the client.
func (s *speech) fits(raw []byte) error {
	var message any
	if err := ahp.Unmarshal(raw, &message); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return opened[s.profile]().message(message)
}

// received says what is wrong with what the host writes.
func (s *speech) received(w *fixture, raw []byte) error {
	var f frame
	var params map[string]any
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.often(w.t, f) {
		return nil
	}
	if f.Params != nil {
		if err := json.Unmarshal(f.Params, &params); err != nil {
			return err
		}
	}
	if params["rejectionReason"] != nil {
		params["action"] = map[string]any{"type": "x-tandemux/refused"} // the client's own, whole or not
	}
	method, noted := s.asked[string(f.ID)]
	if p := upstream(); p != nil {
		var err error
		switch {
		case s.profile != ahp.V05 && f.Error == nil:
			err = p.down(cmp.Or(f.Method, method), params, f.Result)
		case f.Method != "":
			err = p.said05(f.Method, params)
		case f.Error == nil:
			err = p.answered05(method, f.Result)
		}
		if err != nil {
			return fmt.Errorf("by the protocol's own schemas of 0.5: %w", err)
		}
	}
	d := closed[s.profile]()
	switch {
	case f.Method != "":
		return d.fits(schema.Params, f.Method, params)
	case f.Error != nil:
		return d.message(map[string]any{"jsonrpc": "2.0", "error": f.Error})
	}
	for _, snapshot := range snapshots(f.Result) { // by their kinds: Results has any
		state, _ := snapshot["state"].(map[string]any)
		if err := d.fits(schema.States, kindOfState(state), state); err != nil {
			return fmt.Errorf("state of %v: %w", snapshot["resource"], err)
		}
	}
	if !noted { // the test wrote to the connection by itself
		return nil
	}
	return d.fits(schema.Results, method, f.Result)
}

// snapshots are those in a result.
func snapshots(result any) (all []map[string]any) {
	r, _ := result.(map[string]any)
	list, _ := r["snapshots"].([]any)
	for _, one := range append(list, r["snapshot"]) {
		if s, is := one.(map[string]any); is {
			all = append(all, s)
		}
	}
	return all
}

// kindOfState goes by a member that states of one kind alone must have.
func kindOfState(state map[string]any) string {
	if _, is := state["annotations"].([]any); is { // a session's are none
		return "annotations"
	}
	for member, kind := range map[string]string{
		"agents": "root", "content": "terminal", "chats": "session", "turns": "chat", "doc": "layout", "layouts": "activity", "root": "resourceWatch", "files": "changeset",
	} {
		if _, has := state[member]; has {
			return kind
		}
	}
	return ""
}

// TestSchemasOfAllRequests: what can be asked of a host is in the schemas, and what is
// there can be asked, of a host or (x-tandemux/order) by it.
func TestSchemasOfAllRequests(t *testing.T) {
	t.Parallel()
	served := host.Methods(start(t).host)
	for p, doc := range closed {
		right, wrong := map[string]any{"items": []any{}}, map[string]any{"items": []any{}, "unknown": 1}
		if err := doc().fits(schema.Results, ahp.MethodListSessions, right); err != nil {
			t.Errorf("profile %d: %v", p, err)
		}
		if doc().fits(schema.Results, ahp.MethodListSessions, wrong) == nil {
			t.Errorf("profile %d: an unknown member fits", p)
		}
	}
	table := schema.Document(ahp.V1).Defs[schema.Results].Properties
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if name != palette.MethodOrder && !slices.Contains(served, name) {
			t.Errorf("there is a schema of %s, which is not served", name)
		}
	}
	for _, name := range served {
		if table[name] == nil {
			t.Errorf("there is no schema of %s: it wants a row in ahp/schema/methods.go", name)
		}
	}
}

// short is as much of a text as a failure tells.
func short(text string) string { return strings.ToValidUTF8(text[:min(len(text), 2000)], "?") }
