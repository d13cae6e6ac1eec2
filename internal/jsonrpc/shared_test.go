package jsonrpc

import (
	"testing"
)

// counted counts its releases.
type counted struct{ n int }

func (c *counted) Release() { c.n++ }

// steps is a transport whose writes wait to be told what becomes of them.
type steps struct {
	Transport
	began chan struct{}
	let   chan Tried
}

func (w *steps) TryWrite([]byte, bool) (Tried, error) {
	w.began <- struct{}{}
	return <-w.let, nil
}

func (w *steps) WriteMore([]byte, bool) error {
	w.began <- struct{}{}
	<-w.let
	return nil
}

// TestSharedIsReleasedOnce: whoever shares a message is told once that a queue is
// done with it: when it is written, when it is discarded, not when it was
// refused, and not while it is being written.
func TestSharedIsReleasedOnce(t *testing.T) {
	t.Parallel()
	var written, handed, discarded, refused counted
	w := &steps{let: make(chan Tried), began: make(chan struct{}, 10)}
	q := newQueue(w, Options{MaxQueueBytes: 100, MaxQueueMessages: 10})
	add := func(s *counted, n int) error { return q.add(item{msg: make([]byte, n), shared: s}) }
	for _, s := range []*counted{&written, &handed, &discarded} {
		if err := add(s, 30); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(&refused, 30); err == nil {
		t.Error("the queue takes more than its bound")
	}
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		q.flush()
	}()
	<-w.began
	if written.n != 0 {
		t.Error("released while it is being written")
	}
	w.let <- Written
	<-w.began
	if written.n != 1 {
		t.Errorf("written: released %d times", written.n)
	}
	w.let <- Refused
	<-flushed
	ended := make(chan error, 1)
	go func() { ended <- q.run() }()
	<-w.began
	if n := q.discard(); n != 1 || discarded.n != 1 || handed.n != 0 {
		t.Errorf("%d discarded, released %d times, %d of what is being written", n, discarded.n, handed.n)
	}
	w.let <- Written
	<-w.began // what was promised another message
	w.let <- Written
	q.close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := add(&refused, 1); err == nil {
		t.Error("a closed queue takes more")
	}
	if written.n != 1 || handed.n != 1 || discarded.n != 1 || refused.n != 0 {
		t.Errorf("released %d, %d, %d and %d times", written.n, handed.n, discarded.n, refused.n)
	}
	if all, unasked := q.size(); all != 0 || unasked != 0 {
		t.Errorf("%d bytes are left, %d of them unasked", all, unasked)
	}
}
