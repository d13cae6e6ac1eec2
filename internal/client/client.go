package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/internal/jsonrpc"
)

// Status is the state of the connection.
type Status int

// The states.
const (
	Connected Status = iota
	Reconnecting
	Closed // for good
)

func (s Status) String() string {
	return [...]string{"connected", "reconnecting", "closed"}[s]
}

// Sink gets what the host says, in order, from the connection's reader
// goroutine. It must not block for long.
type Sink interface {
	// Snapshot (re)initialises a channel: after Connect and Subscribe, and
	// after a reconnect that could not replay. A Printer's may have Text, which is valid
	// until it returns.
	Snapshot(s ahp.Snapshot)
	// Action is a confirmed action, including echoes of one's own and refusals
	// of one's own (RejectionReason not empty), which change no state.
	Action(e ahp.Envelope)
	// Gone says that a channel did not survive a reconnect.
	Gone(channel ahp.URI)
	// Status reports changes of the connection; err says why.
	Status(s Status, err error)
}

// Wants are what a Sink can be told besides. Each may be nil.
type Wants struct {
	Print   Printer
	Listen  Listener
	Observe Observer
	Skim    Skimmer
	Serve   Server
}

// Server answers requests of the host's. They come in the order of the wire.
type Server interface {
	// Asked reports whether it takes a request; it answers by reply then, once, at once or
	// later. params is its own.
	Asked(method string, params json.RawMessage, reply func(result any, err error)) bool
}

// Skimmer takes what a terminal's screen shows where more is printed than anybody reads.
// A Printer is a condition.
type Skimmer interface {
	// Skims reports whether a terminal's screen is enough for now. Once all of its text is
	// wanted, subscribing anew gives it.
	Skims(channel ahp.URI) bool
	// Skimmed takes the screen, as a state without the history before it.
	Skimmed(s ahp.Snapshot)
	// Begins reports whether there is nothing yet of a terminal, so that its screen is given
	// first, by Begun in place of Sink.Snapshot. The whole comes right behind.
	Begins(channel ahp.URI) bool
	Begun(s ahp.Snapshot)
}

// Printer takes terminal output without a string made of it.
type Printer interface {
	// Data is Sink.Action for an ahp.TerminalData. data is valid until it returns.
	Data(channel ahp.URI, data []byte, serverSeq int64)
}

// Listener is told of the host's notifications beside actions: those about the list
// of sessions, above all. They come in the order of the wire.
type Listener interface {
	// Note takes one; params is its own.
	Note(method string, params json.RawMessage)
}

// Observer is told more of a connection in trouble. Its methods may be called from
// any goroutine, and must not block or call what waits.
type Observer interface {
	// Retrying says that an attempt to reconnect failed and when the next is
	// made.
	Retrying(r Retry)
	// Lost says that the outcome of typed input will never be known: it was sent,
	// the connection ended, and the host of now knows nothing of it.
	Lost(channel ahp.URI, input string)
	// Silent says that the host has left something unanswered since then; the
	// zero time says that it answers again, or that the connection was lost.
	Silent(since time.Time)
}

// Retry is where reconnecting has come to.
type Retry struct {
	Since time.Time // of the loss
	Next  time.Time // of the next attempt
	Err   error     // of the last one
}

type Options struct {
	// Dial opens a connection to the host.
	Dial func(ctx context.Context) (jsonrpc.Transport, error)
	// ClientID is stable across reconnects; empty means a random one.
	ClientID string
	Info     ahp.Implementation
	// Agent, if not nil, says that the client speaks for an agent: it is then
	// less than its user.
	Agent *ahp.AgentMeta
	// Follow are channels that are subscribed to with the root, in the same turn.
	Follow []ahp.URI
	// Sink may be nil for a client that only calls.
	Sink Sink
	Wants
	// Reconnect makes the client dial again after a lost connection.
	Reconnect bool
	// MaxPause bounds the pauses between attempts; 0 means two seconds. Pauses
	// longer than that vary by a fifth, so that not all come at once.
	MaxPause time.Duration
	// Patience bounds each attempt to reconnect; 0 means ten seconds.
	Patience time.Duration
	// Away is how long a host that says that it goes away (1001) may take to come
	// back; 0 means two seconds, less than 0 as long as one that just vanished.
	Away time.Duration
	// Absence is for how long Dial may go on to fail with ErrAbsent until the
	// client ends with that; 0 means for ever.
	Absence time.Duration
	// GiveUp is for how long a host may leave things unanswered and say nothing
	// until the connection counts as lost; 0 means as long as the system keeps
	// it. It is for connections that cross a network.
	GiveUp time.Duration
	// Alive is for how long a host may say nothing, having nothing to say, until it is
	// asked whether it is there; 0 means for ever. It is for connections that cross a
	// network.
	Alive time.Duration
	Log   *slog.Logger // nil means discard
}

const (
	// handshakeWait bounds dialling and the handshake where the caller's
	// context does not, and each attempt to reconnect.
	handshakeWait = 10 * time.Second
	// echoWait bounds DispatchWait where the caller's context does not.
	echoWait = 30 * time.Second
)

var (
	// ErrClosed is returned once the client has ended.
	ErrClosed = errors.New("the connection to the host is closed")
	// ErrAbsent is for Options.Dial to say that there is no host, and that
	// nothing will start one.
	ErrAbsent = errors.New("no host is running, and nothing brings one back")
	// ErrDisconnected is returned while the client reconnects.
	ErrDisconnected = errors.New("not connected to the host")
	// ErrOutcomeUnknown says that a request or action was sent, and the
	// connection lost before the host's answer.
	ErrOutcomeUnknown = errors.New("the connection was lost before the host answered")
)

// Client is a connection to a host that survives lost sockets.
type Client struct {
	o    Options
	log  *slog.Logger
	sink Sink
	now  chan struct{} // holds one when the next attempt is wanted at once

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	done   chan struct{}
	err    error // set before done is closed

	serverSeq atomic.Int64 // the highest seen

	mu    sync.Mutex // Protects following.
	link  *link      // nil while there is no connection
	ready chan struct{}
	ended bool
	us    ahp.InitializeMeta // what the host takes us for
	dialect
	channels map[ahp.URI]*channel

	clientSeq    int64
	pending      []*pending // by clientSeq
	pendingBytes int
	liveness
}

// dialect is how the host of now speaks.
type dialect struct {
	profile  ahp.Profile
	protocol string // its version, as the host chose it
}

type channel struct {
	uri  ahp.URI
	live bool  // its snapshot has reached the Sink
	last int64 // sequence number up to which the Sink knows it
	flood
	// again is set when its state was lost with a connection, and it is to be
	// subscribed to anew.
	again bool
}

// Connect dials, does the handshake and subscribes to the root channel, and to those of
// Options.Follow; their snapshots reach the Sink before Connect returns. Later losses of the
// connection are handled as Options.Reconnect says; a failure of the first
// attempt is returned.
func Connect(ctx context.Context, o Options) (*Client, error) {
	ctx, cancel := withDeadline(ctx, handshakeWait)
	defer cancel()
	o.ClientID = cmp.Or(o.ClientID, "tandemux-"+strings.ToLower(rand.Text()))
	c := &Client{
		o: o, log: o.Log, sink: o.Sink,
		done: make(chan struct{}), ready: make(chan struct{}), now: make(chan struct{}, 1),
		channels: map[ahp.URI]*channel{ahp.RootURI: {uri: ahp.RootURI, again: true}},
	}
	for _, uri := range o.Follow {
		c.channels[uri] = &channel{uri: uri, again: true}
	}
	c.log = cmp.Or(c.log, slog.New(slog.DiscardHandler))
	if c.sink == nil {
		c.sink = nobody{}
	}
	c.wall = func(t time.Time) time.Time { return t.Round(0) }
	c.ctx, c.cancel = context.WithCancel(context.Background())
	l, err := c.attempt(ctx, (*link).initialize)
	if err != nil {
		c.cancel()
		return nil, err
	}
	go c.keep(l)
	return c, nil
}

// withDeadline bounds a context that has no deadline.
func withDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d)
}

// current is the connection, or why there is none.
func (c *Client) current() (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link == nil {
		return nil, absent(c.ended)
	}
	return c.link, nil
}

// Call sends a request and decodes the answer into result, which may be nil.
// An error answer is an *ahp.Error. It fails with ErrDisconnected while there
// is no connection, and with ErrOutcomeUnknown when it is lost in between.
func (c *Client) Call(ctx context.Context, method string, params, result any) error {
	l, err := c.current()
	if err != nil {
		return err
	}
	c.asks(1)
	err = l.rpc.Call(ctx, method, params, result)
	c.asks(-1)
	if errors.Is(err, jsonrpc.ErrClosed) {
		return fmt.Errorf("call %s: %w", method, ErrOutcomeUnknown)
	}
	return wireError(err)
}

// Notify sends a notification, which the host never answers. It fails with
// ErrDisconnected while there is no connection; one that is lost with the
// connection is not sent again.
func (c *Client) Notify(method string, params any) error {
	l, err := c.current()
	if err != nil {
		return err
	}
	return l.rpc.Notify(method, params)
}

// absent is the error for what needs a connection when there is none.
func absent(ended bool) error {
	if ended {
		return ErrClosed
	}
	return ErrDisconnected
}

// wireError makes an error answer an *ahp.Error.
func wireError(err error) error {
	if e := ahp.FromRPC(err); e != nil {
		return e
	}
	return err
}

// Subscribe subscribes to a channel; its snapshot reaches the Sink before
// Subscribe returns. Subscribing again gives a new snapshot. When the
// connection is lost meanwhile it tries again on the next one.
func (c *Client) Subscribe(ctx context.Context, uri ahp.URI) error {
	for {
		l, err := c.connected(ctx)
		if err != nil {
			return fmt.Errorf("subscribe to %s: %w", uri, err)
		}
		if err = c.join(ctx, l, uri); !errors.Is(err, jsonrpc.ErrClosed) {
			return wireError(err)
		}
		if !c.o.Reconnect {
			return fmt.Errorf("subscribe to %s: %w", uri, ErrOutcomeUnknown)
		}
		<-l.gone
	}
}

func (c *Client) connected(ctx context.Context) (*link, error) {
	for {
		c.mu.Lock()
		l, ready := c.link, c.ready
		c.mu.Unlock()
		if l != nil {
			return l, nil
		}
		select {
		case <-ready:
		case <-c.done:
			if c.err != nil {
				return nil, fmt.Errorf("%w: %w", ErrClosed, c.err)
			}
			return nil, ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// join subscribes on one connection.
func (c *Client) join(ctx context.Context, l *link, uri ahp.URI) error {
	c.mu.Lock()
	ch := c.channels[uri]
	if ch == nil {
		ch = &channel{uri: uri}
		c.channels[uri] = ch
	}
	known := ch.live || ch.again
	c.mu.Unlock()
	answered := make(chan error, 1)
	l.subscribe(ch, func(err error) {
		if err != nil && !known {
			c.forget(ch)
		}
		answered <- err
	})
	select {
	case err := <-answered:
		return err
	case <-ctx.Done():
		if !known && c.forget(ch) {
			l.rpc.Notify(ahp.MethodUnsubscribe, ahp.UnsubscribeParams{Channel: uri}) //nolint:errcheck // nobody listens any more
		}
		return fmt.Errorf("subscribe to %s: %w", uri, ctx.Err())
	}
}

// forget ends a subscription on this side; false when it had ended.
func (c *Client) forget(ch *channel) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.channels[ch.uri] != ch {
		return false
	}
	delete(c.channels, ch.uri)
	return true
}

// Unsubscribe ends a subscription. Once a call of the Sink that is under way
// has returned, nothing of the channel reaches it but echoes of one's own
// actions.
func (c *Client) Unsubscribe(uri ahp.URI) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.channels[uri] == nil {
		return
	}
	delete(c.channels, uri)
	if c.link != nil {
		// A lost connection has no subscriptions either.
		c.link.rpc.Notify(ahp.MethodUnsubscribe, ahp.UnsubscribeParams{Channel: uri}) //nolint:errcheck // see above
	}
}

// saw sets serverSeq if seq is higher. Only the reader goroutine calls it.
func (c *Client) saw(seq int64) { c.serverSeq.Store(max(c.serverSeq.Load(), seq)) }

// Protocol is the version of AHP that is spoken.
func (c *Client) Protocol() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.protocol
}

func (c *Client) ClientID() string { return c.o.ClientID }

// Session is what an agent's terminals are to be claimed for; empty when
// Options.Agent is nil.
func (c *Client) Session() ahp.URI {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.us.Session
}

// Principal is whom the host takes this client for, as in
// ahp.TerminalMeta.Principal; empty when the host does not say.
func (c *Client) Principal() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.us.Principal
}

// Done is closed when the client has ended for good; Err says why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err is nil until Done, and after Close.
func (c *Client) Err() error {
	select {
	case <-c.done:
		return c.err
	default:
		return nil
	}
}

// Close ends the connection, after what was sent is out, and waits for the
// reader to end.
func (c *Client) Close() error {
	c.cancel()
	<-c.done
	return nil
}

// nobody is the Sink of a client that only makes calls: it ignores everything.
type nobody struct{}

func (nobody) Snapshot(ahp.Snapshot) {}
func (nobody) Action(ahp.Envelope)   {}
func (nobody) Gone(ahp.URI)          {}
func (nobody) Status(Status, error)  {}
