package host

import (
	"context"
	"encoding/json"
	"strings"
	"unicode"

	"cotty/ahp"
)

func tokenNew(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.TokenNewParams
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	if p.Name == "" || len(p.Name) > maxTokenName || strings.ContainsFunc(p.Name, unicode.IsControl) {
		return nil, ahp.InvalidParams("make a token: name: use 1 to %d bytes without control characters", maxTokenName)
	}
	scopes, err := checkScopes(p.Scopes)
	if err != nil {
		return nil, ahp.InvalidParams("make a token: %v", err)
	}
	r, err := c.h.tokens.create(p.Name, scopes)
	if err != nil {
		return nil, err
	}
	c.h.audit.did(c, "token new", "", "token", r.ID, "scopes", strings.Join(scopes, " "))
	return r, nil
}

func tokenList(_ context.Context, c *conn, _ json.RawMessage) (any, error) {
	return ahp.TokenListResult{Items: c.h.tokens.infos()}, nil
}

// tokenRevoke ends a token at once, its open connections included.
func tokenRevoke(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.TokenRevokeParams
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	err := h.tokens.revoke(p.ID)
	if ahp.CodeOf(err) == ahp.CodeNotFound {
		return nil, err
	}
	// Also when the file could not be written: in this process it is revoked.
	h.mu.Lock()
	for other := range h.conns {
		if other.principal.token != p.ID {
			continue
		}
		if other == c {
			c.rpc.AfterReply(func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				c.closing = true
				c.rpc.Close(closePolicy, "the token was revoked") //nolint:errcheck // it ends either way
			})
			continue
		}
		other.drop(closePolicy, "the token was revoked")
	}
	h.mu.Unlock()
	h.audit.did(c, "token revoke", "", "token", p.ID)
	return nil, err
}
