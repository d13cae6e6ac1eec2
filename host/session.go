package host

import (
	"context"
	"encoding/json"

	"cotty/ahp"
)

// This host has no agents yet: what clients ask of sessions as a matter of
// course is answered as by a host with none.

func listSessions(_ context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p struct {
		Cursor string `json:"cursor"`
	}
	if err := decodeOptional(raw, &p); err != nil {
		return nil, err
	}
	if p.Cursor != "" {
		return nil, ahp.InvalidParams("list sessions: the cursor %q is not one of this host's", p.Cursor)
	}
	return map[string]any{"items": []any{}}, nil
}

// resolveSessionConfig has no properties of its own; the values are the input's
// and defaults, of which there are none (ahp.md §5).
func resolveSessionConfig(_ context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p struct {
		Config map[string]json.RawMessage `json:"config"`
	}
	if err := decodeOptional(raw, &p); err != nil {
		return nil, err
	}
	if p.Config == nil {
		p.Config = map[string]json.RawMessage{}
	}
	return map[string]any{
		"schema": map[string]any{"type": "object", "properties": map[string]any{}},
		"values": p.Config,
	}, nil
}

func sessionConfigCompletions(context.Context, *conn, json.RawMessage) (any, error) {
	return map[string]any{"items": []any{}}, nil
}

func createSession(context.Context, *conn, json.RawMessage) (any, error) {
	return nil, ahp.Errorf(ahp.CodeProviderNotFound, "create session: this host has no agent provider")
}

func disposeSession(_ context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p ahp.SubscribeParams
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	return nil, ahp.SessionNotFound("dispose session: there is no session %q", p.Channel)
}

// authenticate knows no resource that needs a token (ahp.md §10).
func authenticate(_ context.Context, _ *conn, raw json.RawMessage) (any, error) {
	var p struct {
		Resource string `json:"resource"`
	}
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	return nil, ahp.InvalidParams("authenticate: this host asks for no token for the resource %q", p.Resource)
}
