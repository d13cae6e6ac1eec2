package core

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/journal"
	"tandemux/host/outbox"
)

// ErrClosing refuses new work while the host stops.
var ErrClosing = ahp.Internal("the host is stopping")

// Options are what a Core needs. Its functions are called with the lock held.
type Options struct {
	// State is the directory of the sequence mark.
	State string
	Now   func() time.Time
	Log   *slog.Logger
	// ReplayBytes and ReplayCount bound each channel's replay log, ReplayAll the bytes of
	// all replay logs, Clients the clients that are remembered.
	ReplayBytes, ReplayCount, ReplayAll, Clients int
	// Journals gives channels their journals.
	Journals *journal.Shelf
	// Kinds make the channels, other than terminals, that outlive the host. The key is the
	// scheme of their URIs with its colon, or the Kind of a Named body.
	Kinds map[string]Kind
	// Shown is what a principal that may not see everything sees of an action, nil for
	// nothing; other says that shown differs from the action.
	Shown func(tx Tx, p *auth.Principal, a ahp.Action) (shown ahp.Action, other bool)
	// Superseded is called once, when another host has taken over.
	Superseded func(tx Tx, why error)
	// Applied, if not nil, is called with every action after it was applied.
	Applied func(tx Tx, ch *Channel, a ahp.Action)
	// LosingChanged is called when the result of Losing has changed.
	LosingChanged func(tx Tx)
}

// Core is the sequencer, its channels and clients. Its methods may be called from any
// goroutine.
type Core struct {
	o Options

	mu       sync.Mutex // guards the following
	seq      sequence
	reached  atomic.Int64 // seq.last, for readers without the lock
	channels map[ahp.URI]*Channel
	clients  map[string]*Client
	out      outbox.Outbox
	frames   []frame          // reused
	records  []journal.Record // reused
	replay   int              // upper bound of the bytes of all replay logs
	captured []byte           // reused for checkpoints
	fenced   bool             // another host has taken over: no state changes any more
	closing  bool
	closed   bool // the journals' memory is unmapped
}

// New makes a Core. unmarked says why the sequence mark could not be written, for
// instance on a full disk; the Core works all the same, and WriteMark tries again.
func New(o Options) (c *Core, unmarked, err error) {
	c = &Core{o: o, channels: map[ahp.URI]*Channel{}, clients: map[string]*Client{}}
	if c.seq, err = newSequence(o.State, o.Now()); err != nil {
		return nil, nil, err
	}
	return c, c.seq.advance(), nil
}

// WriteMark writes the sequence mark.
func (c *Core) WriteMark() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seq.advance()
}

// Tx is a transaction: its holder holds the lock.
type Tx struct{ c *Core }

// Lock takes the lock; Unlock releases it. Messages sent in between are written by the
// connections' own goroutines.
func (c *Core) Lock() Tx {
	c.mu.Lock()
	return Tx{c}
}

// Unlock releases the lock.
func (tx Tx) Unlock() { tx.c.mu.Unlock() }

// Locked runs f with the lock.
func (c *Core) Locked(f func(tx Tx)) {
	tx := c.Lock()
	defer tx.Unlock()
	f(tx)
}

// Do runs f with the lock and then, without it, writes the messages that f sent.
func (c *Core) Do(f func(tx Tx)) {
	sent := c.Turn(f)
	sent.Flush()
}

// Turn is Do without writing: the caller flushes sent.
func (c *Core) Turn(f func(tx Tx)) (sent outbox.Touched) {
	c.Locked(func(tx Tx) {
		c.out.Begin()
		defer func() { sent = c.out.End() }()
		f(tx)
	})
	return sent
}

// Close stops core from setting timers. The state may still change.
func (tx Tx) Close() { tx.c.closing = true }

// Closing reports whether Close was called: the host is stopping.
func (tx Tx) Closing() bool { return tx.c.closing }

// CloseJournals unmaps the journals' memory. No goroutine may use core's state any more.
func (tx Tx) CloseJournals() {
	tx.c.closed = true
	for _, ch := range tx.c.channels {
		ch.Journal.Close()
	}
}

// Closed reports whether CloseJournals was called.
func (tx Tx) Closed() bool { return tx.c.closed }

// Supersede stops all changes, since another host has taken over.
func (tx Tx) Supersede(why error) {
	if !tx.c.fenced {
		tx.c.fenced = true
		tx.c.o.Superseded(tx, why)
	}
}

// Fenced reports whether another host has taken over.
func (tx Tx) Fenced() bool { return tx.c.fenced }

// Send queues an encoded message other than an action.
func (tx Tx) Send(l *Link, b []byte) { tx.c.out.Send(l.Out, b) }

// Release sends what a link has held back until its reply.
func (tx Tx) Release(l *Link) { tx.c.out.Release(l.Out) }
