package api

import (
	"encoding"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// object is a JSON object of the description.
type object = map[string]any

// description is made once: the table does not change.
var description = sync.OnceValue(func() object { return describeTable(Table) })

func describe(*Request) (any, error) { return description(), nil }

// commonErrors are those that every operation may have.
var commonErrors = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
	http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusInternalServerError,
}

// describeTable is the OpenAPI description of a table.
func describeTable(table []Route) object {
	s := schemas{}
	s.of(reflect.TypeFor[Error]())
	paths := object{}
	for i := range table {
		r := &table[i]
		at := Prefix + strings.ReplaceAll(r.Path, "...}", "}")
		item, ok := paths[at].(object)
		if !ok {
			item = object{}
			paths[at] = item
		}
		item[strings.ToLower(r.Method)] = s.operation(r)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "tandemux", "version": "1",
			"description": "Tasks of a tandemux host: agents at work in workspaces of their own.",
		},
		"paths":    paths,
		"security": []any{object{"bearer": []string{}}},
		"components": object{
			"schemas":         map[string]object(s),
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer", "description": "A token of the host's or an API key; none is needed on the unix socket."}},
		},
	}
}

// operation describes a route.
func (s schemas) operation(r *Route) object {
	op := object{"operationId": r.Name, "tags": []string{r.Tag}, "summary": r.Summary}
	if r.Detail != "" {
		op["description"] = r.Detail
	}
	if params := s.params(r); len(params) > 0 {
		op["parameters"] = params
	}
	if r.Body != nil {
		op["requestBody"] = object{"required": true, "content": s.content(r.Body)}
	}
	answers := object{}
	for _, status := range append([]int{r.status()}, r.More...) {
		a := object{"description": http.StatusText(status)}
		if r.Result != nil && status != http.StatusNoContent {
			a["content"] = s.content(r.Result)
		}
		answers[strconv.Itoa(status)] = a
	}
	for _, status := range append(slices.Clone(commonErrors), r.Errors...) {
		answers[strconv.Itoa(status)] = object{
			"description": http.StatusText(status),
			"content":     object{"application/json": object{"schema": object{"$ref": "#/components/schemas/Error"}}},
		}
	}
	op["responses"] = answers
	return op
}

func (s schemas) params(r *Route) []object {
	var all []object
	for _, segment := range strings.Split(r.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			all = append(all, object{"name": strings.TrimRight(name, ".}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for _, p := range r.Params {
		schema := object{"type": "string"}
		if p.Kind != "" && p.Kind != timeKind {
			schema["type"] = p.Kind
		}
		if len(p.Enum) > 0 {
			schema["enum"] = p.Enum
		}
		one := object{"name": p.Name, "in": "query", "schema": schema}
		if p.Header {
			one["in"] = "header"
		}
		if p.Required {
			one["required"] = true
		}
		if p.Doc != "" {
			one["description"] = p.Doc
		}
		all = append(all, one)
	}
	return all
}

func (s schemas) content(v any) object {
	if raw, ok := v.(Raw); ok {
		return object{raw.Type: object{"schema": object{"type": "string", "format": "binary"}}}
	}
	return object{"application/json": object{"schema": s.of(reflect.TypeOf(v))}}
}

// schemas are the named types of the description, by name.
type schemas map[string]object

// of is the schema of a type, or a reference to it.
func (s schemas) of(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint32, reflect.Uint64, reflect.Uint8, reflect.Int8:
		return object{"type": "integer"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.Struct:
		return s.named(t)
	}
	return object{}
}

// named is a reference to a struct's schema, which is made when it is new.
func (s schemas) named(t reflect.Type) object {
	name := typeName(t)
	ref := object{"$ref": "#/components/schemas/" + name}
	if _, known := s[name]; known {
		return ref
	}
	s[name] = object{} // for types that hold themselves
	members, required := object{}, []string{}
	s.members(t, members, &required)
	schema := object{"type": "object", "properties": members}
	if len(required) > 0 {
		schema["required"] = required
	}
	s[name] = schema
	return ref
}

func (s schemas) members(t reflect.Type, into object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			s.members(f.Type, into, required)
			continue
		}
		if name == "-" || name == "" || !f.IsExported() {
			continue
		}
		member := s.of(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			member["description"] = doc
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			member["enum"] = strings.Split(enum, ",")
		}
		into[name] = member
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, name)
		}
	}
}

// typeName is a type's name; one with parameters is named after those too.
func typeName(t reflect.Type) string {
	name, of, generic := strings.Cut(t.Name(), "[")
	if !generic {
		return name
	}
	of = strings.TrimSuffix(of, "]")
	return of[strings.LastIndex(of, ".")+1:] + name
}
