package output

import (
	"slices"
	"strings"
	"unsafe"

	"tandemux/internal/plaintext"
)

const (
	// leastBlock and mostBlock are how large a store's first block is and the later
	// ones become: a quiet terminal needs little. What is added at once is in one
	// block, so some are larger.
	leastBlock = 2 << 10
	mostBlock  = 64 << 10
)

// Store is the memory that output is in: blocks that are filled in turn and never
// changed after. Who has a part of one keeps it.
type Store struct{ block []byte }

// Room gives an empty slice at the end of the output, with a capacity of n at least,
// to append to. Keep follows.
func (s *Store) Room(n int) []byte {
	if n > s.Left() {
		s.block = unset(max(n, min(2*cap(s.block), mostBlock), leastBlock))
	}
	return s.block[len(s.block):]
}

// unset makes a block that is not zeroed, as it is written before it is read.
func unset(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0) // so that the string has the memory
	return unsafe.Slice(unsafe.StringData(b.String()), n)[:0]
}

// Left is how much the present block has room for.
func (s *Store) Left() int { return cap(s.block) - len(s.block) }

// Keep makes what was appended to Room's slice part of the output, and gives it.
// Nobody may change it, or append to it.
func (s *Store) Keep(b []byte) []byte {
	if cap(b) == s.Left() {
		s.block = s.block[:len(s.block)+len(b)]
	} else {
		s.block = b // there was more to append than room
	}
	return b
}

// Add copies b to the end of the output.
func (s *Store) Add(b []byte) []byte { return s.Keep(append(s.Room(len(b)), b...)) }

// Text is b, a part of the output, as a string.
func Text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Join gives a and b as one, if b follows a in the store's memory.
func Join(a, b []byte) (both []byte, ok bool) {
	n := len(a)
	if len(b) == 0 {
		return a, true
	}
	if cap(a)-n < len(b) || &a[:n+1][n] != &b[0] {
		return nil, false
	}
	return a[:n+len(b)], true
}

// Range is a part of the output, in pieces of the store's memory.
type Range struct {
	pieces [][]byte // or, packed, one that has them
	size   int
	packed bool
	rests  bool // Pack has looked at it
}

// Size is in bytes.
func (r *Range) Size() int { return r.size }

// Add adds what a store gave.
func (r *Range) Add(b []byte) {
	if len(b) == 0 {
		return
	}
	r.open()
	r.size += len(b)
	if n := len(r.pieces); n > 0 {
		if both, ok := Join(r.pieces[n-1], b); ok {
			r.pieces[n-1] = both
			return
		}
	}
	r.pieces = append(r.pieces, b)
}

// Cut takes all but the newest n bytes away.
func (r *Range) Cut(n int) {
	drop := r.size - n
	if drop <= 0 {
		return
	}
	r.open()
	r.size = n
	gone := 0
	for gone < len(r.pieces) && drop >= len(r.pieces[gone]) {
		drop -= len(r.pieces[gone])
		gone++
	}
	if r.pieces = slices.Delete(r.pieces, 0, gone); drop > 0 {
		r.pieces[0] = r.pieces[0][drop:]
	}
}

// Append appends the bytes from one offset to another.
func (r *Range) Append(dst []byte, from, to int) []byte {
	r.open()
	for _, p := range r.pieces {
		if from < len(p) && to > 0 {
			dst = append(dst, p[max(from, 0):min(to, len(p))]...)
		}
		from, to = from-len(p), to-len(p)
	}
	return dst
}

// Bytes copies all of it.
func (r *Range) Bytes() []byte { return r.Append(make([]byte, 0, r.size), 0, r.size) }

// Pieces is all of it in order, of which nothing may be changed.
func (r *Range) Pieces() [][]byte {
	r.open()
	return r.pieces
}

// Boundary is the most of p, up to n bytes, that ends with a rune if it is text.
func Boundary(p []byte, n int) int {
	if n >= len(p) {
		return len(p)
	}
	return n - plaintext.Unfinished(p[:n])
}
