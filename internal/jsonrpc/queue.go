package jsonrpc

import "sync"

// queue is what waits to be written, bounded in bytes and messages.
//
//	done | items[head:] | room
//
// The message being written stays counted until it is out.
type queue struct {
	maxBytes, maxMessages int

	mu      sync.Mutex
	wake    sync.Cond // for the writer: something to write, or closed
	items   [][]byte
	head    int
	writing int // bytes of the message being written; 0 when none is
	bytes   int // of all of them
	closed  bool
	drained chan struct{} // not nil while someone waits for it
}

func newQueue(maxBytes, maxMessages int) *queue {
	q := &queue{maxBytes: maxBytes, maxMessages: maxMessages}
	q.wake.L = &q.mu
	return q
}

// put adds a message. force is for answers, which are never refused: the
// reader stops reading while the queue is over its bounds instead.
func (q *queue) put(msg []byte, force bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return ErrClosed
	}
	if !force && q.bytes > 0 && q.over(len(msg), 1) {
		return ErrQueueFull
	}
	q.items = append(q.items, msg)
	q.bytes += len(msg)
	q.wake.Signal()
	return nil
}

// over reports whether the bounds would be exceeded with so much more.
func (q *queue) over(bytes, messages int) bool {
	return q.bytes+bytes > q.maxBytes || len(q.items)-q.head+messages > q.maxMessages
}

// take waits for the next message. more says that another waits behind it. ok
// is false when the queue is closed and empty. With held it does not wait but
// gives an empty message: the one promised by more was discarded.
func (q *queue) take(held bool) (msg []byte, more, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head == len(q.items) && !q.closed && !held {
		q.wake.Wait()
	}
	if q.head == len(q.items) {
		return nil, false, held
	}
	msg = q.items[q.head]
	q.items[q.head] = nil
	q.head++
	switch {
	case q.head == len(q.items):
		q.items, q.head = q.items[:0], 0
	case q.head > 64 && q.head > len(q.items)/2:
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.writing = len(msg)
	return msg, q.head < len(q.items), true
}

// written says that the message taken last is out.
func (q *queue) written() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= q.writing
	q.writing = 0
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
	q.items, q.head, q.bytes = nil, 0, q.writing
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
