package output

import (
	"errors"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Pack has what is kept of long output take less memory, until it is looked at again or more comes: it leaves
// the store, of which a piece keeps a whole block, and is packed by Zstandard. It reports
// whether there was anything to do.
func (c *Command) Pack() bool {
	if c.Tail.size == 0 || c.Head.rests && c.Tail.rests {
		return false
	}
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(64<<10), zstd.WithEncoderCRC(false), zstd.WithAllLitEntropyCompression(true)) // It fails for options only.
	c.Head.pack(e)
	c.Tail.pack(e)
	return true
}

func (r *Range) pack(e *zstd.Encoder) {
	if r.rests {
		return
	}
	plain := r.Bytes()
	if p := e.EncodeAll(plain, nil); len(p) < len(plain)*7/8 {
		plain, r.packed = slices.Clone(p), true
	}
	r.pieces, r.rests = [][]byte{slices.Clip(plain)}, true
}

// Move has what is packed lie where to says, with the same bytes, which must not change.
func (c *Command) Move(to func(packed []byte) []byte) {
	for _, r := range []*Range{&c.Head, &c.Tail} {
		if r.packed {
			r.pieces[0] = to(r.pieces[0])
		}
	}
}

// Packed is the memory of head and tail while both are packed.
func (c *Command) Packed() (head, tail []byte, are bool) {
	if !c.Head.packed || !c.Tail.packed {
		return nil, nil, false
	}
	return c.Head.pieces[0], c.Tail.pieces[0], true
}

// unpacker unpacks one range at a time, of no more than there may be.
var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, _ := zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(HeadBytes+TailBytes)) // It fails for options only.
	return d
})

// Unpack is what was packed of a size that is known.
func Unpack(packed []byte, size int) ([]byte, error) {
	if size < 0 || size > TailBytes {
		return nil, errors.New("packed output is too long")
	}
	b, err := unpacker().DecodeAll(packed, make([]byte, 0, size))
	if err == nil && len(b) != size {
		err = errors.New("packed output has another length")
	}
	return b, err
}

// open makes the range what it was before it was packed.
func (r *Range) open() {
	if r.packed {
		b, _ := Unpack(r.pieces[0], r.size) // It was packed here.
		r.pieces, r.packed = [][]byte{slices.Clip(b)}, false
	}
	r.rests = false
}
