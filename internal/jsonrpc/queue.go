package jsonrpc

import (
	"slices"
	"sync"
)

// queue is what waits to be written, bounded in bytes and messages.
//
//	done | items[head:] | room
//
// The message being written counts until the transport has taken it. One goroutine
// writes at a time and is said to hold the pen: the writer goroutine or, for small
// messages that the transport takes at once, the one that flushes.
type queue struct {
	maxBytes, maxMessages int

	mu      sync.Mutex
	wake    sync.Cond // for the writer: something to do, or closed
	pen     pen
	due     bool  // the writer is to write what there is
	stuck   bool  // the transport holds back what it could not write at once
	failed  error // of a write with a borrowed pen
	items   []item
	head    int
	writing item // the message being written; empty when none is
	bytes   int  // of all of them
	answers int  // of those that are answers
	closed  bool
	drained chan struct{} // not nil while someone waits for it
}

// item is a message.
type item struct {
	msg    []byte
	answer bool
	shared Shared // nil when nobody wants to know when it has gone
}

// gone releases a shared message, which the queue no longer needs.
func (i *item) gone() {
	if i.shared != nil {
		i.shared.Release()
	}
}

// pen says which goroutine may write.
type pen uint8

const (
	free pen = iota
	writing
	borrowed
)

func newQueue(maxBytes, maxMessages int) *queue {
	q := &queue{maxBytes: maxBytes, maxMessages: maxMessages}
	q.wake.L = &q.mu
	return q
}

// put adds a message. force is for answers, which are never refused: the
// reader stops reading while the queue is over its bounds instead.
func (q *queue) put(msg []byte, force bool) error { return q.add(item{msg: msg, answer: force}) }

func (q *queue) add(it item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	msg, force := it.msg, it.answer
	if q.closed {
		return ErrClosed
	}
	if !force && q.bytes > 0 && q.over(len(msg), 1) {
		return ErrQueueFull
	}
	q.items = append(q.items, it)
	q.bytes += len(msg)
	if force {
		q.answers += len(msg)
	}
	return nil
}

// start makes the writer write what there is.
func (q *queue) start() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.head < len(q.items) {
		q.due = true
		q.wake.Signal()
	}
}

// borrow gives the pen and the first message to a caller that will not block, if
// nobody has the pen and at most most bytes wait.
func (q *queue) borrow(most int) (msg []byte, more, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pen != free || q.due || q.stuck || q.failed != nil || q.closed || q.head == len(q.items) || q.bytes > most {
		return nil, false, false
	}
	q.pen = borrowed
	msg, more = q.first()
	return msg, more, true
}

// next is called by the holder of a borrowed pen after writing a message, and gives
// the next one. If there is none the pen goes back. held says that the transport
// was promised another message and holds bytes back for it.
func (q *queue) next(held bool) (msg []byte, more, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out()
	if q.head == len(q.items) {
		q.pen, q.stuck = free, held
		q.wake.Signal()
		return nil, false, false
	}
	msg, more = q.first()
	return msg, more, true
}

// handOver gives a borrowed pen to the writer goroutine, with what the transport
// could not write at once, or the error of a failed write.
func (q *queue) handOver(failed error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out()
	q.pen, q.stuck, q.failed = free, failed == nil, failed
	q.wake.Signal()
}

// over reports whether that many more bytes and messages would exceed the bounds.
func (q *queue) over(bytes, messages int) bool {
	return q.bytes+bytes > q.maxBytes || len(q.items)-q.head+messages > q.maxMessages
}

// putBack gives a borrowed pen back, and its message for the writer goroutine to
// write.
func (q *queue) putBack() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = slices.Insert(q.items, q.head, q.writing)
	q.writing = item{}
	q.pen, q.due = free, true
	q.wake.Signal()
}

// take waits for the next message; only the writer goroutine calls it. more says
// that another one follows. ok is false when the queue is closed and empty. The
// message is empty, and there is no waiting, if held is set but the message
// promised by more was discarded, or if a handed-over write left bytes in the
// transport; err is the error of such a write.
func (q *queue) take(held bool) (msg []byte, more, ok bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.pen == writing && !held {
		q.pen = free
	}
	for !held && (q.pen != free || !q.ready()) {
		q.wake.Wait()
	}
	held = held || q.stuck
	q.stuck = false
	switch {
	case q.failed != nil:
		return nil, false, true, q.failed
	case q.head < len(q.items):
		q.pen = writing
		msg, more = q.first()
		return msg, more, true, nil
	case held:
		q.pen = writing
	}
	q.due = false
	return nil, false, held, nil
}

// ready reports whether there is something for the writer to do. The lock is
// held.
func (q *queue) ready() bool {
	if q.head == len(q.items) {
		q.due = false
	}
	return q.due || q.stuck || q.failed != nil || q.closed
}

// first takes the first message out. The lock is held.
func (q *queue) first() (msg []byte, more bool) {
	q.writing = q.items[q.head]
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
	return q.writing.msg, q.head < len(q.items)
}

// written reports that the message taken last was written.
func (q *queue) written() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.out()
}

// out counts the message being written as gone. The lock is held.
func (q *queue) out() {
	q.bytes -= len(q.writing.msg)
	if q.writing.answer {
		q.answers -= len(q.writing.msg)
	}
	q.writing.gone()
	q.writing = item{}
	q.notify()
}

// notify wakes those who wait for room. The lock is held.
func (q *queue) notify() {
	if q.drained != nil && (q.closed || q.half()) {
		close(q.drained)
		q.drained = nil
	}
}

func (q *queue) half() bool {
	return q.bytes <= q.maxBytes/2 && len(q.items)-q.head <= q.maxMessages/2
}

// full reports whether the queue is over its bounds, which only answers do.
func (q *queue) full() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.over(0, 0)
}

func (q *queue) size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// unasked is size without answers.
func (q *queue) unasked() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes - q.answers
}

var closedChan = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// room gives a channel that is closed once the queue is half empty.
func (q *queue) room() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.half() {
		return closedChan
	}
	if q.drained == nil {
		q.drained = make(chan struct{})
	}
	return q.drained
}

// discard drops what is not being written and returns the number of messages.
func (q *queue) discard() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.items) - q.head
	for i := range q.items[q.head:] {
		q.items[q.head+i].gone()
	}
	q.items, q.head, q.bytes, q.answers = nil, 0, len(q.writing.msg), 0
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
