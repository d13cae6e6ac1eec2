package host

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/outbox"
	"tandemux/host/params"
)

// tokenNew makes a token (x-tandemux/tokenNew).
func tokenNew(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.TokenNewParams
	if err := params.Decode(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	process := ""
	if p.Terminal != "" {
		tx := h.core.Lock()
		t, ok := termAt(tx, p.Terminal)
		if ok {
			process = t.proc
		}
		tx.Unlock()
		if !ok {
			return nil, ahp.NotFound("make a token: there is no terminal %q to bind it to", params.Clip(p.Terminal))
		}
	}
	r, err := h.tokens.Create(p, process)
	if err != nil {
		return nil, err
	}
	args := []any{"token", r.ID, "name", p.Name, "scopes", strings.Join(r.Scopes, " ")}
	if p.Expires != 0 {
		args = append(args, "expires", time.UnixMilli(p.Expires).UTC().Format(time.RFC3339))
	}
	h.audit.Did(c.Who(), "token new", p.Terminal, args...)
	return r, nil
}

// tokenList lists the tokens without their secrets (x-tandemux/tokenList).
func tokenList(_ context.Context, c *conn, _ json.RawMessage) (any, error) {
	list, err := c.h.tokens.List()
	if err != nil {
		return nil, err
	}
	return ahp.TokenListResult{Items: list}, nil
}

// tokenRevoke ends a token at once, its open connections included
// (x-tandemux/tokenRevoke).
func tokenRevoke(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.TokenRevokeParams
	if err := params.Decode(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	err := h.tokens.Revoke(p.ID)
	if h.tokens.Valid(p.ID) || ahp.CodeOf(err) == ahp.CodeNotFound {
		return nil, err
	}
	// Also when the file could not be written: in this process it is revoked.
	h.closeInvalid("the token was revoked", c)
	h.audit.Did(c.Who(), "token revoke", "", "token", p.ID)
	return nil, err
}

// closeInvalid closes the connections whose tokens are not valid any more.
// current, which is answering a request, is closed after its reply; nil for
// none.
func (h *Host) closeInvalid(reason string, current *conn) {
	h.front.Revoked()
	tx := h.core.Lock()
	defer tx.Unlock()
	for c := range h.conns {
		switch {
		case c.Principal.Token == "" || h.tokens.Valid(c.Principal.Token):
		case c == current:
			c.rpc.AfterReply(func() { c.Out.Close(outbox.ClosePolicy, reason) })
		default:
			h.audit.Note("disconnect", "principal", c.Principal.ID, "reason", reason)
			c.Out.Drop(outbox.ClosePolicy, reason)
		}
	}
}
