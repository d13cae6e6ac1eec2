package control

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"tandemux/emulator"
)

// sgrEffect is what a control sequence of at most 16 bytes does to any pen, in the form of PackPen:
// some bits are cleared, then some are set. Programs repeat few sequences, and to parse numbers of
// varying length is slow because branches are mispredicted.
type sgrEffect struct {
	key        PenBits // the sequence's bytes after CSI
	clear, set PenBits
	seen       uint32 // hash of the last unknown sequence
}

// PenBits is a pen in two words, which stay in registers as an array would not.
type PenBits struct{ lo, hi uint64 }

// Default reports whether the pen is the default style.
func (w PenBits) Default() bool { return w.lo|w.hi == 0 }

// BG returns the background colour.
func (w PenBits) BG() emulator.Color { return emulator.Color(w.lo >> 32) }

// Hash returns a hash of the pen, best in its high bits.
func (w PenBits) Hash() uint64 { return (w.lo ^ bits.RotateLeft64(w.hi, 20)) * 0x9e3779b97f4a7c15 }

const (
	memoBits   = 10
	maxMemoLen = 2 + 16 // with CSI
)

// SGRMemo has the effects of SGR sequences that came at least twice. Each is in the place of its hash
// or, if another took that, in the one beside it.
type SGRMemo struct {
	effects *[1 << memoBits]sgrEffect // nil until the first
}

// PackPen returns a pen as two words.
func PackPen(s *emulator.Style) PenBits {
	return PenBits{
		uint64(s.FG) | uint64(s.BG)<<32,
		uint64(s.UnderlineColor) | uint64(s.Attrs)<<32 | uint64(s.Underline)<<48,
	}
}

// Unpack is the inverse of PackPen.
func (w PenBits) Unpack(s *emulator.Style) {
	s.FG, s.BG = emulator.Color(w.lo), emulator.Color(w.lo>>32)
	s.UnderlineColor = emulator.Color(w.hi)
	s.Attrs, s.Underline = emulator.Attrs(w.hi>>32), emulator.Underline(w.hi>>48)
}

// memoKey returns, of the sequence with which p begins, the bytes after CSI up to the final byte if
// there are at most 16, their hash, and the sequence's length.
func memoKey(p []byte) (key PenBits, hash uint32, n int) {
	const final = 0x4040404040404040 // Set in final bytes, clear in parameters.
	v0, v1 := binary.LittleEndian.Uint64(p[2:10]), binary.LittleEndian.Uint64(p[10:18])
	if end := v0 & final; end != 0 {
		n = 2 + bits.TrailingZeros64(end)>>3 + 1
		v0 &= upToByte(end)
		v1 = 0
	} else {
		end = v1 & final
		n = 10 + bits.TrailingZeros64(end)>>3 + 1
		v1 &= upToByte(end)
	}
	h := (v0 ^ bits.RotateLeft64(v1*0x9e3779b97f4a7c15, 32)) * 0xc2b2ae3d27d4eb4f
	return PenBits{v0, v1}, uint32(h >> 32), n
}

// upToByte returns the mask of the bytes up to the one with the lowest set bit of end.
func upToByte(end uint64) uint64 {
	m := end ^ (end - 1)
	return m | m<<1
}

// Apply executes on a pen the sequence with which p begins, if it is an SGR whose effect is known. It
// returns the sequence's length, else zero.
func (m *SGRMemo) Apply(p []byte, pen *emulator.Style) int {
	x, n := m.find(p)
	if n > 0 {
		w := PackPen(pen)
		x.on(&w)
		w.Unpack(pen)
	}
	return n
}

// ApplyBits does what Apply does, on a packed pen.
func (m *SGRMemo) ApplyBits(p []byte, pen *PenBits) int {
	x, n := m.find(p)
	if n > 0 {
		x.on(pen)
	}
	return n
}

func (x *sgrEffect) on(pen *PenBits) {
	pen.lo = pen.lo&^x.clear.lo | x.set.lo
	pen.hi = pen.hi&^x.clear.hi | x.set.hi
}

// find returns the known effect of the sequence with which p begins, and its length.
func (m *SGRMemo) find(p []byte) (x *sgrEffect, n int) {
	if m.effects == nil || len(p) < maxMemoLen || p[1] != '[' {
		return nil, 0
	}
	key, hash, n := memoKey(p)
	if n > maxMemoLen || p[n-1] != 'm' {
		return nil, 0
	}
	i := hash >> (32 - memoBits)
	if x = &m.effects[i]; x.key == key {
		return x, n
	}
	if x = &m.effects[i^1]; x.key == key {
		return x, n
	}
	return nil, 0
}

// Learn keeps the effect of an SGR when it comes for the second time: the n bytes with which p begins,
// which ps has just parsed. What becomes of a pen of all zeros and of one of all ones shows what
// becomes of each bit.
func (m *SGRMemo) Learn(p []byte, n int, ps *Parser) {
	if len(p) < maxMemoLen || n > maxMemoLen {
		return
	}
	if m.effects == nil {
		m.effects = new([1 << memoBits]sgrEffect)
	}
	key, hash, _ := memoKey(p)
	i := hash >> (32 - memoBits)
	x := &m.effects[i]
	if x.seen != hash {
		x.seen = hash
		return
	}
	if slices.Contains(ps.Params[:ps.NParams], 21) {
		return // The effect depends on the underline that is there.
	}
	var pen emulator.Style
	ps.SGR(&pen)
	zeros := PackPen(&pen)
	PenBits{^uint64(0), ^uint64(0)}.Unpack(&pen)
	ps.SGR(&pen)
	ones := PackPen(&pen)
	if x.key != (PenBits{}) {
		m.effects[i^1] = *x
	}
	x.key = key
	x.clear = PenBits{^(zeros.lo ^ ones.lo), ^(zeros.hi ^ ones.hi)}
	x.set = PenBits{zeros.lo & x.clear.lo, zeros.hi & x.clear.hi}
}
