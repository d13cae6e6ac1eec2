package host

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
)

// channel is one subscribable state with its log and subscribers. Everything in
// it is guarded by the sequencing lock.
type channel struct {
	uri  ahp.URI
	body body
	log  replayLog
	subs []*conn
	last int64 // the number of the last action

	// What a next host needs of the channel.
	journal  *journal.Journal // nil while there is nothing to know
	accepted record.Accepted
	broken   error // why a crash would lose something, nil when it would not
}

// body is what a channel's kind adds: *root, *term, *layout and so on.
type body interface {
	// reduce folds an action into the state.
	reduce(a ahp.Action)
	// state is the state as of now, for a snapshot. It may be encoded later,
	// without the lock: it shares nothing that changes.
	state(tx Tx) any
	// settle brings in what is pending, so that state is up to date.
	settle(tx Tx)
}

// private is a body with facts that are in no action and that subscribers don't
// see, but the next host must know. They are journalled with the action that
// they changed with.
type private interface {
	body
	// private gives them; they become JSON.
	private() any
	// changed reports, once, that they have changed.
	changed() bool
	// know takes what private gave in an earlier host.
	know(raw json.RawMessage) error
}

// captured is a body whose state is more than its value: a terminal's.
type captured interface {
	body
	// capture gives what is pending and, of the same instant, the records of a
	// checkpoint that includes it, which may lie in buf; marks go into the log with
	// what was pending. A bare one leaves out what takes room.
	capture(tx Tx, bare bool, buf *[]byte) (pending []change, marks, records []journal.Record)
	// shape is the state without what capture gives.
	shape() any
	// release says that what was captured is in the journal, or lost to a full
	// one.
	release()
}

// revived is a body that has something to do when all channels of an earlier host
// are there again, such as to end what that host was doing. It may apply actions.
type revived interface{ revived(tx Tx) }

// A kind makes bodies of channels that an earlier host left, from their state as
// AHP 1 has it. What was applied after that is reduced then.
type kind func(h *Host, ch *channel, state json.RawMessage) (body, error)

// kinds are the channels that outlive the host, by the scheme of their URIs.
// Terminals, whose scheme is any, are besides (adopt.go). A channel of these
// kinds is journalled from its first action on, or from Host.keep.
var kinds map[string]kind

func init() {
	kinds = map[string]kind{
		"ahp-root:":            reviveRoot,
		"x-tandemux-activity:": reviveActivity,
		ahp.LayoutScheme:       reviveLayout,
		ahp.SessionScheme:      reviveSession,
		ahp.ChatScheme:         reviveChat,
	}
}

func channelKind(uri ahp.URI) (kind, bool) {
	scheme, _, _ := strings.Cut(uri, ":")
	k, ok := kinds[scheme+":"]
	return k, ok
}

// newChannel registers a channel under a URI that the caller knows to be free.
func (h *Host) newChannel(tx Tx, uri ahp.URI, b body) *channel {
	ch := &channel{uri: uri, body: b, log: replayLog{
		maxBytes: h.limits.ReplayBytes,
		maxCount: h.limits.ReplayCount,
		// Whoever saw an earlier channel of this URI has a stale state.
		floor: h.seq.last,
	}, last: h.seq.last}
	h.channels[uri] = ch
	return ch
}

// removeChannel ends all subscriptions and forgets the channel, in the next host
// too.
func (h *Host) removeChannel(tx Tx, ch *channel) {
	h.forgetJournal(tx, ch)
	for _, c := range ch.subs {
		delete(c.subs, ch.uri)
	}
	ch.subs = nil
	delete(h.channels, ch.uri)
}

func (ch *channel) subscribe(tx Tx, c *conn) {
	if _, again := c.subs[ch.uri]; again {
		return
	}
	c.subs[ch.uri] = ch
	ch.subs = append(ch.subs, c)
}

func (ch *channel) unsubscribe(tx Tx, c *conn) {
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
// Any scheme is accepted but those with a meaning of their own.
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
	"ahp-canvas": true, "ahp-tcp": true, "ahp-tunnels": true, "mcp": true, "x-tandemux-layout": true, "x-tandemux-activity": true,
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
