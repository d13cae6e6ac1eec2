package api

import "net/http"

// aboutTag marks the routes that need no store.
const aboutTag = "about"

var aboutRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/openapi.json", Name: "describe", Tag: aboutTag,
		Summary: "Describe this interface, as OpenAPI 3.1.", Result: map[string]any{}, Handle: describe,
	},
	{
		Method: http.MethodGet, Path: "/whoami", Name: "whoami", Tag: aboutTag,
		Summary: "Say who the caller is.", Result: Identity{}, Handle: whoami,
	},
}

// Identity is who a caller is.
type Identity struct {
	ID       string   `json:"id" doc:"operator, token:ID, key:ID or task:ID"`
	Operator bool     `json:"operator" doc:"Whether the caller may do everything"`
	Scopes   []string `json:"scopes" doc:"The scopes of a host's token"`
}

func whoami(r *Request) (any, error) {
	i := Identity{ID: r.Who.ID, Operator: r.Who.Operator, Scopes: r.Who.Scopes}
	if i.Scopes == nil {
		i.Scopes = []string{}
	}
	return i, nil
}
