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

// ErrClosing is why nothing new is begun.
var ErrClosing = ahp.Internal("the host is stopping")

// Options are what a Core needs. Its functions are called with the lock held.
type Options struct {
	// State is the directory of the sequence mark.
	State string
	Now   func() time.Time
	Log   *slog.Logger
	// ReplayBytes and ReplayCount bound each channel's replay log, ReplayAll the bytes of
	// all of them, Clients the clients that are remembered.
	ReplayBytes, ReplayCount, ReplayAll, Clients int
	// Journals gives channels their journals.
	Journals *journal.Shelf
	// Kinds are the channels that are no terminals and outlive the host, by the scheme that
	// their URIs have, with its colon, or could have (Named).
	Kinds map[string]Kind
	// Shown is what a principal that may not see everything sees of an action, nil for
	// nothing; other says that it is not the action itself.
	Shown func(tx Tx, p *auth.Principal, a ahp.Action) (shown ahp.Action, other bool)
	// Superseded is told, once, that another host has taken over.
	Superseded func(tx Tx, why error)
	// Followed, if not nil, is told of every action when it has been applied.
	Followed func(tx Tx, ch *Channel, a ahp.Action)
	// Spoilt is told that what a crash of the host would lose has changed.
	Spoilt func(tx Tx)
}

// Core is the sequencer, its channels and clients. Its methods may be called from any
// goroutine.
type Core struct {
	o Options

	mu       sync.Mutex // guards all below
	seq      sequence
	reached  atomic.Int64 // seq.last, to be read without the lock
	channels map[ahp.URI]*Channel
	clients  map[string]*Client
	out      outbox.Outbox
	frames   []frame          // reused
	records  []journal.Record // reused
	replay   int              // bytes of all replay logs, or more
	captured []byte           // reused: of a checkpoint
	fenced   bool             // another host has taken over: nothing changes any more
	closing  bool
	closed   bool // the journals' memory is gone
}

// New makes a Core. The mark that could not be written, as the disk is full, is
// no error: WriteMark tries again.
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

// Tx is a turn at the state: whoever has one holds the lock.
type Tx struct{ c *Core }

// Lock waits for the lock; Unlock gives it back. What is sent meanwhile is written by
// the connections' own goroutines.
func (c *Core) Lock() Tx {
	c.mu.Lock()
	return Tx{c}
}

// Unlock gives the lock back.
func (tx Tx) Unlock() { tx.c.mu.Unlock() }

// Locked runs f with the lock.
func (c *Core) Locked(f func(tx Tx)) {
	tx := c.Lock()
	defer tx.Unlock()
	f(tx)
}

// Do runs f with the lock and then writes what it sent.
func (c *Core) Do(f func(tx Tx)) {
	sent := c.Turn(f)
	sent.Flush()
}

// Turn is Do without writing: what it gives is to be flushed.
func (c *Core) Turn(f func(tx Tx)) (sent outbox.Touched) {
	c.Locked(func(tx Tx) {
		c.out.Begin()
		defer func() { sent = c.out.End() }()
		f(tx)
	})
	return sent
}

// Close has no timers set any more; the state may still change.
func (tx Tx) Close() { tx.c.closing = true }

// Closing reports whether Close was called: the host ends.
func (tx Tx) Closing() bool { return tx.c.closing }

// CloseJournals lets go of the journals' memory: nothing runs any more.
func (tx Tx) CloseJournals() {
	tx.c.closed = true
	for _, ch := range tx.c.channels {
		ch.Journal.Close()
	}
}

// Closed reports whether CloseJournals was called.
func (tx Tx) Closed() bool { return tx.c.closed }

// Supersede says that another host has taken over: nothing changes any more.
func (tx Tx) Supersede(why error) {
	if !tx.c.fenced {
		tx.c.fenced = true
		tx.c.o.Superseded(tx, why)
	}
}

// Fenced reports whether another host has taken over.
func (tx Tx) Fenced() bool { return tx.c.fenced }

// Send queues an encoded message that is no action.
func (tx Tx) Send(l *Link, b []byte) { tx.c.out.Send(l.Out, b) }

// Release lets what a link holds back follow the reply.
func (tx Tx) Release(l *Link) { tx.c.out.Release(l.Out) }
