package jsonform

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"tandemux/ahp"
)

// Schema is the schema of what Write writes of a type. It refuses members that it does
// not have, and may refer to Definitions.
func Schema(t reflect.Type) *jsonschema.Schema {
	s := found(t)
	reform(s)
	return s
}

// Definitions are the schemas of the protocol's types that schemas may refer to, in the
// form.
func Definitions() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	var add func(s *jsonschema.Schema)
	add = func(s *jsonschema.Schema) {
		if name := strings.TrimPrefix(s.Ref, ref); name != "" && all[name] == nil {
			all[name] = definitions()[name].CloneSchemas()
			add(all[name])
		}
		each(s, add)
	}
	add(found(reflect.TypeFor[ahp.Envelope]()))
	add(found(reflect.TypeFor[ahp.Snapshot]()))
	for _, s := range all {
		reform(s)
	}
	return all
}

// Open makes a schema, and those in it, allow members that it does not have.
func Open(s *jsonschema.Schema) {
	each(s, Open)
	if a := s.AdditionalProperties; a != nil && a.Not != nil {
		s.AdditionalProperties = nil
	}
}

// each calls f for the schemas that one is made of.
func each(s *jsonschema.Schema, f func(*jsonschema.Schema)) {
	parts := slices.Concat(s.AllOf, s.AnyOf, []*jsonschema.Schema{s.If, s.Then, s.Items, s.AdditionalProperties}, slices.Collect(maps.Values(s.Properties)))
	for _, part := range parts {
		if part != nil {
			f(part)
		}
	}
}

// reform makes the schema of what is written of that of what is found.
func reform(s *jsonschema.Schema) {
	each(s, reform)
	if is(s, "array") {
		s.Type, s.Types = "array", nil
	}
	if s.Format == "date-time" {
		s.Pattern = pattern
	}
	names := map[string]string{}
	members := map[string]*jsonschema.Schema{}
	for name, p := range s.Properties {
		if instants[plain(name)] != "" && is(p, "integer") {
			*p = jsonschema.Schema{Type: "string", Format: "date-time", Pattern: pattern, Description: p.Description}
		}
		if len(p.Types) == 2 && !slices.Contains(s.Required, name) { // is left out in place of null
			p.Type, p.Types = p.Types[1], nil
		}
		names[name] = member(name, flat([]*jsonschema.Schema{p}, nil))
		members[names[name]] = p
	}
	if s.Properties != nil {
		s.Properties = members
	}
	for _, list := range [][]string{s.Required, s.PropertyOrder} {
		for i, name := range list {
			list[i] = cmp.Or(names[name], plain(name))
		}
	}
}
