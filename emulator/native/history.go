package native

import (
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// history is the scrollback: a ring of lines, whose encoded bytes (line.go) lie in blocks.
//
//	lines   [.. newest] [oldest next next ..]      ring
//	blocks  [ bytes ][ bytes ][ bytes ..   ]       oldest first
//
// A line lies in one block. A block whose lines are all dropped is reused, so that a full
// history allocates nothing. Pack compresses all blocks but the last while the terminal is
// idle.
type history struct {
	limit int // in logical lines: a wrapped one counts once
	ended int // how many lines end a logical line
	used  int // bytes of all lines and their index entries

	lines []histLine // ring
	head  int        // index of the oldest
	n     int

	blocks  []block       // oldest first
	base    uint32        // number of blocks[0]
	spare   [][]byte      // blocks to use again, at most maxSpare
	open    []byte        // the block unpacked last; read-only
	opened  uint32        // number of that block
	maxSize int           // bounds used and the marks, in bytes
	packer  *zstd.Encoder // while Pack has more to do

	first uint64     // the number of dropped lines, which numbers the oldest line
	marks []histMark // in the order of the text

	// floor is how many of the oldest lines a taller screen must not take back,
	// since the screen was cleared after they left it.
	floor int
}

// block has the bytes of lines.
type block struct {
	data   []byte
	rest   bool // Pack has tried to compress it
	packed bool
}

// histLine is a line's index entry: its place and what is known without decoding it.
type histLine struct {
	block  uint32
	off    uint32
	length uint32
	cells  uint16 // columns that it fills
	flags  lineFlags
}

type lineFlags uint8

const (
	lineWrapped lineFlags = 1 << iota // continues on the next line
	linePlain                         // printable ASCII in the default style, one byte a cell

	sizeShift           = 2
	lineSizes lineFlags = 3 << sizeShift // a lineSize
)

// flags returns the row's flags for its encoded line.
func (r *row) flags() lineFlags {
	f := lineFlags(r.size) << sizeShift
	if r.wrapped {
		f |= lineWrapped
	}
	return f
}

func (l *histLine) size() lineSize { return lineSize(l.flags & lineSizes >> sizeShift) }

func (l histLine) wrapped() bool { return l.flags&lineWrapped != 0 }

// ends returns 1 if the line ends a logical line, else 0.
func (l *histLine) ends() int { return int(lineWrapped &^ l.flags) }

// bytes returns the memory of the line and its index entry, in bytes.
func (l *histLine) bytes() int { return int(l.length) + indexBytes }

const (
	blockSize = 64 << 10
	maxSpare  = 8
	// maxHistoryBytes bounds the memory of a history of up to 65,536 lines, with styles,
	// links and marks; the bound of a longer one is 512 bytes per line. The oldest lines
	// are dropped.
	maxHistoryBytes = 32 << 20
	indexBytes      = 16 // a histLine
	markBytes       = 32 // a histMark
)

func newHistory(limit int) (h history) {
	h.setLimit(limit)
	return h
}

func (h *history) setLimit(limit int) {
	h.limit, h.maxSize = limit, max(maxHistoryBytes, 512*limit)
}

func (h *history) len() int { return h.n }

func (h *history) index(i int) int {
	if i += h.head; i >= len(h.lines) {
		i -= len(h.lines)
	}
	return i
}

// at returns line i, 0 being the oldest.
func (h *history) at(i int) histLine { return h.lines[h.index(i)] }

func (h *history) data(l histLine) []byte {
	return h.bytes(l.block)[l.off : l.off+l.length]
}

// bytes returns a block's bytes, unpacked. The caller must not change them.
func (h *history) bytes(number uint32) []byte {
	b := &h.blocks[number-h.base]
	if !b.packed {
		return b.data
	}
	if h.open == nil || h.opened != number {
		h.open, _ = unpacker().DecodeAll(b.data, make([]byte, 0, blockSize)) // can't fail: Pack made it
		h.opened = number
	}
	return h.open
}

// unpacker decompresses blocks, for all engines.
var unpacker = sync.OnceValue(func() *zstd.Decoder {
	d, _ := zstd.NewReader(nil, zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxSavedHistory)) // fails only for bad options
	return d
})

// Pack implements emulator.Historian.
func (e *Engine) Pack() (more bool) {
	e.flush()
	e.late = late{least: e.late.least}
	h := &e.hist
	h.open, h.spare = nil, nil
	for i := range max(0, len(h.blocks)-1) {
		b := &h.blocks[i]
		if b.rest {
			continue
		}
		if h.packer == nil { // it takes 400 KiB; entropy compression shrinks also text without repeats, as base64
			h.packer, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
				zstd.WithWindowSize(blockSize), zstd.WithEncoderCRC(false), zstd.WithAllLitEntropyCompression(true))
		}
		b.rest = true
		if p := h.packer.EncodeAll(b.data, nil); len(p) < len(b.data)*7/8 {
			b.data, b.packed = slices.Clone(p), true
		}
		return true
	}
	h.packer = nil
	return false
}

// Move implements emulator.Historian.
func (e *Engine) Move(to func(packed []byte) []byte) {
	for i := range e.hist.blocks {
		if b := &e.hist.blocks[i]; b.packed {
			b.data = to(b.data)
		}
	}
}

// clear forgets all lines.
func (h *history) clear() {
	*h = newHistory(h.limit)
}

// setFloor keeps a taller screen from taking back the present lines.
func (h *history) setFloor() { h.floor = h.n }

// endLine makes the newest line end its logical line.
func (h *history) endLine() {
	if h.n == 0 {
		return
	}
	if l := &h.lines[h.index(h.n-1)]; l.wrapped() {
		l.flags &^= lineWrapped
		h.ended++
		h.trim()
	}
}

// over reports whether that many more logical lines and bytes would exceed the bounds. An
// empty history never does.
func (h *history) over(ended, bytes int) bool {
	return h.n > 0 && (h.ended+ended > h.limit || h.used+bytes+len(h.marks)*markBytes > h.maxSize || h.limit == 0)
}

// trim drops the oldest lines until the bounds are kept, and returns how many.
func (h *history) trim() int {
	n := h.n
	for h.over(0, 0) {
		h.dropOldest()
	}
	return n - h.n
}

// count adds the line n times to n, used and ended.
func (h *history) count(l *histLine, n int) {
	h.n += n
	h.used += n * l.bytes()
	h.ended += n * l.ends()
}

// dropOldest forgets the oldest line.
func (h *history) dropOldest() {
	h.count(&h.lines[h.head], -1)
	if h.head++; h.head == len(h.lines) {
		h.head = 0
	}
	h.first++
	for len(h.marks) > 0 && h.marks[0].seq < h.first {
		h.marks = h.marks[1:]
	}
	h.floor = max(0, h.floor-1)
	next := h.base + uint32(len(h.blocks)) - 1
	if h.n > 0 {
		next = h.lines[h.head].block
	}
	for h.base < next {
		b := h.blocks[0]
		if !b.packed && cap(b.data) == blockSize && len(h.spare) < maxSpare {
			h.spare = append(h.spare, b.data[:0])
		}
		h.blocks = slices.Delete(h.blocks, 0, 1)
		h.base++
	}
}

// dropNewest forgets the newest line.
func (h *history) dropNewest() {
	l := h.at(h.n - 1)
	h.count(&l, -1)
	if len(h.marks) > 0 {
		h.marks = h.marks[:h.marksFrom(h.n)]
	}
	h.floor = min(h.floor, h.n)
	for last := len(h.blocks) - 1; h.base+uint32(last) > l.block; last-- {
		h.blocks = h.blocks[:last]
	}
	data := h.bytes(l.block)
	h.blocks[l.block-h.base] = block{data: data[:l.off:cap(data)]}
	h.open = nil
}

// room returns a block's bytes, to which the caller may append n.
func (h *history) room(n int) *[]byte {
	if last := len(h.blocks) - 1; last >= 0 {
		if b := &h.blocks[last]; !b.packed && cap(b.data)-len(b.data) >= n {
			b.rest = false
			return &b.data
		}
	}
	var b []byte
	if last := len(h.spare) - 1; n > blockSize {
		b = make([]byte, 0, n)
	} else if last >= 0 {
		b, h.spare = h.spare[last], h.spare[:last]
	} else {
		b = make([]byte, 0, blockSize)
	}
	h.blocks = append(h.blocks, block{data: b})
	return &h.blocks[len(h.blocks)-1].data
}

// add appends a line whose encoded bytes are data.
func (h *history) add(data []byte, l histLine) {
	b := h.room(len(data))
	l.block, l.off, l.length = h.base+uint32(len(h.blocks))-1, uint32(len(*b)), uint32(len(data))
	*b = append(*b, data...)
	h.append(l)
}

// append adds a line's index entry, after dropping lines to keep the bounds.
func (h *history) append(l histLine) {
	for h.over(l.ends(), l.bytes()) {
		h.dropOldest()
	}
	if h.n == len(h.lines) {
		most := h.limit + h.limit/8 // enough if few are wrapped
		grown := make([]histLine, max(64, min(2*h.n, most), h.n+h.n/8))
		for i := range h.n {
			grown[i] = h.at(i)
		}
		h.lines, h.head = grown, 0
	}
	h.count(&l, 1)
	h.lines[h.index(h.n-1)] = l
}

// push encodes a screen row as the newest line.
func (h *history) push(e *Engine, r *row) {
	n := r.length()
	if len(r.marks) > 0 {
		e.markBuf = h.mark(r, e.markBuf[:0])
	}
	b := h.room(max(n, 4096))
	start := len(*b)
	plain := appendPlain((*b)[start:start:cap(*b)], r.cells[:n])
	l := histLine{cells: uint16(n), flags: r.flags()}
	if len(plain) == n {
		*b = (*b)[:start+n]
		l.flags |= linePlain
	} else {
		e.textBuf = e.appendLine(e.textBuf[:0], r, n)
		h.add(e.textBuf, l)
		return
	}
	l.block, l.off, l.length = h.base+uint32(len(h.blocks))-1, uint32(start), uint32(n)
	h.append(l)
}
