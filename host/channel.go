package host

import (
	"slices"
	"strings"
	"unicode/utf8"

	"cotty/ahp"
)

// channel is one subscribable state with its log and subscribers. Everything in
// it is guarded by the sequencing lock.
type channel struct {
	uri  ahp.URI
	body body
	log  replayLog
	subs []*conn
}

// body is what a channel's kind adds: *root, *term or *layout.
type body interface {
	// reduce folds an action into the state.
	reduce(a ahp.Action)
	// state is the state as of now, for a snapshot. It may be encoded later,
	// without the lock: it shares nothing that changes.
	state() any
	// settle brings in what is pending, so that state is up to date.
	settle()
}

// newChannel registers a channel under a URI that the caller knows to be free.
func (h *Host) newChannel(uri ahp.URI, b body) *channel {
	ch := &channel{uri: uri, body: b, log: replayLog{
		maxBytes: h.limits.ReplayBytes,
		maxCount: h.limits.ReplayCount,
		// Whoever saw an earlier channel of this URI has a stale state.
		floor: h.seq.last,
	}}
	h.channels[uri] = ch
	return ch
}

// removeChannel ends all subscriptions and forgets the channel.
func (h *Host) removeChannel(ch *channel) {
	for _, c := range ch.subs {
		delete(c.subs, ch.uri)
	}
	ch.subs = nil
	delete(h.channels, ch.uri)
}

func (ch *channel) subscribe(c *conn) {
	if _, again := c.subs[ch.uri]; again {
		return
	}
	c.subs[ch.uri] = ch
	ch.subs = append(ch.subs, c)
}

func (ch *channel) unsubscribe(c *conn) {
	if _, ok := c.subs[ch.uri]; !ok {
		return
	}
	delete(c.subs, ch.uri)
	if i := slices.Index(ch.subs, c); i >= 0 {
		ch.subs = slices.Delete(ch.subs, i, i+1)
	}
}

// canonical maps the guide's spelling of the root URI (G7) to today's. All
// other URIs are opaque.
func canonical(uri ahp.URI) ahp.URI {
	if uri == "agenthost:/root" {
		return ahp.RootURI
	}
	return uri
}

// checkURI says what is wrong with a URI that a client chose for a terminal.
// Any scheme is accepted (ahp.md §3) but those with a meaning of their own.
func checkURI(uri ahp.URI) *ahp.Error {
	scheme, rest, ok := strings.Cut(uri, ":")
	switch {
	case len(uri) > maxURI:
		return ahp.InvalidParams("channel: the URI is longer than %d bytes", maxURI)
	case !ok || rest == "" || !isScheme(scheme):
		return ahp.InvalidParams("channel: %q is not a URI: use one like ahp-terminal:/ID", uri)
	case strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r == 0x7f || r == utf8.RuneError }):
		return ahp.InvalidParams("channel: the URI has blanks or control characters in it")
	case reserved[strings.ToLower(scheme)], canonical(uri) == ahp.RootURI:
		return ahp.InvalidParams("channel: the scheme %q is not for terminals: use one like ahp-terminal:/ID", scheme)
	}
	return nil
}

// reserved are schemes that terminals cannot have: clients tell the kind of a
// channel by them.
var reserved = map[string]bool{
	"ahp-root": true, "ahp-session": true, "ahp-chat": true, "ahp-changeset": true,
	"ahp-resource-watch": true, "ahp-otlp": true, "ahp-automations": true, "ahp-automation": true,
	"ahp-canvas": true, "ahp-tcp": true, "ahp-tunnels": true, "mcp": true, "x-cotty-layout": true,
}

func isScheme(s string) bool {
	for i, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", r)) {
			return false
		}
	}
	return s != ""
}
