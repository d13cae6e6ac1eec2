package requests

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
)

type reconnectParams struct {
	ClientID          string            `json:"clientId"`
	LastSeenServerSeq *int64            `json:"lastSeenServerSeq"`
	Subscriptions     []json.RawMessage `json:"subscriptions"`
	Meta              json.RawMessage   `json:"_meta"`
}

// reconnect resumes a client's subscriptions on a new connection (AHP, Lifecycle).
// An error leaves the connection as it was: the client goes on with initialize.
func (s *Server) reconnect(_ context.Context, c *Conn, p reconnectParams) (any, error) {
	if err := auth.CheckClientID(p.ClientID); err != nil {
		return nil, err
	}
	if p.LastSeenServerSeq == nil || *p.LastSeenServerSeq < 0 {
		return nil, ahp.InvalidParams("lastSeenServerSeq: it must be the number of the last action seen, 0 or more")
	}
	if p.Subscriptions == nil {
		return nil, ahp.InvalidParams("subscriptions: missing: list the channels to resume")
	}
	if len(p.Subscriptions) > s.Limits.Subscriptions {
		return nil, ahp.InvalidParams("subscriptions: more than %d", s.Limits.Subscriptions)
	}
	uris, err := resumed(p.Subscriptions)
	if err != nil {
		return nil, err
	}
	var meta ahp.ReconnectMeta
	json.Unmarshal(p.Meta, &meta) //nolint:errcheck // somebody else's: it says nothing of this
	c.Resumed, c.Continues = true, meta.Continues
	r, err := c.resume(p.ClientID, *p.LastSeenServerSeq, uris)
	if err != nil {
		return nil, err
	}
	if r.kind == ahp.ReconnectReplay {
		return ahp.Encode(c.Profile, ahp.ReconnectResult{Type: r.kind, Actions: r.actions, Missing: r.missing})
	}
	list := make([]ahp.Snapshot, 0, len(r.taken))
	size := 0
	for _, t := range r.taken {
		e, err := t.encode(c.Profile)
		if err != nil {
			return nil, c.undo(err)
		}
		if size += len(e.State); size > s.Limits.ReplyBytes {
			// A channel left out here would count as gone.
			return nil, c.undo(ahp.Conflict("reconnect: more than %d bytes of state: initialize and subscribe one by one", s.Limits.ReplyBytes))
		}
		list = append(list, e)
	}
	return ahp.Encode(c.Profile, ahp.ReconnectResult{Type: r.kind, Snapshots: list})
}

// resumed reads the list of subscriptions: URIs, or objects that hold one
// (AHP, Lifecycle).
func resumed(raws []json.RawMessage) ([]ahp.URI, error) {
	var uris []ahp.URI
	seen := map[ahp.URI]bool{}
	for _, raw := range raws {
		var uri ahp.URI
		if json.Unmarshal(raw, &uri) != nil {
			var cursor ahp.SubscribeParams
			if ahp.Unmarshal(raw, &cursor) != nil || cursor.Channel == "" {
				return nil, ahp.InvalidParams("subscriptions: want a list of URIs")
			}
			uri = cursor.Channel
		}
		if uri = params.Canonical(uri); !seen[uri] {
			seen[uri] = true
			uris = append(uris, uri)
		}
	}
	return uris, nil
}

// resumption is what a reconnect gives.
type resumption struct {
	kind    string
	actions []ahp.Envelope
	missing []ahp.URI
	taken   []snapshot
}

// resume subscribes to what is still there and collects what was missed: the
// actions when the log of every channel reaches back to seq, states otherwise.
func (c *Conn) resume(id string, seq int64, uris []ahp.URI) (resumption, error) {
	s := c.s
	tx := s.Core.Lock()
	defer tx.Unlock()
	cl := tx.Client(id)
	if cl == nil {
		return resumption{}, ahp.NotFound("reconnect: no client %q is known here: initialize", id)
	}
	if g := cl.Guest; g != nil && (c.Principal.Human || c.Principal.ID == g.ID) {
		c.Principal = g // an agent stays one, and drives what it announced
	}
	if cl.Owner != c.Principal.ID { // also when a dead token's: it may initialize
		return resumption{}, ahp.PermissionDenied("reconnect: the clientId %q belongs to somebody else", id)
	}
	for l := range cl.Links() {
		l.Left = true
	}
	if err := s.mayAnnounce(tx, "reconnect", c.Principal); err != nil {
		return resumption{}, err
	}
	c.begin(tx, cl)
	defer s.Channels.Opened(tx, c.Link, true)
	c.Out.Hold()
	r := resumption{kind: ahp.ReconnectReplay, missing: []ahp.URI{}}
	var channels []*core.Channel
	for _, uri := range uris {
		ch, err := s.visible(tx, c.Principal, uri)
		if err != nil {
			r.missing = append(r.missing, uri)
			continue
		}
		channels = append(channels, ch)
	}
	for _, ch := range channels {
		ch.Body.Settle(tx)
	}
	// Escaped, text may grow sixfold.
	if actions, ok := tx.Missed(channels, seq, s.Limits.ReplyBytes/4); ok {
		for i := range actions {
			if actions[i].Action = tx.Shown(c.Principal, actions[i].Action); actions[i].Action == nil {
				actions[i].Action = ahp.HostWarned{} // no number is left out
			}
		}
		r.actions = actions
		for _, ch := range channels {
			tx.Subscribe(ch, c.Link)
		}
		for _, ch := range channels {
			s.Channels.Watched(tx, c.Link, ch)
		}
		return r, nil
	}
	r.kind = ahp.ReconnectSnapshot
	for _, ch := range channels {
		r.taken = append(r.taken, c.snapshot(tx, ch))
	}
	c.fit(tx, r.taken)
	return r, nil
}

// undo makes the connection fresh again, so that initialize works on it.
func (c *Conn) undo(err error) error {
	tx := c.s.Core.Lock()
	defer tx.Unlock()
	tx.Undo(c.Link)
	return err
}
