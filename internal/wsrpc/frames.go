package wsrpc

import (
	"bytes"
	"encoding/binary"
	"math"
)

// frames follows the frames of what is read.
type frames struct {
	limit   int64 // of a message, in bytes; 0 for none
	over    bool  // a message is longer
	head    []byte
	left    int64 // to come of the frame
	message int64 // what the frames of the message have said
	parts   bool  // more frames of it follow
	begun   bool  // what comes before frames is over: a host's answer to the upgrade
}

// between reports whether a message, or a frame of the protocol, is next.
func (f *frames) between() bool { return f.begun && len(f.head) == 0 && f.left == 0 && !f.parts }

// take goes on with what was read, and gives how much of it lies before the end of a frame,
// or before one that is refused.
func (f *frames) take(p []byte) int {
	if f.left > 0 {
		n := min(f.left, int64(len(p)))
		f.left -= n
		return int(n)
	}
	for at, b := range p {
		f.head = append(f.head, b)
		if !f.begun {
			if f.begun = bytes.HasSuffix(f.head, []byte("\r\n\r\n")); f.begun {
				f.head = f.head[:0]
				return at + 1
			}
			continue
		}
		size, whole := length(f.head)
		if whole == 0 {
			continue
		}
		began, first := max(at+1-len(f.head), 0), f.head[0]
		f.head = f.head[:0]
		if size > math.MaxInt64 { // no length at all, which the library refuses
			f.left = math.MaxInt64
			return at + 1
		}
		f.left = int64(size)
		if kind := first & 0x0f; kind < 0x8 { // else it is of the protocol, and short
			if kind != 0 {
				f.message = 0
			}
			if f.limit > 0 && f.left > f.limit-f.message {
				f.over = true
				return began
			}
			f.message += f.left
			f.parts = first < 0x80
		}
		return at + 1
	}
	return len(p)
}

// length is what a frame's header says of its length, and the header's own; that is 0 while
// it is not whole.
func length(head []byte) (size uint64, own int) {
	if len(head) < 2 {
		return 0, 0
	}
	own = 2 + int(head[1]>>7)*4
	switch size = uint64(head[1] & 0x7f); size {
	case 126:
		own += 2
	case 127:
		own += 8
	}
	switch {
	case len(head) < own:
		return 0, 0
	case size == 126:
		size = uint64(binary.BigEndian.Uint16(head[2:]))
	case size == 127:
		size = binary.BigEndian.Uint64(head[2:])
	}
	return size, own
}
