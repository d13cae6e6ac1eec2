package jsonrpc

import (
	"context"
	"slices"
	"sync"
)

// queue is what waits to be written, bounded in bytes and messages.
//
//	done | items[head:] | room
//
// The message being written counts until the transport has taken it. One goroutine
// writes at a time: the writer goroutine (run) or, for small messages that the
// transport takes at once, the one that flushes.
type queue struct {
	t                     Transport
	direct                DirectWriter // t as one, or nil
	pieces                PieceWriter  // t as one, or nil
	wrote                 func()       // Options.Wrote, or nil
	maxBytes, maxMessages int

	mu      sync.Mutex
	wake    sync.Cond // for the writer goroutine: something to do, or closed
	busy    bool      // a goroutine is writing
	due     bool      // the writer goroutine is to write the queue
	held    bool      // the transport has bytes left to send, see WriteMore and Kept
	failed  error     // the error of a write
	items   []item
	head    int
	writing item // the message being written; empty when none is
	bytes   int  // of all of them
	answers int  // bytes of answers
	closed  bool
	drained chan struct{} // not nil while someone waits for it
}

// item is a message.
type item struct {
	msg    []byte
	rest   Pieces // what follows msg
	answer bool
	shared Shared // the owner of msg, or nil
}

func (i *item) size() int { return len(i.msg) + i.rest.Size() }

// gone releases a shared message, which the queue no longer needs.
func (i *item) gone() {
	if i.shared != nil {
		i.shared.Release()
	}
}

func newQueue(t Transport, o Options) *queue {
	q := &queue{t: t, wrote: o.Wrote, maxBytes: o.MaxQueueBytes, maxMessages: o.MaxQueueMessages}
	q.direct, _ = t.(DirectWriter)
	q.pieces, _ = t.(PieceWriter)
	q.wake.L = &q.mu
	return q
}

// add adds a message. Answers are never refused: the reader stops reading while the
// queue is over its bounds instead.
func (q *queue) add(it item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	if !it.answer && q.bytes > 0 && q.over(it.size(), 1) {
		return ErrQueueFull
	}
	q.items = append(q.items, it)
	q.bytes += it.size()
	if it.answer {
		q.answers += it.size()
	}
	return nil
}

// over reports whether that many more bytes and messages would exceed the bounds.
func (q *queue) over(bytes, messages int) bool {
	return q.bytes+bytes > q.maxBytes || q.waiting()+messages > q.maxMessages
}

func (q *queue) waiting() int { return len(q.items) - q.head }

// run writes what is due, one message after the other, until the queue is closed and
// empty or a write fails.
func (q *queue) run() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for q.busy || !q.due && !q.closed {
			q.wake.Wait()
		}
		switch {
		case q.failed != nil:
			return q.failed
		case q.waiting() > 0 || q.held:
			q.write(false)
		case q.closed:
			return nil
		default:
			q.due = false
		}
	}
}

// start makes the writer goroutine write the queue.
func (q *queue) start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leave()
}

// leave is start with the lock held.
func (q *queue) leave() {
	if q.waiting() > 0 || q.held || q.failed != nil {
		q.due = true
		q.wake.Signal()
	}
}

// flush writes the queue without blocking, if it is small and no other goroutine writes. It
// leaves what the transport does not take at once to the writer goroutine.
func (q *queue) flush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.direct != nil && !q.busy && !q.due && !q.closed && q.bytes <= TryBytes {
		for q.waiting() > 0 && q.write(true) {
		}
		if q.closed {
			q.wake.Signal()
		}
	}
	q.leave()
}

// write writes the first message, or the bytes that the transport has left to send. The caller
// holds the lock, which write releases while it writes. With try it does not wait; it then
// returns false if the rest is for the writer goroutine.
func (q *queue) write(try bool) (done bool) {
	more := false
	if q.waiting() > 0 {
		q.writing = q.take()
		more = q.direct != nil && q.waiting() > 0
	}
	q.busy = true
	msg, rest, size, tried := q.writing.msg, q.writing.rest, q.writing.size(), Written
	q.mu.Unlock()
	apart := len(rest) > 0 && q.pieces != nil && !try
	if len(rest) > 0 && !apart {
		msg = slices.Concat(append(Pieces{msg}, rest...)...)
	}
	var err error
	switch {
	case apart:
		more, err = false, q.pieces.WritePieces(append(Pieces{msg}, rest...))
	case try:
		tried, err = q.direct.TryWrite(msg, more)
	case q.direct != nil:
		err = q.direct.WriteMore(msg, more)
	default:
		err = q.t.Write(context.Background(), msg)
	}
	q.mu.Lock()
	q.busy = false
	if tried == Refused && err == nil {
		q.items = slices.Insert(q.items, q.head, q.writing)
		q.writing = item{}
		return false
	}
	q.held, q.failed = more || tried == Kept, err
	q.bytes -= size
	if q.writing.answer {
		q.answers -= size
	}
	q.writing.gone()
	q.writing = item{}
	q.notify()
	if q.wrote != nil {
		q.wrote()
	}
	return tried == Written && err == nil
}

// take takes the first message out.
func (q *queue) take() item {
	it := q.items[q.head]
	q.items[q.head] = item{}
	q.head++
	switch {
	case q.head == len(q.items):
		q.items, q.head = q.items[:0], 0
	case q.head > 64 && q.head > len(q.items)/2:
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	return it
}

// notify closes drained if the queue has room. The caller holds the lock.
func (q *queue) notify() {
	if q.drained != nil && (q.closed || q.half()) {
		close(q.drained)
		q.drained = nil
	}
}

func (q *queue) half() bool {
	return q.bytes <= q.maxBytes/2 && q.waiting() <= q.maxMessages/2
}

// full reports whether the queue is over its bounds. Only answers make it so.
func (q *queue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.over(0, 0)
}

// size is how many bytes wait, and how many of them are no answers.
func (q *queue) size() (all, unasked int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes, q.bytes - q.answers
}

// room returns a channel that is closed once the queue is half empty.
func (q *queue) room() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.drained == nil {
		q.drained = make(chan struct{})
	}
	drained := q.drained
	q.notify()
	return drained
}

// discard drops what is not being written and returns the number of messages.
func (q *queue) discard() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.waiting()
	for i := range q.items[q.head:] {
		q.items[q.head+i].gone()
	}
	q.items, q.head, q.bytes, q.answers = nil, 0, q.writing.size(), 0
	if q.writing.answer {
		q.answers = q.bytes
	}
	q.notify()
	return n
}

// close refuses further messages; those in the queue can still be taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.notify()
	q.wake.Broadcast()
}
