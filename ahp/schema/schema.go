package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/changeset"
)

type (
	object     = jsonschema.Schema
	properties = map[string]*object
)

// The tables among a document's $defs.
const (
	Params  = "Params"
	Results = "Results"
	Actions = "Actions"
	States  = "States"
)

// Document returns the schema of all messages of a generation of the protocol.
func Document(p ahp.Profile) *jsonschema.Schema {
	g := generator{profile: p, defs: properties{}}
	doc := g.message()
	doc.Schema = "https://json-schema.org/draft/2020-12/schema"
	doc.Title = "Agent Host Protocol " + p.String() + ", as tandemux serves it"
	doc.Defs = g.defs
	return doc
}

// Closed returns a copy of doc that refuses members it does not describe.
func Closed(doc *jsonschema.Schema) *jsonschema.Schema {
	doc = doc.CloneSchemas()
	for name, s := range doc.Defs {
		if name != reflect.TypeFor[ahp.Question]().Name() { // a Question keeps unknown members
			closeObject(s)
		}
	}
	return doc
}

func closeObject(s *object) {
	for _, c := range s.AllOf {
		closeObject(c.Then)
	}
	if s.Properties != nil && s.AllOf == nil && s.Ref == "" {
		s.AdditionalProperties = &object{Not: &object{}}
	}
}

func refTo(name string) string      { return "#/$defs/" + name }
func ref(name string) *object       { return &object{Ref: refTo(name)} }
func kind(name string) *object      { return &object{Type: name} }
func constant(v any) *object        { return &object{Const: &v} }
func orNull(s *object) *object      { return &object{AnyOf: []*object{s, kind("null")}} }
func listOf(s *object) *object      { return &object{Type: "array", Items: s} }
func mapOf(s *object) *object       { return &object{Type: "object", AdditionalProperties: s} }
func typeOf[T any]() reflect.Type   { return reflect.TypeFor[T]() }
func members(ps properties) *object { return &object{Type: "object", Properties: ps} }

// when returns a schema that applies then to objects whose member has the value.
func when(member string, value any, then *object) *object {
	return &object{If: &object{Properties: properties{member: constant(value)}, Required: []string{member}}, Then: then}
}

// generator makes the schema of one profile.
type generator struct {
	profile ahp.Profile
	defs    properties
}

// message returns the schema of any message, and fills defs with everything that it refers to.
func (g *generator) message() *object {
	tables := map[string]properties{Params: {}, Results: {}, Actions: {}, States: {}}
	g.defs["Prose"] = &object{AnyOf: []*object{kind("string"), required(members(properties{"markdown": kind("string")}), "markdown")}}
	for _, t := range []reflect.Type{typeOf[ahp.Answer](), typeOf[changeset.Changeset](), typeOf[annotation.Summary]()} {
		g.of(t) // edits refer to it
	}
	g.changesOf(typeOf[ahp.SessionSummary]())
	g.changesOf(typeOf[ahp.ChatSummary]())
	s := required(members(properties{
		"jsonrpc": constant("2.0"), "id": {Types: []string{"integer", "string"}},
		"method": kind("string"), "error": g.of(typeOf[ahp.Error]()),
	}), "jsonrpc")
	for _, m := range methods {
		tables[Params][m.name] = g.of(m.params)
		if m.result != nil {
			tables[Results][m.name] = g.of(m.result)
		}
		s.AllOf = append(s.AllOf, when("method", m.name, required(members(properties{"params": g.of(m.params)}), "params")))
	}
	for name, t := range states {
		tables[States][name] = g.of(t)
	}
	action := func() *object { return required(members(properties{"type": kind("string")}), "type") }
	all, clients := action(), action()
	for _, name := range ahp.ActionTypes() {
		if !ahp.Speaks(g.profile, name) {
			continue
		}
		a := g.of(reflect.TypeOf(ahp.EmptyAction(name)))
		tables[Actions][name] = a
		all.AllOf = append(all.AllOf, when("type", name, a.CloneSchemas()))
		if _, may := ahp.ClientDispatchable(name); may {
			clients.Properties["type"].Enum = append(clients.Properties["type"].Enum, name)
		}
	}
	clients.Ref = refTo("Action")
	g.defs["Action"], g.defs["ClientAction"] = all, clients
	g.defs["State"] = &object{}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		g.defs["State"].AnyOf = append(g.defs["State"].AnyOf, g.of(states[name]))
	}
	for name, table := range tables {
		g.defs[name] = members(table)
	}
	return s
}

// of returns the schema of a type; of a struct it is a reference.
func (g *generator) of(t reflect.Type) *object {
	if s := known[t]; s != nil {
		return s.CloneSchemas()
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Bool:
		return kind("boolean")
	case reflect.Float64:
		return kind("number")
	case reflect.Int, reflect.Int64:
		return kind("integer")
	case reflect.Uint32:
		return &object{Type: "integer", Minimum: new(float64)}
	case reflect.String:
		return kind("string")
	case reflect.Slice:
		return listOf(g.of(t.Elem()))
	case reflect.Map:
		return mapOf(g.of(t.Elem()))
	case reflect.Interface:
		return &object{}
	case reflect.Struct:
		return g.structOf(t)
	}
	panic("schema: no schema for " + t.String())
}

// nameOf returns a type's name in $defs. Types of other packages get the package's name as a prefix.
func nameOf(t reflect.Type) string {
	at := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]
	if at == "ahp" || at == "schema" || strings.HasPrefix(strings.ToLower(t.Name()), at) {
		return t.Name()
	}
	return strings.ToUpper(at[:1]) + at[1:] + t.Name()
}
