package api

import (
	"cmp"
	"encoding"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"tandemux/host/task/access"
)

// object is a JSON object in the description.
type object = map[string]any

var aboutRoutes = []Route{
	on("GET /openapi.json", "describe", "Describe this interface, as OpenAPI 3.1.", func(*Request, none) (object, error) {
		return description(), nil
	}).local(),
	on("GET /whoami", "whoami", "Say who the caller is.", func(r *Request, _ none) (Identity, error) {
		return Identity{r.Who.String(), string(r.Who.Kind), append([]access.Scope{}, r.Who.Scopes...)}, nil
	}).local(),
}

// local marks a route that needs no service.
func (route Route) local() Route {
	route.storeless = true
	return route
}

// Identity says who the caller is.
type Identity struct {
	ID     string         `json:"id" doc:"operator, key:ID or task:ID"`
	Kind   string         `json:"kind" enum:"operator,key,task"`
	Scopes []access.Scope `json:"scopes" doc:"What a key may do; the operator may do everything"`
}

var headerDocs = map[string]string{
	keyHeader:       "The same request under the same key is done once, and answered again with what it was answered; another request is a conflict",
	"Last-Event-ID": "The id of the last event that was received",
}

// description returns the OpenAPI description of Table. It never changes.
var description = sync.OnceValue(func() object {
	paths := object{}
	for i := range Table {
		at := Prefix + strings.ReplaceAll(Table[i].Path, "...}", "}")
		item, _ := paths[at].(object)
		if item == nil {
			item = object{}
			paths[at] = item
		}
		item[strings.ToLower(Table[i].Method)] = Table[i].describe()
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
			"responses":       object{"Error": object{"description": "It was not done", "content": content("", reflect.TypeFor[Error]())}},
			"securitySchemes": object{"bearer": object{"type": "http", "scheme": "bearer", "description": "A token of the host's or an API key; none is needed on the unix socket."}},
		},
	}
})

func (route *Route) describe() object {
	params := []object{}
	for segment := range strings.SplitSeq(route.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			params = append(params, object{"name": strings.TrimRight(name, ".}"), "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	for _, name := range route.headers {
		params = append(params, object{"name": name, "in": "header", "description": headerDocs[name], "schema": object{"type": "string"}})
	}
	success := object{"description": http.StatusText(route.status)}
	if route.status != http.StatusNoContent {
		success["content"] = content(route.gives, route.Out)
	}
	tag, _, _ := strings.Cut(route.Path[1:], "/")
	op := object{
		"operationId": route.Name, "tags": []string{tag}, "summary": route.Summary, "description": route.Detail,
		"responses": object{strconv.Itoa(route.status): success, "default": object{"$ref": "#/components/responses/Error"}},
	}
	if route.Asks() {
		in := schemaOf(route.In)
		for _, name := range in.PropertyOrder {
			p := in.Properties[name]
			params = append(params, object{"name": name, "in": "query", "required": slices.Contains(in.Required, name), "description": p.Description, "schema": p})
		}
	}
	if route.takes != "" || !route.Asks() && route.In.NumField() > 0 {
		op["requestBody"] = object{"required": true, "content": content(route.takes, route.In)}
	}
	op["parameters"] = params
	return op
}

// content describes a body: bytes of a media type, or JSON.
func content(kind string, t reflect.Type) object {
	if kind != "" {
		return object{kind: object{"schema": object{"type": "string", "format": "binary"}}}
	}
	return object{"application/json": object{"schema": schemaOf(t)}}
}

// schemaOf returns the schema of a type, with what its members' tags doc and enum say.
func schemaOf(t reflect.Type) *jsonschema.Schema {
	known := map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {}}
	for _, text := range []reflect.Type{reflect.TypeFor[When](), reflect.TypeFor[level]()} {
		known[text] = &jsonschema.Schema{Type: "string"}
	}
	s, err := jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: known})
	if err != nil {
		panic("api: " + err.Error()) // the types in Table are fixed and tested
	}
	annotate(s, t)
	return s
}

func annotate(s *jsonschema.Schema, t reflect.Type) {
	for s != nil && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		if t.Kind() != reflect.Pointer {
			s = cmp.Or(s.Items, s.AdditionalProperties)
		}
		t = t.Elem()
	}
	if s == nil || t.Kind() != reflect.Struct || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		member := s.Properties[name]
		if member == nil {
			continue
		}
		member.Description = f.Tag.Get("doc")
		if enum := f.Tag.Get("enum"); enum != "" {
			for word := range strings.SplitSeq(enum, ",") {
				member.Enum = append(member.Enum, word)
			}
		}
		annotate(member, f.Type)
	}
}
