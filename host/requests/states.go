package requests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"tandemux/ahp"
	"tandemux/ahp/wire"
	"tandemux/host/core"
	"tandemux/host/outbox"
	"tandemux/internal/jsonrpc"
)

const (
	// maxBatches is how many batches run at the same time.
	maxBatches = 2
	// maxMade bounds the bytes of the states that are made for one batch, and of actions that replace
	// one. Only the last one may exceed it.
	maxMade = 2 << 20
	// smallReply is how many bytes a connection's queue may still have when its request leaves the
	// batch.
	smallReply = 256 << 10
	// stateTime is how long a client that reads slowly delays the next batch.
	stateTime = time.Second
	// sharedRate is how fast states that a batch already has are sent to clients that come back, in
	// bytes per second. The rest of the time is for programs that print and clients that keep up.
	sharedRate = 100 << 20
	// Clients that have fallen behind wait at least minPause, so that they come together, and at most
	// maxPause.
	minPause = 100 * time.Millisecond
	maxPause = time.Second
)

// states handles requests for states in batches, because many viewers that fall behind together come
// back together. The waiting requests are handled in one turn, in which a terminal's state is made and
// encoded once for all. A batch begins when the one before was sent, so a slow client waits and misses
// more instead of taking everybody's time. Clients that come back wait until those before had time for
// what they got; the program that prints has that time, too.
type states struct {
	core *core.Core
	work *sync.WaitGroup // counts goroutines that wait until replies are sent

	mu      sync.Mutex
	in      int      // number of running batches
	waiting []*visit // in order of arrival
	pause   bool     // clients that come back have to wait
}

// visit is a request that is in a batch or waits for one.
type visit struct {
	do       func(tx core.Tx, b *batch)
	back     bool          // the client comes back
	done     chan struct{} // closed once do was called
	panicked string
	batch    *batch
}

// batch has the requests that are handled in one turn.
type batch struct {
	of   *states
	left int // number of its requests whose answers were not sent; guarded by of.mu

	// The following are guarded by the core's lock.
	made   map[portion]*snapshot
	size   int // bytes of what was made
	shared int // bytes of what was used again
}

// portion is what a request wants of a channel.
type portion struct {
	ch     *core.Channel
	within int
}

// turn calls do under the lock, in a batch. The request that is being handled leaves the batch when it
// is answered. The only error is that of ctx.
func (c *Conn) turn(ctx context.Context, back bool, do func(tx core.Tx, b *batch)) error {
	st, v := &c.s.states, &visit{do: do, back: back, done: make(chan struct{})}
	st.mu.Lock()
	st.waiting = append(st.waiting, v)
	st.next()
	st.mu.Unlock()
	select {
	case <-v.done:
	case <-ctx.Done():
		if st.forgo(v) {
			return ctx.Err()
		}
		<-v.done
	}
	if c.batch = v.batch; v.panicked != "" {
		panic(v.panicked)
	}
	return nil
}

// forgo removes a visit that still waits, and reports whether it did.
func (st *states) forgo(v *visit) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	i := slices.Index(st.waiting, v)
	if i >= 0 {
		st.waiting = slices.Delete(st.waiting, i, i+1)
	}
	return i >= 0
}

// next begins a batch, if one more may run. The caller holds mu.
func (st *states) next() {
	if st.in < maxBatches && slices.ContainsFunc(st.waiting, st.due) {
		st.in++
		go st.run()
	}
}

// due reports whether a visit waits only for a batch. The caller holds mu.
func (st *states) due(v *visit) bool { return !v.back || !st.pause }

// run handles the waiting requests, up to maxMade.
func (st *states) run() {
	b := &batch{of: st, made: map[portion]*snapshot{}}
	tx := st.core.Lock()
	st.mu.Lock() // includes those that came while waiting for the other lock
	var all, later []*visit
	for _, v := range st.waiting {
		if st.due(v) {
			all = append(all, v)
		} else {
			later = append(later, v)
		}
	}
	st.waiting = nil
	st.mu.Unlock()
	n := 0
	for n < len(all) && b.size < maxMade {
		all[n].call(tx, b)
		n++
	}
	b.made = nil // the encoded states are needed until they are sent, the states are not
	tx.Unlock()
	st.mu.Lock()
	st.waiting = slices.Concat(all[n:], later, st.waiting)
	if b.left = n; n == 0 {
		st.in--
	}
	if b.shared > 0 && !st.pause {
		st.pause = true
		time.AfterFunc(min(maxPause, max(minPause, time.Duration(b.shared)*time.Second/sharedRate)), st.resume)
	}
	st.next()
	st.mu.Unlock()
	for _, v := range all[:n] {
		close(v.done)
	}
}

// resume ends a pause.
func (st *states) resume() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.pause = false
	st.next()
}

func (v *visit) call(tx core.Tx, b *batch) {
	v.batch = b
	defer func() {
		if p := recover(); p != nil {
			v.panicked = fmt.Sprintf("%v, at %s", p, debug.Stack())
		}
	}()
	v.do(tx, b)
}

// leave is called once for each request of a batch. The last call makes room for another batch.
func (b *batch) leave() {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if b.left--; b.left == 0 {
		b.of.in--
		b.of.next()
	}
}

// leaveWhenSent calls leave when most of what the connection got is sent, or after stateTime.
func (b *batch) leaveWhenSent(c *outbox.Conn) {
	if c.Behind(smallReply) == nil {
		b.leave()
		return
	}
	b.of.work.Go(func() {
		defer b.leave()
		slow := time.After(stateTime)
		for {
			moved := c.Behind(smallReply)
			if moved == nil {
				return
			}
			select {
			case <-moved:
			case <-c.RPC.Done():
				return
			case <-slow:
				return
			}
		}
	})
}

// whole stands for all content of a terminal.
const whole = math.MaxInt

// snapshot is a state that is not encoded yet. That is done without the lock.
type snapshot struct {
	uri   ahp.URI
	state any
	seq   int64
	last  int64 // the channel's last action
	size  int   // the approximate size of its JSON

	mu      sync.Mutex
	encoded [apart + 1]*encoded // by profile
}

// encoded is an encoded state.
type encoded struct {
	snapshot ahp.Snapshot
	texts    jsonrpc.Pieces // the texts that snapshot.Meta.Texts describes
	size     int
}

const (
	// apart is the index of the form with texts beside the state.
	apart = 3
	// leastApart is the length of texts, in bytes, from which on that form is used.
	leastApart = 4 << 10
)

func stateOf(tx core.Tx, ch *core.Channel, state any) *snapshot {
	return &snapshot{uri: ch.URI, state: state, seq: tx.Seq(), last: ch.Last(), size: contentSize(state)}
}

// encode encodes the state once for each form. texts says that a terminal's texts may be beside the
// state.
func (s *snapshot) encode(p ahp.Profile, texts bool) (*encoded, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, state := int(p), s.state
	terminal, is := state.(ahp.TerminalState)
	if texts = texts && is && p == ahp.V1 && s.size >= leastApart; texts {
		at = apart
	}
	if s.encoded[at] != nil {
		return s.encoded[at], nil
	}
	e := &encoded{snapshot: ahp.Snapshot{Resource: s.uri, FromSeq: s.seq}}
	if texts {
		var all []string
		state, all = wire.Apart(terminal)
		for _, t := range all {
			if !utf8.ValidString(t) { // as in JSON
				t = string([]rune(t)) // as JSON has it
			}
			e.texts = append(e.texts, unsafe.Slice(unsafe.StringData(t), len(t)))
			e.snapshot.Meta.Texts = append(e.snapshot.Meta.Texts, len(t))
		}
		e.size = e.texts.Size()
	}
	raw, err := ahp.Encode(p, state)
	if err != nil {
		return nil, ahp.Internal("encode the state of %s: %v", s.uri, err)
	}
	e.snapshot.State, e.size = raw, e.size+len(raw)
	s.encoded[at] = e
	return e, nil
}

// snapshot takes a channel's state and subscribes c at the same time, with at most within bytes of
// content. If c is subscribed already, what is pending is sent before the reply, because the state
// contains it. A terminal's state that the batch has already is used if no action followed; what is
// pending follows it then.
func (c *Conn) snapshot(tx core.Tx, b *batch, ch *core.Channel, within int) *snapshot {
	key := portion{ch, within}
	s := b.made[key]
	if s == nil || s.last != ch.Last() {
		ch.Body.Settle(tx)
		state, less := c.s.Channels.StateWithin(tx, ch, within)
		if !less {
			state = ch.Body.State(tx)
		}
		s = stateOf(tx, ch, c.s.Channels.ShownState(tx, c.Principal, state))
		b.size += s.size
		if less { // it is the same for everybody
			b.made[key] = s
		}
	} else {
		b.shared += s.size
	}
	c.Out.Hold()
	tx.Subscribe(ch, c.Link)
	c.s.Channels.Watched(tx, c.Link, ch) // what follows comes after the state
	return s
}

// reply encodes a result with snapshots, without copying their states.
func (c *Conn) reply(list []*encoded, result func([]ahp.Snapshot) any) (any, error) {
	const member, none = `"state":`, "null"
	bare := make([]ahp.Snapshot, len(list))
	for i, e := range list {
		bare[i] = e.snapshot
		bare[i].State = json.RawMessage(none)
	}
	raw, err := ahp.Encode(c.Profile, result(bare))
	if err != nil {
		return nil, err
	}
	around := bytes.Split(raw, []byte(member+none)) // no string contains this, because its quotes would be escaped
	if len(around) != len(list)+1 {
		return nil, ahp.Internal("encode %d states: there is room for %d", len(list), len(around)-1)
	}
	pieces := jsonrpc.Pieces{around[0]}
	var texts jsonrpc.Pieces
	for i, e := range list {
		pieces = append(pieces, []byte(member), e.snapshot.State, around[i+1])
		texts = append(texts, e.texts...)
	}
	if len(texts) > 0 {
		return jsonrpc.Beside{Result: pieces, Bytes: texts}, nil
	}
	return pieces, nil
}
