package host

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
)

// tokenNew makes a token (x-tandemux/tokenNew).
func tokenNew(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p ahp.TokenNewParams
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	if !auth.IsTokenName(p.Name) {
		return nil, ahp.InvalidParams("make a token: name: use 1 to %d bytes of printable characters", auth.MaxTokenName)
	}
	if p.Expires != 0 && p.Expires <= h.now().UnixMilli() {
		return nil, ahp.InvalidParams("make a token: expires: %s is over", time.UnixMilli(p.Expires).UTC().Format(time.RFC3339))
	}
	t := auth.Token{TokenInfo: ahp.TokenInfo{Name: p.Name, Terminal: p.Terminal, Expires: p.Expires}}
	if p.Terminal != "" {
		tx := h.lock()
		term, ok := h.termAt(tx, p.Terminal)
		if ok {
			t.Process = term.proc
		}
		tx.unlock()
		if !ok {
			return nil, ahp.NotFound("make a token: there is no terminal %q to bind it to", clip(p.Terminal))
		}
	}
	var err error
	if t.Scopes, err = auth.CheckScopes(p.Scopes, p.Terminal != ""); err != nil {
		return nil, ahp.InvalidParams("make a token: %v", err)
	}
	r, err := h.tokens.Create(t)
	if err != nil {
		return nil, err
	}
	args := []any{"token", r.ID, "name", p.Name, "scopes", strings.Join(t.Scopes, " ")}
	if p.Expires != 0 {
		args = append(args, "expires", time.UnixMilli(p.Expires).UTC().Format(time.RFC3339))
	}
	h.audit.Did(c.by(), "token new", p.Terminal, args...)
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
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	h := c.h
	err := h.tokens.Revoke(p.ID)
	if h.tokens.Valid(p.ID) || ahp.CodeOf(err) == ahp.CodeNotFound {
		return nil, err
	}
	// Also when the file could not be written: in this process it is revoked.
	h.closeInvalid("the token was revoked", c)
	h.audit.Did(c.by(), "token revoke", "", "token", p.ID)
	return nil, err
}

// closeInvalid closes the connections whose tokens are not valid any more.
// current, which is answering a request, is closed after its reply; nil for
// none.
func (h *Host) closeInvalid(reason string, current *conn) {
	tx := h.lock()
	defer tx.unlock()
	for p := range h.passing {
		if p.who.Token != "" && !h.tokens.Valid(p.who.Token) {
			p.end()
		}
	}
	for c := range h.conns {
		switch {
		case c.principal.Token == "" || h.tokens.Valid(c.principal.Token):
		case c == current:
			c.rpc.AfterReply(func() {
				tx := h.lock()
				defer tx.unlock()
				c.closing = true
				c.rpc.Close(closePolicy, reason) //nolint:errcheck // it ends either way
			})
		default:
			h.audit.Note("disconnect", "principal", c.principal.ID, "reason", reason)
			c.drop(tx, closePolicy, reason)
		}
	}
}
