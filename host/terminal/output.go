package terminal

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"tandemux/host/terminal/filter"
)

const (
	// headBytes and tailBytes are how much of one command's output is kept: its
	// beginning and its end. What lies between is counted.
	headBytes = 64 << 10
	tailBytes = 192 << 10
	// cutSearch is how far a line's end is looked for where output is cut.
	cutSearch = 4 << 10
)

// output keeps the head and the tail of a stream. The tail is a ring once it is
// full; nothing is allocated then.
//
//	head [first headBytes]   … omitted …   tail [newest │ oldest]
//	                                               next ─┘
type output struct {
	head, tail []byte
	next       int // where the ring goes on, once it is full
	total      int64
}

func (o *output) add(b []byte) {
	o.total += int64(len(b))
	if n := min(headBytes-len(o.head), len(b)); n > 0 {
		o.head = append(o.head, b[:n]...)
		b = b[n:]
	}
	if len(b) >= tailBytes {
		o.tail, o.next = append(o.tail[:0], b[len(b)-tailBytes:]...), 0
		return
	}
	if n := min(tailBytes-len(o.tail), len(b)); n > 0 {
		o.tail = append(o.tail, b[:n]...)
		b = b[n:]
	}
	for len(b) > 0 {
		n := copy(o.tail[o.next:], b)
		o.next = (o.next + n) % tailBytes
		b = b[n:]
	}
}

// parts is what is kept, and how many bytes between are not. Where some are
// missing, head ends and tail begins with whole lines, or at least characters.
func (o *output) parts() (head, tail []byte, omitted int64) {
	tail = append(slices.Clone(o.tail[o.next:]), o.tail[:o.next]...)
	if int64(len(o.head)+len(tail)) == o.total {
		return append(slices.Clone(o.head), tail...), nil, 0
	}
	head = o.head
	if i := bytes.LastIndexByte(head[max(0, len(head)-cutSearch):], '\n'); i >= 0 {
		head = head[:max(0, len(head)-cutSearch)+i+1]
	} else if k := filter.Incomplete(head); k > 0 {
		head = head[:len(head)-k]
	}
	if i := bytes.IndexByte(tail[:min(len(tail), cutSearch)], '\n'); i >= 0 {
		tail = tail[i+1:]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return slices.Clone(head), tail, o.total - int64(len(head)+len(tail))
}

// from is what is kept of the output behind its first n bytes, as in parts but
// exact: what is missing between head and tail is counted from there.
func (o *output) from(n int64) (head, tail []byte, omitted int64) {
	tail = append(slices.Clone(o.tail[o.next:]), o.tail[:o.next]...)
	if n >= o.total {
		return nil, nil, 0
	}
	if n < int64(len(o.head)) {
		head = slices.Clone(o.head[n:])
		n = int64(len(o.head))
	}
	begins := o.total - int64(len(tail))
	if n >= begins {
		return append(head, tail[n-begins:]...), nil, 0
	}
	return head, tail, begins - n
}

// held is the memory in use.
func (o *output) held() int { return cap(o.head) + cap(o.tail) }

// finish gives back what growing took in excess.
func (o *output) finish() {
	o.head = slices.Clip(slices.Clone(o.head))
	if o.next == 0 {
		o.tail = slices.Clip(slices.Clone(o.tail))
	}
}

// forget drops the output and keeps its size.
func (o *output) forget() { o.head, o.tail, o.next = nil, nil, 0 }
