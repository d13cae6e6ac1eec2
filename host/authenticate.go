package host

import (
	"context"
	"strings"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/words"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/credential"
	"tandemux/host/params"
	"tandemux/host/requests"
)

type authenticateParams struct {
	Resource  string   `json:"resource"`
	Token     string   `json:"token"`
	ExpiresIn *float64 `json:"expiresIn"` // seconds
}

// authenticate takes a token for a protected resource of an agent (AHP, Authentication),
// or has an agent log in by its own method: the resource is then
// "x-tandemux-agent:/PROVIDER/METHOD".
func (h *Host) authenticate(ctx context.Context, c *requests.Conn, p authenticateParams) (any, error) {
	rest, ours := strings.CutPrefix(p.Resource, "x-tandemux-agent:/")
	id, method, ok := strings.Cut(rest, "/")
	tx := h.core.Lock()
	provider, err := h.sessions.Provider(tx, id)
	wanted := h.sessions.Protected(tx, p.Resource)
	tx.Unlock()
	switch {
	case len(wanted) > 0:
		return struct{}{}, h.takeToken(c, wanted[0], p)
	case !ours || !ok || id == "" || err != nil:
		return nil, ahp.InvalidParams("authenticate: this host asks for no token for the resource %q", params.Clip(p.Resource))
	}
	return c.Aside(ctx, func(ctx context.Context) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, h.cfg.Limits.AgentStart)
		defer cancel()
		if err := agent.Guarded(func() error { return provider.Authenticate(ctx, method) }); err != nil {
			return nil, ahp.Errorf(ahp.CodeInternal, "authenticate: %s", words.Error(err).Message)
		}
		return struct{}{}, nil
	})
}

// takeToken keeps the token of p. An empty one revokes the token that was kept.
func (h *Host) takeToken(c *requests.Conn, r agent.Resource, p authenticateParams) error {
	switch why := credential.Unusable(p.Token, p.ExpiresIn); {
	case p.Token == "":
		if h.sessions.Credentials.Revoke(c.Principal.ID, r) {
			h.core.Do(func(tx core.Tx) { h.sessions.Forsake(tx, c.Principal.ID, r.URI) })
		}
	case why != "":
		return &ahp.Error{
			Code: ahp.CodeAuthRequired, Message: "authenticate: the token is not usable: " + why,
			Data: map[string]any{"resources": []any{r}},
		}
	case !h.sessions.Credentials.Put(c.Principal.ID, r, p.Token, p.ExpiresIn):
		return ahp.Conflict("authenticate: the host keeps no more tokens")
	}
	h.requests.Audit.Did(c.Who(), "authenticate", params.Clip(r.URI), "revoked", map[bool]string{true: "yes", false: "no"}[p.Token == ""])
	return nil
}

// stillValid returns a function that reports whether a principal's token is still valid. A
// principal without a token always is.
func stillValid(tokens *auth.Tokens) func(principal string) bool {
	return func(principal string) bool {
		id, remote := strings.CutPrefix(principal, "token:")
		return !remote || tokens.Valid(id)
	}
}

// tokensChanged ends what tokens that are none any more have asked for, and lists anew who
// a terminal is shared with.
func (h *Host) tokensChanged() {
	h.front.Revoked()
	h.core.Do(func(tx core.Tx) {
		if !tx.Closing() {
			h.terminals.Changed(tx)
		}
	})
}

// tokenExpired tells the principal's clients that its token for r has expired (AHP,
// Authentication).
func (h *Host) tokenExpired(principal string, r agent.Resource) {
	h.core.Do(func(tx core.Tx) {
		if tx.Closing() {
			return
		}
		for _, l := range tx.Channel(ahp.RootURI).Links() {
			if l.Principal.ID != principal || l.Principal.Agent != "" || l.Principal.Bounded() {
				continue
			}
			note := map[string]any{"channel": ahp.RootURI, "resource": r, "reason": "expired"}
			if l.Profile == ahp.V05 {
				note["resource"] = r.URI
			}
			if text, err := ahp.Encode(l.Profile, note); err == nil {
				tx.Send(l, core.Notification(ahp.NoteAuthRequired, text))
			}
		}
	})
}
