package api

import (
	"net/http"

	"tandemux/host/task/access"
)

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
	ID     string         `json:"id" doc:"operator, key:ID or task:ID"`
	Kind   string         `json:"kind" enum:"operator,key,task"`
	Scopes []access.Scope `json:"scopes" doc:"What a key may do; the operator may do everything"`
}

func whoami(r *Request) (any, error) {
	return Identity{ID: r.Who.String(), Kind: string(r.Who.Kind), Scopes: append([]access.Scope{}, r.Who.Scopes...)}, nil
}
