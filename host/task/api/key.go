package api

import (
	"net/http"
	"time"

	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

const keyTag = "keys"

var keyRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/api_keys", Name: "listKeys", Tag: keyTag, Summary: "List the API keys, revoked ones too, without their secrets.",
		Params: []Param{limitParam, cursorParam}, Result: Page[store.APIKey]{}, Handle: listKeys,
	},
	{
		// Not idempotent by key: what would be kept for the second answer is the secret.
		Method: http.MethodPost, Path: "/api_keys", Name: "createKey", Tag: keyTag, Summary: "Make an API key; its secret is in this answer and nowhere else.",
		Body: NewKey{}, Result: registry.MadeKey{}, Status: http.StatusCreated, Errors: []int{http.StatusConflict}, Handle: decoded(createKey),
	},
	{
		Method: http.MethodGet, Path: "/api_keys/{key}", Name: "getKey", Tag: keyTag, Summary: "Get an API key, by id or name.",
		Result: store.APIKey{}, Handle: getKey,
	},
	{
		Method: http.MethodPatch, Path: "/api_keys/{key}", Name: "setKeyScopes", Tag: keyTag, Summary: "Replace an API key's scopes.",
		Detail: "Streams that were opened with it end.", Body: KeyChange{}, Result: store.APIKey{}, Errors: []int{http.StatusConflict}, Handle: decoded(setKeyScopes),
	},
	{
		Method: http.MethodDelete, Path: "/api_keys/{key}", Name: "revokeKey", Tag: keyTag, Summary: "Revoke an API key, at once.",
		Detail: "It authenticates nobody any more, its scopes are gone, and streams that were opened with it end.", Result: store.APIKey{}, Handle: revokeKey,
	},
}

// NewKey is a key that is wanted.
type NewKey struct {
	Name    string         `json:"name"`
	Scopes  []access.Scope `json:"scopes" doc:"A resource's id may be its name, or * for all"`
	Expires time.Time      `json:"expires_at,omitzero"`
}

// KeyChange is what may be changed of a key.
type KeyChange struct {
	Scopes []access.Scope `json:"scopes"`
}

func listKeys(r *Request) (any, error) {
	return pageOf(r.Tasks.Agents.Keys(r.Context(), r.Who, r.paged()))
}

func createKey(r *Request, in NewKey) (any, error) {
	r.W.Header().Set("Cache-Control", "no-store")
	return r.Tasks.Agents.CreateKey(r.Context(), r.Who, registry.NewKey{Name: in.Name, Scopes: in.Scopes, Expires: in.Expires})
}

func getKey(r *Request) (any, error) {
	return r.Tasks.Agents.Key(r.Context(), r.Who, r.Part("key"))
}

func setKeyScopes(r *Request, in KeyChange) (any, error) {
	return r.Tasks.Agents.SetScopes(r.Context(), r.Who, r.Part("key"), in.Scopes)
}

func revokeKey(r *Request) (any, error) {
	return r.Tasks.Agents.RevokeKey(r.Context(), r.Who, r.Part("key"))
}
