package requests

import (
	"context"
	"encoding/json"
	"math"
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
		r.taken = append(r.taken, c.snapshot(tx, ch, whole))
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

// subscribe gives a channel's snapshot and everything after it. Members such as
// delivery, view and flowControl are hints that may be ignored (AHP,
// Subscriptions).
func (s *Server) subscribe(_ context.Context, c *Conn, raw json.RawMessage) (any, error) {
	channel, p, err := channelOf(raw)
	if err != nil {
		return nil, err
	}
	within := whole
	if p.Within != nil {
		within = max(0, *p.Within)
	}
	var taken snapshot
	s.Core.Locked(func(tx core.Tx) { taken, err = c.open(tx, channel, within) })
	if err != nil {
		return nil, err
	}
	encoded, err := taken.encode(c.Profile)
	if err != nil {
		return nil, err
	}
	return ahp.Encode(c.Profile, ahp.SubscribeResult{Snapshot: &encoded}) // else it is validated and copied once more
}

// more is what the params of a subscription may say besides, in _meta.
type more struct {
	Within *int   `json:"tandemux/within"` // bytes of content
	CalmMs uint32 `json:"tandemux/calmMs"` // until skimming ends
}

// channelOf is the channel that the params of a subscription name; before 0.2
// the member was "resource".
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

// skim spares a subscriber output that comes too fast to be read.
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

// snapshot is a state that has yet to be encoded, which is done without the
// lock.
type snapshot struct {
	uri   ahp.URI
	state any
	seq   int64
}

func (s snapshot) encode(p ahp.Profile) (ahp.Snapshot, error) {
	state, err := ahp.Encode(p, s.state)
	if err != nil {
		return ahp.Snapshot{}, ahp.Internal("encode the state of %s: %v", s.uri, err)
	}
	return ahp.Snapshot{Resource: s.uri, State: state, FromSeq: s.seq}, nil
}

// open subscribes the connection, from the number in the snapshot on; its
// actions are held until the request is answered.
func (c *Conn) open(tx core.Tx, uri ahp.URI, within int) (snapshot, error) {
	ch, err := c.s.visible(tx, c.Principal, uri)
	if err != nil {
		return snapshot{}, err
	}
	if !c.Watches(ch.URI) && c.Subscribed() >= c.s.Limits.Subscriptions {
		return snapshot{}, ahp.Conflict("subscribe to %s: this connection has %d subscriptions already, the most it may have: unsubscribe from some", uri, c.Subscribed())
	}
	s := c.snapshot(tx, ch, within)
	c.s.Channels.Opened(tx, c.Link, false)
	return s, nil
}

// whole is all content of a terminal.
const whole = math.MaxInt

// snapshot takes a channel's state and subscribes c in the same instant. What
// is pending goes out before the reply, should c be subscribed already: it is
// part of the state, of which no more content is taken than within.
func (c *Conn) snapshot(tx core.Tx, ch *core.Channel, within int) snapshot {
	ch.Body.Settle(tx)
	state, less := c.s.Channels.StateWithin(tx, ch, within)
	if !less {
		state = ch.Body.State(tx)
	}
	state = c.s.Channels.ShownState(tx, c.Principal, state)
	c.Out.Hold()
	tx.Subscribe(ch, c.Link)
	s := snapshot{uri: ch.URI, state: state, seq: tx.Seq()}
	c.s.Channels.Watched(tx, c.Link, ch) // what follows comes after the state
	return s
}

// visible finds the channel of a URI that a principal may watch.
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
