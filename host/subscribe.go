package host

import (
	"context"
	"encoding/json"
	"strings"

	"tandemux/ahp"
	"tandemux/host/auth"
)

// subscribe gives a channel's snapshot and everything after it. Members such as
// delivery, view and flowControl are hints that may be ignored (AHP,
// Subscriptions).
func subscribe(_ context.Context, c *conn, raw json.RawMessage) (any, error) {
	channel, err := channelOf(raw)
	if err != nil {
		return nil, err
	}
	var s snapshot
	c.h.locked(func(tx Tx) { s, err = c.open(tx, channel) })
	if err != nil {
		return nil, err
	}
	encoded, err := s.encode(c.profile)
	if err != nil {
		return nil, err
	}
	return ahp.Encode(c.profile, ahp.SubscribeResult{Snapshot: &encoded}) // else it is validated and copied once more
}

// channelOf is the channel that the params of a subscription name; before 0.2
// the member was "resource".
func channelOf(raw json.RawMessage) (ahp.URI, error) {
	var p struct {
		Channel  *ahp.URI `json:"channel"`
		Resource *ahp.URI `json:"resource"`
	}
	if err := decode(raw, &p); err != nil {
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

func unsubscribe(c *conn, raw json.RawMessage) {
	channel, err := channelOf(raw)
	if err != nil {
		return
	}
	tx := c.h.lock()
	defer tx.unlock()
	if ch := c.subs[canonical(channel)]; ch != nil {
		ch.unsubscribe(tx, c)
		c.h.sessions.clientLooksAway(tx, c, ch)
		c.looksAway(tx, ch, false)
		c.h.recount(tx, ch)
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
func (c *conn) open(tx Tx, uri ahp.URI) (snapshot, error) {
	ch, err := c.h.visible(tx, c.principal, uri)
	if err != nil {
		return snapshot{}, err
	}
	if _, again := c.subs[ch.uri]; !again && len(c.subs) >= c.h.limits.Subscriptions {
		return snapshot{}, ahp.Conflict("subscribe to %s: this connection has %d subscriptions already, the most it may have: unsubscribe from some", uri, len(c.subs))
	}
	s := c.snapshot(tx, ch)
	c.h.sessions.clientBack(tx, c, false)
	return s, nil
}

// snapshot takes a channel's state and subscribes c in the same instant. What
// is pending goes out before the reply, should c be subscribed already: it is
// part of the state.
func (c *conn) snapshot(tx Tx, ch *channel) snapshot {
	ch.body.settle(tx)
	state := c.h.shownState(tx, c.principal, ch.body.state(tx))
	c.out.Hold()
	ch.subscribe(tx, c)
	c.watches(tx, ch.uri)
	s := snapshot{uri: ch.uri, state: state, seq: c.h.seq.last}
	c.h.recount(tx, ch) // which comes after the state
	return s
}

// visible finds the channel of a URI that a principal may watch. Layouts are
// made on first use.
func (h *Host) visible(tx Tx, p *auth.Principal, uri ahp.URI) (*channel, error) {
	uri = canonical(uri)
	if err := allowed("subscribe to "+uri, p.Lacks(auth.ScopeRead)); err != nil {
		return nil, err
	}
	if uri != ahp.RootURI && !h.reaches(tx, p, uri) {
		return nil, allowed("subscribe to "+clip(uri), p.OutOfReach())
	}
	if ch, ok := h.channels[uri]; ok {
		return ch, nil
	}
	switch scheme, _, _ := strings.Cut(uri, ":"); scheme + ":" {
	case ahp.LayoutScheme:
		if len(uri) > maxURI {
			break
		}
		return h.openLayout(tx, p, uri)
	case ahp.SessionScheme, ahp.ChatScheme:
		return nil, ahp.SessionNotFound("subscribe to %q: there is no such session", uri)
	}
	return nil, ahp.NotFound("subscribe to %q: there is no such channel", uri)
}
