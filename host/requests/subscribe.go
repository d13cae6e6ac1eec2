package requests

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/params"
)

// subscribe gives a channel's snapshot and everything after it. Members such as
// delivery, view and flowControl are hints that may be ignored (AHP,
// Subscriptions).
func (s *Server) subscribe(_ context.Context, c *Conn, raw json.RawMessage) (any, error) {
	channel, err := channelOf(raw)
	if err != nil {
		return nil, err
	}
	var taken snapshot
	s.Core.Locked(func(tx core.Tx) { taken, err = c.open(tx, channel) })
	if err != nil {
		return nil, err
	}
	encoded, err := taken.encode(c.Profile)
	if err != nil {
		return nil, err
	}
	return ahp.Encode(c.Profile, ahp.SubscribeResult{Snapshot: &encoded}) // else it is validated and copied once more
}

// channelOf is the channel that the params of a subscription name; before 0.2
// the member was "resource".
func channelOf(raw json.RawMessage) (ahp.URI, error) {
	var p struct {
		Channel  *ahp.URI `json:"channel"`
		Resource *ahp.URI `json:"resource"`
	}
	if err := params.Decode(raw, &p); err != nil {
		return "", err
	}
	switch {
	case p.Channel != nil:
		return *p.Channel, nil
	case p.Resource != nil:
		return *p.Resource, nil
	}
	return "", ahp.InvalidParams("channel: missing")
}

func (s *Server) unsubscribe(c *Conn, raw json.RawMessage) {
	channel, err := channelOf(raw)
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
func (c *Conn) open(tx core.Tx, uri ahp.URI) (snapshot, error) {
	ch, err := c.s.visible(tx, c.Principal, uri)
	if err != nil {
		return snapshot{}, err
	}
	if !c.Watches(ch.URI) && c.Subscribed() >= c.s.Limits.Subscriptions {
		return snapshot{}, ahp.Conflict("subscribe to %s: this connection has %d subscriptions already, the most it may have: unsubscribe from some", uri, c.Subscribed())
	}
	s := c.snapshot(tx, ch)
	c.s.Channels.Opened(tx, c.Link, false)
	return s, nil
}

// snapshot takes a channel's state and subscribes c in the same instant. What
// is pending goes out before the reply, should c be subscribed already: it is
// part of the state.
func (c *Conn) snapshot(tx core.Tx, ch *core.Channel) snapshot {
	ch.Body.Settle(tx)
	state := c.s.Channels.ShownState(tx, c.Principal, ch.Body.State(tx))
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
