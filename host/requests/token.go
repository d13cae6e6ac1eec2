package requests

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/params"
	"tandemux/internal/jsonrpc"
)

// tokenNew handles x-tandemux/tokenNew: it makes a token.
func (s *Server) tokenNew(_ context.Context, c *Conn, p ahp.TokenNewParams) (any, error) {
	process := ""
	if p.Terminal != "" {
		var ok bool
		s.Core.Locked(func(tx core.Tx) { process, ok = s.Channels.Process(tx, p.Terminal) })
		if !ok {
			return nil, ahp.NotFound("make a token: there is no terminal %q to bind it to", params.Clip(p.Terminal))
		}
	}
	r, err := s.Tokens.Create(p, process)
	if err != nil {
		return nil, err
	}
	args := []any{"token", r.ID, "name", p.Name, "scopes", strings.Join(r.Scopes, " ")}
	if p.Expires != 0 {
		args = append(args, "expires", time.UnixMilli(p.Expires).UTC().Format(time.RFC3339))
	}
	s.Audit.Did(c.Who(), "token new", p.Terminal, args...)
	s.TokensChanged()
	return r, nil
}

// tokenList handles x-tandemux/tokenList: it lists the tokens without their secrets.
func (s *Server) tokenList(_ context.Context, c *Conn, _ json.RawMessage) (any, error) {
	list, err := s.Tokens.List()
	if err != nil {
		return nil, err
	}
	return ahp.TokenListResult{Items: list}, nil
}

// tokenRevoke handles x-tandemux/tokenRevoke: it revokes tokens at once, and closes their connections.
func (s *Server) tokenRevoke(_ context.Context, c *Conn, p ahp.TokenRevokeParams) (any, error) {
	ended := []string{p.ID}
	var err error
	if p.Shares != "" {
		ended, err = s.Tokens.EndShares(params.Canonical(p.Shares))
	} else if err = s.Tokens.Revoke(p.ID); s.Tokens.Valid(p.ID) || ahp.CodeOf(err) == ahp.CodeNotFound {
		return nil, err
	}
	if len(ended) == 0 {
		return nil, cmp.Or(err, error(ahp.NotFound("revoke tokens: nobody has a share of the terminal %q", params.Clip(p.Shares))))
	}
	// They are revoked in this process even if the file could not be written.
	s.CloseInvalid("the token was revoked", c)
	for _, id := range ended {
		s.Audit.Did(c.Who(), "token revoke", p.Shares, "token", id)
	}
	return nil, err
}

// CloseInvalid closes the connections whose tokens are no longer valid. current, if not nil, is
// answering a request and is closed after its reply.
func (s *Server) CloseInvalid(reason string, current *Conn) {
	s.TokensChanged()
	tx := s.Core.Lock()
	defer tx.Unlock()
	for c := range s.conns {
		switch {
		case c.Principal.Token == "" || s.Tokens.Valid(c.Principal.Token):
		case c == current:
			c.Out.RPC.AfterReply(func() { c.Out.Close(jsonrpc.ClosePolicy, reason) })
		default:
			s.Audit.Note("disconnect", "principal", c.Principal.ID, "reason", reason)
			c.Out.Drop(jsonrpc.ClosePolicy, reason)
		}
	}
}
