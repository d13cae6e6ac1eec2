package requests

import (
	"context"
	"encoding/json"
	"time"

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

// reconnect resumes a client's subscriptions on a new connection (AHP, Lifecycle). After an error the
// connection is as before, and the client may initialize.
func (s *Server) reconnect(ctx context.Context, c *Conn, p reconnectParams) (any, error) {
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
	json.Unmarshal(p.Meta, &meta) //nolint:errcheck // a _meta of another form has nothing for the host
	var r resumption
	if failed := c.turn(ctx, true, func(tx core.Tx, b *batch) {
		c.Resumed, c.Continues, c.Unquoted = true, meta.Continues, meta.Unquoted
		r, err = c.resume(tx, b, p.ClientID, *p.LastSeenServerSeq, uris)
	}); failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	if r.kind == ahp.ReconnectReplay {
		return ahp.Encode(c.Profile, ahp.ReconnectResult{Type: r.kind, Actions: r.actions, Missing: r.missing})
	}
	list := make([]*encoded, 0, len(r.taken))
	size := 0
	for _, t := range r.taken {
		e, err := t.encode(c.Profile, meta.Texts)
		if err != nil {
			return nil, c.undo(err)
		}
		if size += e.size; size > s.Limits.ReplyBytes {
			// A channel that is left out here would count as gone.
			return nil, c.undo(ahp.Conflict("reconnect: more than %d bytes of state: initialize and subscribe one by one", s.Limits.ReplyBytes))
		}
		list = append(list, e)
	}
	return c.reply(list, func(list []ahp.Snapshot) any { return ahp.ReconnectResult{Type: r.kind, Snapshots: list} })
}

// resumed reads the list of subscriptions: URIs, or objects with one (AHP, Lifecycle).
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

// resumption is the result of a reconnect.
type resumption struct {
	kind    string
	actions []ahp.Envelope
	missing []ahp.URI
	taken   []*snapshot
}

// resume subscribes to what still exists and collects what was missed: the actions if the replay logs
// of all channels reach back to seq, else the states.
func (c *Conn) resume(tx core.Tx, b *batch, id string, seq int64, uris []ahp.URI) (resumption, error) {
	s := c.s
	cl := tx.Client(id)
	if cl == nil {
		return resumption{}, ahp.NotFound("reconnect: no client %q is known here: initialize", id)
	}
	if g := cl.Guest; g != nil && (c.Principal.Human || c.Principal.ID == g.ID) {
		c.Principal = g // an agent stays one, and keeps the session that it announced
	}
	if cl.Owner != c.Principal.ID { // also for a token that no longer exists: the client may initialize
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
	// Text may grow sixfold when it is escaped.
	if actions, size, ok := tx.Missed(channels, seq, s.Limits.ReplyBytes/4); ok {
		b.size += size // actions are encoded for each client separately
		for i := range actions {
			if actions[i].Action = tx.Shown(c.Principal, actions[i].Action); actions[i].Action == nil {
				actions[i].Action = ahp.HostWarned{} // so that no number is missing
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
		r.taken = append(r.taken, c.snapshot(tx, b, ch, whole))
	}
	c.fit(tx, r.taken)
	return r, nil
}

// undo resets the connection, so that initialize works on it.
func (c *Conn) undo(err error) error {
	tx := c.s.Core.Lock()
	defer tx.Unlock()
	tx.Undo(c.Link)
	return err
}

// subscribe returns a channel's snapshot and subscribes to what follows. Members such as delivery,
// view and flowControl are hints that are ignored (AHP, Subscriptions).
func (s *Server) subscribe(ctx context.Context, c *Conn, raw json.RawMessage) (any, error) {
	channel, p, err := channelOf(raw)
	if err != nil {
		return nil, err
	}
	within := whole
	if p.Within != nil {
		within = max(0, *p.Within)
	}
	var taken *snapshot
	if failed := c.turn(ctx, false, func(tx core.Tx, b *batch) { taken, err = c.open(tx, b, channel, within) }); failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	e, err := taken.encode(c.Profile, p.Texts)
	if err != nil {
		return nil, err
	}
	return c.reply([]*encoded{e}, func(list []ahp.Snapshot) any { return ahp.SubscribeResult{Snapshot: &list[0]} })
}

// more has the members of a subscription's _meta.
type more struct {
	Within *int   `json:"tandemux/within"` // at most so many bytes of content
	Texts  bool   `json:"tandemux/texts"`  // texts may be sent beside the JSON
	CalmMs uint32 `json:"tandemux/calmMs"` // how long output must be slow until skimming ends
}

// channelOf returns the channel in the params of a subscription. Before 0.2 the member was "resource".
func channelOf(raw json.RawMessage) (ahp.URI, more, error) {
	var p struct {
		Channel  *ahp.URI `json:"channel"`
		Resource *ahp.URI `json:"resource"`
		Meta     more     `json:"_meta"`
	}
	if err := params.Decode(raw, &p); err != nil {
		return "", more{}, err
	}
	switch {
	case p.Channel != nil:
		return *p.Channel, p.Meta, nil
	case p.Resource != nil:
		return *p.Resource, p.Meta, nil
	}
	return "", more{}, ahp.InvalidParams("channel: missing")
}

// skim handles x-tandemux/skim: it spares a subscriber output that is too fast to read.
func (s *Server) skim(_ context.Context, c *Conn, raw json.RawMessage) (any, error) {
	channel, p, err := channelOf(raw)
	if err != nil {
		return nil, err
	}
	s.Core.Locked(func(tx core.Tx) {
		if ch := c.Watched(params.Canonical(channel)); ch == nil || !tx.Skim(ch, c.Link, time.Duration(p.CalmMs)*time.Millisecond) {
			err = ahp.InvalidParams("skim %s: it is no terminal that this connection is subscribed to", params.Clip(channel))
		}
	})
	return nil, err
}

func (s *Server) unsubscribe(c *Conn, raw json.RawMessage) {
	channel, _, err := channelOf(raw)
	if err != nil {
		return
	}
	tx := s.Core.Lock()
	defer tx.Unlock()
	if ch := c.Watched(params.Canonical(channel)); ch != nil {
		tx.Unsubscribe(ch, c.Link)
		s.Channels.Unwatched(tx, c.Link, ch)
	}
}

// open subscribes the connection from the snapshot's number on. Its actions are held back until the
// request is answered.
func (c *Conn) open(tx core.Tx, b *batch, uri ahp.URI, within int) (*snapshot, error) {
	ch, err := c.s.visible(tx, c.Principal, uri)
	if err != nil {
		return nil, err
	}
	if !c.Watches(ch.URI) && c.Subscribed() >= c.s.Limits.Subscriptions {
		return nil, ahp.Conflict("subscribe to %s: this connection has %d subscriptions already, the most it may have: unsubscribe from some", uri, c.Subscribed())
	}
	s := c.snapshot(tx, b, ch, within)
	c.s.Channels.Opened(tx, c.Link, false)
	return s, nil
}

// visible returns the channel of a URI if a principal may watch it.
func (s *Server) visible(tx core.Tx, p *auth.Principal, uri ahp.URI) (*core.Channel, error) {
	uri = params.Canonical(uri)
	if err := params.Allowed("subscribe to "+uri, p.Lacks(auth.ScopeRead)); err != nil {
		return nil, err
	}
	if uri != ahp.RootURI && !s.Channels.Reaches(tx, p, uri) {
		return nil, params.Allowed("subscribe to "+params.Clip(uri), p.OutOfReach())
	}
	ch := tx.Channel(uri)
	if ch == nil {
		return s.Channels.Open(tx, p, uri)
	}
	if b, is := ch.Body.(core.Guarded); is {
		return ch, params.Allowed("subscribe to "+uri, b.Refuses(p))
	}
	return ch, nil
}
