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

	"tandemux/ahp"
	"tandemux/host/core"
	"tandemux/host/outbox"
	"tandemux/internal/jsonrpc"
)

const (
	// maxBatches is how many batches are given states at the same time.
	maxBatches = 2
	// maxMade bounds the states that are made for one batch, in bytes: but for its last
	// one, no more than that.
	maxMade = 2 << 20
	// smallReply is what may be left in a connection's queue when it leaves its batch.
	smallReply = 256 << 10
	// stateTime is how long a peer that takes its state slowly keeps the others
	// waiting.
	stateTime = 250 * time.Millisecond
	// sharedRate is how fast states may be sent that a batch had already, in bytes a second:
	// those who print, and those who keep up, have the rest of the time.
	sharedRate = 400 << 20
)

// states has requests that give states come in batches: a hundred viewers who fall behind
// together come back together. Those that wait are given what they ask for in one turn,
// and a terminal's state is made and encoded once for all of them. A batch begins when the
// one before has been sent, so that whoever is slow waits, and misses more, instead of
// taking the time of all.
type states struct {
	core *core.Core
	work *sync.WaitGroup // counts who waits for replies to be sent

	mu      sync.Mutex
	in      int      // batches
	waiting []*visit // in the order in which they came
}

// visit is a request in a batch, or one that waits for it.
type visit struct {
	do       func(tx core.Tx, b *batch)
	done     chan struct{} // closed once it was done
	panicked string
	batch    *batch
}

// batch is what some requests are given in one turn.
type batch struct {
	of   *states
	left int // of its requests, whose answers have not been sent; guarded by of.mu

	// With the lock.
	made   map[portion]*snapshot
	size   int // of what was made
	shared int // of what was given once more
}

// portion is what was asked for of a channel.
type portion struct {
	ch     *core.Channel
	within int
}

// turn has do called with the lock, in a batch, which the request that is being handled
// leaves when it is answered. It fails with ctx alone.
func (c *Conn) turn(ctx context.Context, do func(tx core.Tx, b *batch)) error {
	st, v := &c.s.states, &visit{do: do, done: make(chan struct{})}
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

// forgo reports whether a visit still waited, and now does no more.
func (st *states) forgo(v *visit) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	i := slices.Index(st.waiting, v)
	if i >= 0 {
		st.waiting = slices.Delete(st.waiting, i, i+1)
	}
	return i >= 0
}

// next begins a batch, if there may be one more. The caller holds mu.
func (st *states) next() {
	if st.in < maxBatches && len(st.waiting) > 0 {
		st.in++
		go st.run()
	}
}

// run does what those who wait want, up to maxMade.
func (st *states) run() {
	b := &batch{of: st, made: map[portion]*snapshot{}}
	tx := st.core.Lock()
	st.mu.Lock() // who came while the other lock was waited for is in it
	all := st.waiting
	st.waiting = nil
	st.mu.Unlock()
	n := 0
	for n < len(all) && b.size < maxMade {
		all[n].call(tx, b)
		n++
	}
	b.made = nil // what is encoded is needed until it is sent, the states are not
	tx.Unlock()
	st.mu.Lock()
	st.waiting = append(all[n:], st.waiting...)
	if b.left = n; n == 0 {
		st.in--
	}
	st.next()
	st.mu.Unlock()
	for _, v := range all[:n] {
		close(v.done)
	}
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

// leave is called once for each request of a batch.
func (b *batch) leave() {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	switch b.left--; {
	case b.left > 0:
	case b.shared == 0:
		b.end()
	default:
		time.AfterFunc(min(stateTime, time.Duration(b.shared)*time.Second/sharedRate), func() {
			b.of.mu.Lock()
			defer b.of.mu.Unlock()
			b.end()
		})
	}
}

// end makes room for another batch. The caller holds of.mu.
func (b *batch) end() {
	b.of.in--
	b.of.next()
}

// leaveWhenSent leaves when most of what a connection was given is sent, or after
// stateTime.
func (b *batch) leaveWhenSent(c *outbox.Conn) {
	if c.Behind(smallReply) == nil {
		b.leave()
		return
	}
	b.of.work.Go(func() {
		defer b.leave()
		slow := time.NewTimer(stateTime)
		defer slow.Stop()
		for {
			moved := c.Behind(smallReply)
			if moved == nil {
				return
			}
			select {
			case <-moved:
			case <-c.RPC.Done():
				return
			case <-slow.C:
				return
			}
		}
	})
}

// whole is all content of a terminal.
const whole = math.MaxInt

// snapshot is a state that has yet to be encoded, which is done without the lock.
type snapshot struct {
	uri   ahp.URI
	state any
	seq   int64
	last  int64 // the channel's last action
	size  int   // about, of its JSON

	mu      sync.Mutex
	encoded [3]json.RawMessage // by profile
}

func stateOf(tx core.Tx, ch *core.Channel, state any) *snapshot {
	return &snapshot{uri: ch.URI, state: state, seq: tx.Seq(), last: ch.Last(), size: contentSize(state)}
}

func (s *snapshot) encode(p ahp.Profile) (ahp.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.encoded[p] == nil {
		state, err := ahp.Encode(p, s.state)
		if err != nil {
			return ahp.Snapshot{}, ahp.Internal("encode the state of %s: %v", s.uri, err)
		}
		s.encoded[p] = state
	}
	return ahp.Snapshot{Resource: s.uri, State: s.encoded[p], FromSeq: s.seq}, nil
}

// snapshot takes a channel's state and subscribes c in the same instant. What
// is pending goes out before the reply, should c be subscribed already: it is
// part of the state, of which no more content is taken than within. A terminal's that the
// batch has, and that nothing has changed since, is taken as it is: what is pending follows.
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
		if less { // the same for everybody
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

// reply encodes a result with the snapshots of a list, whose states stay where they are.
func (c *Conn) reply(list []ahp.Snapshot, result any) (any, error) {
	const member, none = `"state":`, "null"
	states := make([][]byte, len(list))
	for i := range list {
		states[i], list[i].State = list[i].State, json.RawMessage(none)
	}
	raw, err := ahp.Encode(c.Profile, result)
	if err != nil {
		return nil, err
	}
	around := bytes.Split(raw, []byte(member+none)) // which no string has: its quotes would be escaped
	if len(around) != len(list)+1 {
		return nil, ahp.Internal("encode %d states: there is room for %d", len(list), len(around)-1)
	}
	pieces := jsonrpc.Pieces{around[0]}
	for i, state := range states {
		pieces = append(pieces, []byte(member), state, around[i+1])
	}
	return pieces, nil
}
