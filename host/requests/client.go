package requests

import (
	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
)

// bindClient gives the record of a clientId, made on first use, if it is the
// principal's.
func (s *Server) bindClient(tx core.Tx, id string, p *auth.Principal) (*core.Client, error) {
	if s.belongsToOther(tx, id, p) {
		return nil, ahp.PermissionDenied("the clientId %q belongs to somebody else: choose another", id)
	}
	if cl := tx.Client(id); cl != nil && cl.Owner == p.ID {
		return cl, nil
	}
	if err := s.ClientIDs.Bind(id, p.ID); err != nil {
		s.Log.Warn("note whose client it is", "client", id, "err", err)
	}
	return tx.AddClient(id, p.ID), nil
}

// belongsToOther reports whether a clientId is bound to another principal, now
// or in an earlier life of the host. That of a token that is no more is free:
// its client may have got a new one.
func (s *Server) belongsToOther(tx core.Tx, id string, p *auth.Principal) bool {
	owner := s.ClientIDs.Owner(id)
	if cl := tx.Client(id); cl != nil {
		owner = cl.Owner
		if cl.Here() && owner != p.ID {
			return true
		}
	}
	if token, ok := auth.TokenOf(owner); ok && !s.Tokens.Valid(token) {
		return false
	}
	return owner != "" && owner != p.ID
}
