package wsrpc

import "encoding/binary"

// frames follows the frames of what is read.
type frames struct {
	limit   int64 // of a message, in bytes; 0 for none
	over    bool  // a message is longer
	head    []byte
	left    int64 // to come of the frame
	message int64 // what the frames of the message have said
}

// take goes on with what was read, and gives how much of it lies before a frame that is
// refused.
func (f *frames) take(p []byte) int {
	for at := 0; f.limit > 0 && at < len(p); {
		if f.left > 0 {
			n := min(f.left, int64(len(p)-at))
			f.left, at = f.left-n, at+int(n)
			continue
		}
		f.head = append(f.head, p[at])
		at++
		size, whole := length(f.head)
		if !whole {
			continue
		}
		began := max(at-len(f.head), 0)
		first := f.head[0] & 0x0f
		f.head = f.head[:0]
		if f.left = int64(size); f.left < 0 {
			f.limit = 0 // no length at all, which the library refuses
			break
		}
		if first >= 0x8 { // of the protocol, and short
			continue
		}
		if first != 0 {
			f.message = 0
		}
		if f.left > f.limit-f.message {
			f.over = true
			return began
		}
		f.message += f.left
	}
	return len(p)
}

// length is what a frame's header says of its length, once it is whole.
func length(head []byte) (size uint64, whole bool) {
	if len(head) < 2 {
		return 0, false
	}
	more, mask := 0, int(head[1]>>7)*4
	switch size = uint64(head[1] & 0x7f); size {
	case 126:
		more = 2
	case 127:
		more = 8
	}
	if len(head) < 2+more+mask {
		return 0, false
	}
	switch more {
	case 2:
		size = uint64(binary.BigEndian.Uint16(head[2:]))
	case 8:
		size = binary.BigEndian.Uint64(head[2:])
	}
	return size, true
}
