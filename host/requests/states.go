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
	// maxBatches is how many batches are given states at the same time.
	maxBatches = 2
	// maxMade bounds the states that are made for one batch, and the actions that are given in
	// place of one, in bytes: but for its last one, no more than that.
	maxMade = 2 << 20
	// smallReply is what may be left in a connection's queue when it leaves its batch.
	smallReply = 256 << 10
	// stateTime is how long a peer that takes its state slowly keeps the others
	// waiting.
	stateTime = time.Second
	// sharedRate is how fast states are given that a batch had already to those who come back,
	// in bytes a second: those who print, and those who keep up, have the rest of the time.
	sharedRate = 100 << 20
	// Those who have fallen behind wait for that between minPause, so that they come together,
	// and maxPause.
	minPause = 100 * time.Millisecond
	maxPause = time.Second
)

// states has requests that give states come in batches: a hundred viewers who fall behind
// together come back together. Those that wait are given what they ask for in one turn,
// and a terminal's state is made and encoded once for all of them. A batch begins when the
// one before has been sent, so that whoever is slow waits, and misses more, instead of
// taking the time of all; and who comes back waits until those before have had time for
// what they got, which the program that prints has, too.
type states struct {
	core *core.Core
	work *sync.WaitGroup // counts who waits for replies to be sent

	mu      sync.Mutex
	in      int      // batches
	waiting []*visit // in the order in which they came
	pause   bool     // for who comes back
}

// visit is a request in a batch, or one that waits for it.
type visit struct {
	do       func(tx core.Tx, b *batch)
	back     bool          // of who was here before
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
	if st.in < maxBatches && slices.ContainsFunc(st.waiting, st.due) {
		st.in++
		go st.run()
	}
}

// due reports whether a visit waits only for a batch. The caller holds mu.
func (st *states) due(v *visit) bool { return !v.back || !st.pause }

// run does what those who wait want, up to maxMade.
func (st *states) run() {
	b := &batch{of: st, made: map[portion]*snapshot{}}
	tx := st.core.Lock()
	st.mu.Lock() // who came while the other lock was waited for is in it
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
	b.made = nil // what is encoded is needed until it is sent, the states are not
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

// leave is called once for each request of a batch. The last makes room for another.
func (b *batch) leave() {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	if b.left--; b.left == 0 {
		b.of.in--
		b.of.next()
	}
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
	encoded [apart + 1]*encoded // by profile
}

// encoded is a state as it is sent.
type encoded struct {
	snapshot ahp.Snapshot
	texts    jsonrpc.Pieces // of snapshot.Meta.Texts
	size     int
}

const (
	// apart is where a snapshot has the state with texts beside it, for who asks for such.
	apart = 3
	// leastApart is how long the texts are, in bytes, for which that is worth it.
	leastApart = 4 << 10
)

func stateOf(tx core.Tx, ch *core.Channel, state any) *snapshot {
	return &snapshot{uri: ch.URI, state: state, seq: tx.Seq(), last: ch.Last(), size: contentSize(state)}
}

// encode encodes the state once for each form; texts says that those of a terminal may lie beside it.
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
			if !utf8.ValidString(t) {
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
	around := bytes.Split(raw, []byte(member+none)) // which no string has: its quotes would be escaped
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
