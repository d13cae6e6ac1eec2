package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/ahp/wire"
	"tandemux/internal/jsonrpc"
)

// link is one connection of a Client.
type link struct {
	c     *Client
	rpc   *jsonrpc.Conn
	local bool // the host is on this machine
	born  time.Time
	ended chan error    // what Run returned
	gone  chan struct{} // closed once the Client knows

	// live is set when the handshake is over; actions before that would leave
	// a hole. Only the reader goroutine uses it.
	live  bool
	text  []byte        // of raw, reused
	heard atomic.Uint64 // messages of the host
	mute  atomic.Bool   // it was closed because the host said nothing

	// Guarded by the client's lock:
	screens int        // of terminals that were asked for, and have not come
	begun   []*channel // whose whole is asked for behind these
}

func (c *Client) newLink(t jsonrpc.Transport) *link {
	l := &link{c: c, born: time.Now(), ended: make(chan error, 1), gone: make(chan struct{})}
	if t, is := t.(jsonrpc.Local); is {
		l.local = t.Local()
	}
	l.rpc = jsonrpc.New(t, l.handle, jsonrpc.Options{Raw: l.raw, Beside: true, GaveUp: l.gaveUp, Log: c.log})
	go func() { l.ended <- l.rpc.Run(context.Background()) }()
	return l
}

// gaveUp tells the host that nobody waits for an answer any more.
func (l *link) gaveUp(id int64) {
	l.rpc.Notify(find.MethodCancel, find.CancelParams{Channel: ahp.RootURI, ID: json.RawMessage(strconv.FormatInt(id, 10))}) //nolint:errcheck // then it is over anyway
}

// maxText bounds the buffer that is kept from one message to the next.
const maxText = 256 << 10

// raw passes terminal output and the echo of input to the Sink without decoding
// the whole message. The transport's messages are valid UTF-8.
func (l *link) raw(msg []byte) bool {
	l.heard.Add(1)
	uri, data, seq, ok := wire.ReadUnquoted(msg)
	if !ok {
		var text []byte
		if uri, data, seq, text, ok = wire.ReadDataEnvelope(msg, l.text); !ok {
			return l.echo(msg)
		}
		if l.text = text; cap(text) > maxText {
			l.text = nil
		}
	}
	if !l.live {
		return true
	}
	c := l.c
	c.mu.Lock()
	ch := c.channels[string(uri)]
	pass := ch.takes(seq)
	c.mu.Unlock()
	c.saw(seq)
	switch {
	case !pass:
	case c.o.Print != nil:
		c.o.Print.Data(ch.uri, data, seq)
		l.skim(ch, len(data))
	default:
		c.sink.Action(ahp.Envelope{Channel: ch.uri, Action: ahp.TerminalData{Data: string(data)}, ServerSeq: seq})
	}
	return true
}

// echo is the fast way of the echo of input: what the program prints comes
// behind it.
func (l *link) echo(msg []byte) bool {
	e, ok := wire.ReadInputEcho(msg)
	if ok && l.live {
		l.c.action(e)
	}
	return ok
}

// takes reports whether an action belongs to a subscription and is new to it,
// and notes that it was seen. The client's lock is held; ch may be nil.
func (ch *channel) takes(seq int64) bool {
	if ch == nil || !ch.live || seq <= ch.last {
		return false
	}
	ch.last = seq
	return true
}

// handle gets the host's other notifications and its requests.
func (l *link) handle(_ context.Context, _ *jsonrpc.Conn, req *jsonrpc.Request) (any, error) {
	if req.Method == ahp.NoteSkimmed && l.live {
		return nil, l.skimmed(req.Params)
	}
	if req.Method != ahp.MethodAction {
		if l.c.o.Listen != nil && l.live && req.IsNotification() {
			l.c.o.Listen.Note(req.Method, append(json.RawMessage(nil), req.Params...))
			return nil, nil
		}
		if l.c.o.Serve != nil && l.live && !req.IsNotification() {
			reply := func(result any, err error) { l.rpc.Reply(req, result, err) } //nolint:errcheck // a connection that has ended needs no answer
			if l.c.o.Serve.Asked(req.Method, append(json.RawMessage(nil), req.Params...), reply) {
				return nil, jsonrpc.ErrReplied
			}
		}
		return nil, ahp.MethodNotFound(req.Method)
	}
	if !l.live {
		return nil, nil
	}
	var e ahp.Envelope
	if err := json.Unmarshal(req.Params, &e); err != nil {
		l.c.log.Warn("ignore an action that cannot be decoded", "err", err)
		return nil, nil
	}
	l.c.action(e)
	return nil, nil
}

// action passes one envelope on, on the reader goroutine.
func (c *Client) action(e ahp.Envelope) {
	c.mu.Lock()
	var mine *pending
	if e.Origin != nil && e.Origin.ClientID == c.o.ClientID {
		if mine = c.takePending(e.Origin.ClientSeq); mine != nil {
			c.tripped(mine.at)
		}
	}
	ch := c.channels[e.Channel]
	pass := false
	switch {
	case e.RejectionReason != "":
		pass = mine != nil
	case ch == nil:
		pass = mine != nil // Echoes come without a subscription, too.
	default:
		pass = ch.takes(e.ServerSeq)
	}
	c.mu.Unlock()
	c.saw(e.ServerSeq)
	if pass {
		c.sink.Action(e)
	}
	if mine != nil {
		mine.settle(outcome{envelope: e})
	}
}

// snapshot passes a state on to what takes it, unless the subscription has ended meanwhile.
func (c *Client) snapshot(s ahp.Snapshot, to func(ahp.Snapshot)) {
	c.mu.Lock()
	ch := c.channels[s.Resource]
	if ch != nil {
		ch.live, ch.again, ch.last, ch.skims = true, false, s.FromSeq, false
	}
	c.mu.Unlock()
	if ch == nil {
		return
	}
	c.saw(s.FromSeq)
	to(s)
}

// ask sends a request. done is called once with the answer, on the reader goroutine, or
// at once with why it could not be sent.
func ask[R any](l *link, method string, params any, done func(r R, err error)) {
	var r R
	err := l.rpc.Go(method, params, func(raw json.RawMessage, err error) {
		if err == nil {
			err = ahp.Unmarshal(raw, &r)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", method, err)
		}
		done(r, err)
	})
	if err != nil {
		done(r, err)
	}
}

// initialize opens a session with the host, as its first request or after a
// refused reconnect. done is called with the outcome.
func (l *link) initialize(done func(error)) {
	o := &l.c.o
	p := ahp.InitializeParams{
		Channel: ahp.RootURI, ProtocolVersions: ahp.Supported(), ClientID: o.ClientID, ClientInfo: &o.Info,
		InitialSubscriptions: []ahp.URI{ahp.RootURI},
	}
	l.c.mu.Lock()
	for _, uri := range o.Follow {
		if l.c.channels[uri] != nil { // not left meanwhile
			p.InitialSubscriptions = append(p.InitialSubscriptions, uri)
		}
	}
	l.c.mu.Unlock()
	if o.Agent != nil {
		p.Meta = &ahp.HelloMeta{Agent: o.Agent}
	}
	ask(l, ahp.MethodInitialize, p, func(r ahp.InitializeResult, err error) {
		if err == nil {
			if profile, ok := ahp.ProfileOf(r.ProtocolVersion); ok {
				l.begin(r, profile)
			} else {
				err = ahp.InvalidRequest("the host chose protocol version %q, which was not offered", r.ProtocolVersion)
			}
		}
		done(err)
	})
}

// begin starts over after initialize: the host has no subscriptions of this client.
func (l *link) begin(r ahp.InitializeResult, p ahp.Profile) {
	c := l.c
	c.mu.Lock()
	c.profile, c.protocol = p, r.ProtocolVersion
	if r.Meta != nil {
		c.us = *r.Meta
	}
	for _, ch := range c.channels {
		ch.again = ch.again || ch.live
		ch.live, ch.skims = false, false
	}
	lost := c.pending
	c.pending, c.pendingBytes = nil, 0
	c.mu.Unlock()
	c.serverSeq.Store(r.ServerSeq)
	c.giveUp(lost, ErrOutcomeUnknown)
	l.start()
	for _, s := range r.Snapshots {
		c.snapshot(s, c.sink.Snapshot)
	}
	l.rejoin()
}

// start makes the link the client's connection.
func (l *link) start() {
	c := l.c
	l.live = true
	c.mu.Lock()
	c.link = l
	c.vigil.end()
	c.vigil.rest(c, l)
	c.tripped(l.born)
	close(c.ready)
	c.mu.Unlock()
	if l.unquoted() {
		l.rpc.Notify(wire.MethodUnquoted, ahp.SubscribeParams{Channel: ahp.RootURI}) //nolint:errcheck // then it is over anyway
	}
	c.sink.Status(Connected, nil)
}

// unquoted reports whether output, and texts of states, are to come as they are.
func (l *link) unquoted() bool { return l.local && l.c.o.Print != nil }

// rejoin subscribes again to the channels whose state was lost.
func (l *link) rejoin() {
	c := l.c
	c.mu.Lock()
	var all []*channel
	for _, ch := range c.channels {
		if ch.again && !ch.live {
			all = append(all, ch)
		}
	}
	c.mu.Unlock()
	slices.SortFunc(all, func(a, b *channel) int { return cmp.Compare(a.uri, b.uri) })
	for _, ch := range all {
		l.subscribe(ch, func(err error) {
			if ahp.FromRPC(err) != nil && c.forget(ch) {
				c.log.Info("channel is gone", "channel", ch.uri, "err", err)
				c.sink.Gone(ch.uri)
			}
		})
	}
}

// subscription asks for a channel's state.
type subscription struct {
	Channel ahp.URI `json:"channel"`
	Meta    struct {
		Within *int `json:"tandemux/within,omitempty"` // 0 is a terminal's screen without its history
		Texts  bool `json:"tandemux/texts,omitempty"`
	} `json:"_meta,omitzero"`
}

// subscribe asks for a channel; done is called once its snapshot, if there is
// any, has reached the Sink. Of a terminal of which there is nothing yet a Skimmer gets
// the screen first, and the whole behind the screens of all others that are asked for.
func (l *link) subscribe(ch *channel, done func(error)) {
	c := l.c
	params := subscription{Channel: ch.uri}
	params.Meta.Texts = l.unquoted()
	brief := c.o.Skim != nil && c.o.Skim.Begins(ch.uri)
	c.mu.Lock()
	ch.states++
	if brief {
		params.Meta.Within = new(int)
		l.screens++
	}
	c.mu.Unlock()
	ask(l, ahp.MethodSubscribe, params, func(r ahp.SubscribeResult, err error) {
		if err == nil && r.Snapshot != nil {
			_, err = wire.TakeTexts(r.Snapshot, l.rpc.Extra())
		}
		c.mu.Lock()
		ch.states--
		c.mu.Unlock()
		if brief {
			defer l.screen(ch)
		}
		if err != nil {
			done(fmt.Errorf("%s: %w", ch.uri, err))
			return
		}
		c.mu.Lock()
		wanted := c.channels[ch.uri] == ch
		if wanted && r.Snapshot == nil { // A channel without state.
			ch.live, ch.again, ch.last = true, false, 0
		}
		c.mu.Unlock()
		if wanted && r.Snapshot != nil {
			r.Snapshot.Resource = ch.uri
			to := c.sink.Snapshot
			if brief {
				to = c.o.Skim.Begun
			}
			c.snapshot(*r.Snapshot, to)
		}
		done(nil)
	})
}

// screen notes that one of the screens that were asked for is there, or is not to be had,
// and asks for the whole of all once it was the last.
func (l *link) screen(ch *channel) {
	c := l.c
	c.mu.Lock()
	l.begun = append(l.begun, ch)
	var all []*channel
	if l.screens--; l.screens == 0 {
		all, l.begun = l.begun, nil
	}
	all = slices.DeleteFunc(all, func(ch *channel) bool { return c.channels[ch.uri] != ch || !ch.live })
	c.mu.Unlock()
	for _, ch := range all {
		l.subscribe(ch, func(error) {
			c.mu.Lock()
			left := c.channels[ch.uri] == nil // while this was asked for
			c.mu.Unlock()
			if left {
				l.rpc.Notify(ahp.MethodUnsubscribe, ahp.UnsubscribeParams{Channel: ch.uri}) //nolint:errcheck // nobody listens any more
			}
		})
	}
}

// reconnect resumes on a new socket (AHP, Lifecycle). An error answer is followed
// by initialize on the same socket.
func (l *link) reconnect(done func(error)) {
	c := l.c
	c.mu.Lock()
	var uris []ahp.URI
	for uri, ch := range c.channels {
		if ch.skims { // there is a hole
			ch.live, ch.again, ch.skims = false, true, false
		}
		if ch.live {
			uris = append(uris, uri)
		}
	}
	c.mu.Unlock()
	slices.Sort(uris)
	seq := c.serverSeq.Load()
	if seq == 0 || len(uris) == 0 {
		l.initialize(done)
		return
	}
	ask(l, ahp.MethodReconnect, ahp.ReconnectParams{
		Channel: ahp.RootURI, ClientID: c.o.ClientID, LastSeenServerSeq: seq, Subscriptions: uris,
		Meta: &ahp.ReconnectMeta{Continues: true, Unquoted: l.unquoted(), Texts: l.unquoted()},
	}, func(r resumption, err error) {
		var refused *jsonrpc.Error
		switch {
		case errors.As(err, &refused):
			c.log.Info("the host cannot resume; starting anew", "err", err)
			l.initialize(done)
		case err != nil:
			done(err)
		default:
			done(l.resume(r, uris))
		}
	})
}

// resumption is the answer to a reconnect.
type resumption struct {
	Type      string            `json:"type"`
	Actions   []json.RawMessage `json:"actions"`
	Missing   []ahp.URI         `json:"missing"`
	Snapshots []ahp.Snapshot    `json:"snapshots"`
}

// resume passes on what was missed.
func (l *link) resume(r resumption, asked []ahp.URI) error {
	c := l.c
	var missed []ahp.Envelope
	switch r.Type {
	case ahp.ReconnectReplay:
		for _, raw := range r.Actions {
			var e ahp.Envelope
			if err := json.Unmarshal(raw, &e); err != nil {
				c.log.Warn("ignore a replayed action that cannot be decoded", "err", err)
				continue
			}
			missed = append(missed, e)
		}
	case ahp.ReconnectSnapshot:
		beside := l.rpc.Extra()
		for i := range r.Snapshots {
			var err error
			if beside, err = wire.TakeTexts(&r.Snapshots[i], beside); err != nil {
				return fmt.Errorf("reconnect: %w", err)
			}
		}
		r.Missing = slices.DeleteFunc(asked, func(uri ahp.URI) bool {
			return slices.ContainsFunc(r.Snapshots, func(s ahp.Snapshot) bool { return s.Resource == uri })
		})
		if len(r.Snapshots) > 0 { // They may lie behind what was seen of a host of before.
			c.serverSeq.Store(0)
		}
	default:
		return fmt.Errorf("reconnect: the host answers with type %q", r.Type)
	}
	gone := c.drop(r.Missing)
	c.giveUp(c.resend(l, missed), ErrOutcomeUnknown)
	l.start()
	for _, uri := range gone {
		c.log.Info("channel did not survive the reconnect", "channel", uri)
		c.sink.Gone(uri)
	}
	for _, e := range missed {
		c.action(e)
	}
	for _, s := range r.Snapshots {
		c.snapshot(s, c.sink.Snapshot)
	}
	l.rejoin()
	return nil
}

// drop removes channels and returns those that were there.
func (c *Client) drop(uris []ahp.URI) (gone []ahp.URI) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, uri := range uris {
		if c.channels[uri] != nil {
			delete(c.channels, uri)
			gone = append(gone, uri)
		}
	}
	return gone
}
