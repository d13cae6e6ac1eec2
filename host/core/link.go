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

// Link is a connection as channels see it. It is guarded by the lock; Client and Profile,
// which are set once, by Begin, may be read by the connection's own goroutine without.
type Link struct {
	Out       *outbox.Conn
	Principal *auth.Principal
	Client    *Client // nil before the handshake
	Profile   ahp.Profile
	Log       *slog.Logger

	// Unquoted says that it takes output as wire.AppendUnquoted writes it.
	Unquoted bool
	// Left says that its client came back on another one, and so takes what it sent on this
	// one, and has no answer to, for lost: it is not carried out.
	Left bool

	subs map[ahp.URI]*Channel

	// Of the numbers of what it dispatches (replay.go): it came by reconnect, which said
	// that they continue; and the first one has come.
	Resumed, Continues, numbered bool
	id                           int64 // among its client's
	window                       *window

	unread
}

// NewLink makes a link that watches nothing.
func NewLink(p *auth.Principal, log *slog.Logger) *Link {
	return &Link{Principal: p, Log: log, subs: map[ahp.URI]*Channel{}}
}

// Begin ends the handshake: the link is one of its client's from here on.
func (tx Tx) Begin(l *Link, cl *Client) {
	cl.number++
	l.Client, l.Profile, l.window, l.id = cl, cl.Profile, cl.window, cl.number
	cl.links[l] = struct{}{}
	tx.c.out.Conns++
	cl.Seen = tx.c.o.Now()
}

// Undo makes a link fresh again, after a handshake that failed.
func (tx Tx) Undo(l *Link) {
	for _, ch := range l.subs {
		tx.Unsubscribe(ch, l)
	}
	delete(l.Client.links, l)
	tx.c.out.Conns--
	l.Client, l.window = nil, nil
	l.Out.Forget()
}

// End takes a link that is over out of its client's, and reports whether it was the last.
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

// Subscribe tells a link of what is applied to a channel from here on.
func (tx Tx) Subscribe(ch *Channel, l *Link) {
	ch.unskim(l)
	if !l.Watches(ch.URI) {
		delete(l.changed, ch.URI) // it is given the state
		l.subs[ch.URI] = ch
		ch.links = append(ch.links, l)
	}
}

// Unsubscribe ends that.
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

// Watched is the channel of a URI that the link is subscribed to, or nil.
func (l *Link) Watched(uri ahp.URI) *Channel { return l.subs[uri] }

// Subscriptions are the channels that it is subscribed to.
func (l *Link) Subscriptions() iter.Seq[*Channel] { return maps.Values(l.subs) }

// Subscribed is how many there are.
func (l *Link) Subscribed() int { return len(l.subs) }

// Who is the link's principal and client, for the audit log.
func (l *Link) Who() audit.By {
	b := audit.By{Principal: l.Principal.ID, Person: l.Principal.Person}
	if l.Client != nil {
		b.Client = l.Client.ID
	}
	return b
}
