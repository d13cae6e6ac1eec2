package host

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
)

// reconnect resumes a client's subscriptions on a new connection (AHP, Lifecycle).
// An error leaves the connection as it was: the client goes on with initialize.
func reconnect(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	var p struct {
		ClientID          string            `json:"clientId"`
		LastSeenServerSeq *int64            `json:"lastSeenServerSeq"`
		Subscriptions     []json.RawMessage `json:"subscriptions"`
		Meta              json.RawMessage   `json:"_meta"`
	}
	if err := decode(raw, &p); err != nil {
		return nil, err
	}
	if err := auth.CheckClientID(p.ClientID); err != nil {
		return nil, err
	}
	if p.LastSeenServerSeq == nil || *p.LastSeenServerSeq < 0 {
		return nil, ahp.InvalidParams("lastSeenServerSeq: it must be the number of the last action seen, 0 or more")
	}
	if p.Subscriptions == nil {
		return nil, ahp.InvalidParams("subscriptions: missing: list the channels to resume")
	}
	if len(p.Subscriptions) > c.h.limits.Subscriptions {
		return nil, ahp.InvalidParams("subscriptions: more than %d", c.h.limits.Subscriptions)
	}
	uris, err := resumed(p.Subscriptions)
	if err != nil {
		return nil, err
	}
	var meta ahp.ReconnectMeta
	json.Unmarshal(p.Meta, &meta) //nolint:errcheck // somebody else's: it says nothing of this
	c.resumed, c.continues = true, meta.Continues
	r, err := c.resume(p.ClientID, *p.LastSeenServerSeq, uris)
	if err != nil {
		return nil, err
	}
	if r.kind == ahp.ReconnectReplay {
		return ahp.Encode(c.profile, ahp.ReconnectResult{Type: r.kind, Actions: r.actions, Missing: r.missing})
	}
	list := make([]ahp.Snapshot, 0, len(r.taken))
	size := 0
	for _, s := range r.taken {
		e, err := s.encode(c.profile)
		if err != nil {
			return nil, c.undo(err)
		}
		if size += len(e.State); size > c.h.limits.ReplyBytes {
			// A channel left out here would count as gone.
			return nil, c.undo(ahp.Conflict("reconnect: more than %d bytes of state: initialize and subscribe one by one", c.h.limits.ReplyBytes))
		}
		list = append(list, e)
	}
	return ahp.Encode(c.profile, ahp.ReconnectResult{Type: r.kind, Snapshots: list})
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
		if uri = canonical(uri); !seen[uri] {
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
func (c *conn) resume(id string, seq int64, uris []ahp.URI) (resumption, error) {
	h := c.h
	tx := h.lock()
	defer tx.unlock()
	cl, ok := h.clients[id]
	if !ok {
		return resumption{}, ahp.NotFound("reconnect: no client %q is known here: initialize", id)
	}
	if g := cl.guest; g != nil && (c.principal.Human || c.principal.ID == g.ID) {
		c.principal = g // an agent stays one
	}
	if cl.principal != c.principal.ID { // also when a dead token's: it may initialize
		return resumption{}, ahp.PermissionDenied("reconnect: the clientId %q belongs to somebody else", id)
	}
	c.begin(tx, cl)
	defer c.h.sessions.clientBack(tx, c, true)
	c.out.Hold()
	r := resumption{kind: ahp.ReconnectReplay, missing: []ahp.URI{}}
	var channels []*channel
	for _, uri := range uris {
		ch, err := c.h.visible(tx, c.principal, uri)
		if err != nil {
			r.missing = append(r.missing, uri)
			continue
		}
		channels = append(channels, ch)
	}
	for _, ch := range channels {
		ch.body.settle(tx)
	}
	if actions, ok := h.missed(tx, channels, seq); ok {
		for i := range actions {
			actions[i] = h.shownAction(tx, c.principal, actions[i])
		}
		r.actions = actions
		for _, ch := range channels {
			ch.subscribe(tx, c)
			c.watches(tx, ch.uri)
		}
		for _, ch := range channels {
			c.h.recount(tx, ch)
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

// missed merges the channels' logs after seq in ascending order; ok is false
// when one has a hole, or seq lies in the future, or it is too much for one
// reply.
func (h *Host) missed(tx Tx, channels []*channel, seq int64) (all []ahp.Envelope, ok bool) {
	if seq > h.seq.last {
		return nil, false
	}
	var parts [][]ahp.Envelope
	size, n := 0, 0
	for _, ch := range channels {
		es, ok := ch.log.since(seq)
		if !ok {
			return nil, false
		}
		for _, e := range es {
			size += weight(e.Action)
		}
		n += len(es)
		parts = append(parts, es)
	}
	if size > h.limits.ReplyBytes/4 { // escaped, text may grow sixfold
		return nil, false
	}
	all = make([]ahp.Envelope, 0, n)
	for len(all) < n {
		next := -1
		for i, p := range parts {
			if len(p) > 0 && (next < 0 || p[0].ServerSeq < parts[next][0].ServerSeq) {
				next = i
			}
		}
		all = append(all, parts[next][0])
		parts[next] = parts[next][1:]
	}
	return all, true
}

// undo makes the connection fresh again, so that initialize works on it.
func (c *conn) undo(err error) error {
	tx := c.h.lock()
	defer tx.unlock()
	for _, ch := range c.subs {
		ch.unsubscribe(tx, c)
	}
	delete(c.client.conns, c)
	c.client, c.window = nil, nil
	c.out.Forget()
	return err
}
