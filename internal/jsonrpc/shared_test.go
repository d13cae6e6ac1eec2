package jsonrpc

import (
	"testing"
)

// counted counts its releases.
type counted struct{ n int }

func (c *counted) Release() { c.n++ }

// TestSharedIsReleasedOnce: whoever shares a message is told once that a queue is
// done with it: when it is written, when it is discarded, not when it was
// refused, and not while it is being written.
func TestSharedIsReleasedOnce(t *testing.T) {
	t.Parallel()
	q := newQueue(100, 10)
	var written, discarded, refused, handed counted
	add := func(s *counted, n int) error { return q.add(item{msg: make([]byte, n), shared: s}) }
	for _, s := range []*counted{&written, &handed, &discarded} {
		if err := add(s, 30); err != nil {
			t.Fatal(err)
		}
	}
	if err := add(&refused, 30); err == nil {
		t.Error("the queue takes more than its bound")
	}
	if _, _, ok := q.borrow(1000); !ok {
		t.Fatal("the pen is not free")
	}
	if written.n != 0 {
		t.Error("released while it is being written")
	}
	if _, _, ok := q.next(false); !ok || written.n != 1 {
		t.Errorf("written: released %d times", written.n)
	}
	q.putBack()
	if _, more, ok, err := q.take(false); !more || !ok || err != nil || handed.n != 0 {
		t.Errorf("put back and taken: %v, %v, %v, released %d times", more, ok, err, handed.n)
	}
	if n := q.discard(); n != 1 || discarded.n != 1 || handed.n != 0 {
		t.Errorf("%d discarded, released %d times, %d of what is being written", n, discarded.n, handed.n)
	}
	q.written()
	q.close()
	if err := add(&refused, 1); err == nil {
		t.Error("a closed queue takes more")
	}
	if written.n != 1 || handed.n != 1 || discarded.n != 1 || refused.n != 0 {
		t.Errorf("released %d, %d, %d and %d times", written.n, handed.n, discarded.n, refused.n)
	}
	if q.size() != 0 || q.unasked() != 0 {
		t.Errorf("%d bytes are left, %d of them unasked", q.size(), q.unasked())
	}
}
