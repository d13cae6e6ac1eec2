package core

import (
	"iter"
	"log/slog"
	"maps"
	"slices"

	"tandemux/ahp"
	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/outbox"
)

// Link is a connection. The lock guards it. Begin sets Client and Profile once; the
// connection's own goroutine may read them without the lock.
type Link struct {
	Out       *outbox.Conn
	Principal *auth.Principal
	Client    *Client // nil before the handshake
	Profile   ahp.Profile
	Log       *slog.Logger

	// Unquoted says that the peer takes output as wire.AppendUnquoted writes it.
	Unquoted bool
	// Left says that the client came back on another connection. It takes what it sent here
	// without an answer for lost, so that must not be carried out.
	Left bool

	subs map[ahp.URI]*Channel

	// The numbering of dispatches (replay.go): Resumed says that the link began by
	// reconnect, Continues that reconnect said that the numbers continue, numbered that the
	// first number has come.
	Resumed, Continues, numbered bool
	id                           int64 // unique among its client's links
	window                       *window

	unread
}

// NewLink makes a link without subscriptions.
func NewLink(p *auth.Principal, log *slog.Logger) *Link {
	return &Link{Principal: p, Log: log, subs: map[ahp.URI]*Channel{}}
}

// Begin ends the handshake: from now on the link is one of the client's.
func (tx Tx) Begin(l *Link, cl *Client) {
	cl.number++
	l.Client, l.Profile, l.window, l.id = cl, cl.Profile, cl.window, cl.number
	cl.links[l] = struct{}{}
	tx.c.out.Conns++
	cl.Seen = tx.c.o.Now()
}

// Undo reverts Begin, after a handshake that failed.
func (tx Tx) Undo(l *Link) {
	for _, ch := range l.subs {
		tx.Unsubscribe(ch, l)
	}
	delete(l.Client.links, l)
	tx.c.out.Conns--
	l.Client, l.window = nil, nil
	l.Out.Forget()
}

// End removes a closed link from its client, and reports whether it was the last one.
func (tx Tx) End(l *Link) (last bool) {
	l.Out.Ended()
	if l.Client == nil {
		return false
	}
	delete(l.Client.links, l)
	tx.c.out.Conns--
	l.Client.Seen = tx.c.o.Now()
	return !l.Client.Here()
}

// Subscribe sends a link all actions that are applied to a channel from now on.
func (tx Tx) Subscribe(ch *Channel, l *Link) {
	ch.unskim(l)
	if !l.Watches(ch.URI) {
		delete(l.changed, ch.URI) // it gets the state
		l.subs[ch.URI] = ch
		ch.links = append(ch.links, l)
	}
}

// Unsubscribe ends a subscription, if there is one.
func (tx Tx) Unsubscribe(ch *Channel, l *Link) {
	if !l.Watches(ch.URI) {
		return
	}
	delete(l.subs, ch.URI)
	ch.unskim(l)
	if i := slices.Index(ch.links, l); i >= 0 {
		ch.links = slices.Delete(ch.links, i, i+1)
	}
}

// Watches reports whether the link is subscribed to a channel.
func (l *Link) Watches(uri ahp.URI) bool { return l.subs[uri] != nil }

// Watched is the channel of a URI, nil if the link is not subscribed to it.
func (l *Link) Watched(uri ahp.URI) *Channel { return l.subs[uri] }

// Subscriptions are the channels that the link is subscribed to.
func (l *Link) Subscriptions() iter.Seq[*Channel] { return maps.Values(l.subs) }

// Subscribed is the number of Subscriptions.
func (l *Link) Subscribed() int { return len(l.subs) }

// Who is the link's principal and client, for the audit log.
func (l *Link) Who() audit.By {
	b := audit.By{Principal: l.Principal.ID, Person: l.Principal.Person}
	if l.Client != nil {
		b.Client = l.Client.ID
	}
	return b
}
