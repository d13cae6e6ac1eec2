package native

import (
	"encoding/binary"
	"math/bits"

	"tandemux/emulator"
)

// sgrEffect is what a control sequence of at most 16 bytes does to any pen, in
// the form of packPen: bits are cleared, then set. Programs repeat few of them,
// and parsing numbers of unforeseeable length is what a processor is worst at.
type sgrEffect struct {
	key        pair // its bytes behind CSI
	clear, set pair
	seen       uint32 // hash of the sequence that came last and isn't known
}

// pair is sixteen bytes in two registers, which an array would not be in.
type pair struct{ lo, hi uint64 }

const (
	memoBits   = 10
	maxMemoLen = 2 + 16 // with CSI
)

// sgrMemo has the effects of sequences that came at least twice, each in the
// place of its hash or, pushed out from there, in the one beside it.
type sgrMemo [1 << memoBits]sgrEffect

// packPen gives a pen as two words.
func packPen(s *emulator.Style) pair {
	return pair{
		uint64(s.FG) | uint64(s.BG)<<32,
		uint64(s.UnderlineColor) | uint64(s.Attrs)<<32 | uint64(s.Underline)<<48,
	}
}

// unpackPen is the inverse of packPen.
func unpackPen(s *emulator.Style, w pair) {
	s.FG, s.BG = emulator.Color(w.lo), emulator.Color(w.lo>>32)
	s.UnderlineColor = emulator.Color(w.hi)
	s.Attrs, s.Underline = emulator.Attrs(w.hi>>32), emulator.Underline(w.hi>>48)
}

// memoKey gives the bytes behind CSI of the sequence that p begins with, up to
// its final byte, if there are at most 16, with their hash, and its length.
func memoKey(p []byte) (key pair, hash uint32, n int) {
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
	return pair{v0, v1}, uint32(h >> 32), n
}

// upToByte is the mask of the bytes up to the one that has the lowest bit of end.
func upToByte(end uint64) uint64 {
	m := end ^ (end - 1)
	return m | m<<1
}

// knownSGR executes the sequence that p begins with if its effect is known. It
// returns its length, else zero.
func (e *Engine) knownSGR(p []byte) int {
	if e.memo == nil || len(p) < maxMemoLen || p[1] != '[' {
		return 0
	}
	key, hash, n := memoKey(p)
	i := hash >> (32 - memoBits)
	m := &e.memo[i]
	if m.key != key {
		if m = &e.memo[i^1]; m.key != key {
			return 0
		}
	}
	w := packPen(&e.cur.pen)
	w.lo = w.lo&^m.clear.lo | m.set.lo
	w.hi = w.hi&^m.clear.hi | m.set.hi
	unpackPen(&e.cur.pen, w)
	e.penChanged()
	e.intervene()
	return n
}

// learnSGR keeps the effect of the sequence that p begins with and that was just
// parsed, when it comes again: what becomes of a pen of all zeros and of one of
// all ones tells what becomes of each bit.
func (e *Engine) learnSGR(p []byte, n int) {
	if len(p) < maxMemoLen || n > maxMemoLen {
		return
	}
	if e.memo == nil {
		e.memo = new(sgrMemo)
	}
	key, hash, _ := memoKey(p)
	i := hash >> (32 - memoBits)
	m := &e.memo[i]
	if m.seen != hash {
		m.seen = hash
		return
	}
	for _, v := range e.parser.Params[:e.parser.NParams] {
		if v == 21 {
			return // Depends on the underline that is there.
		}
	}
	pen := e.cur.pen
	e.cur.pen = emulator.Style{}
	e.parser.SGR(&e.cur.pen)
	zeros := packPen(&e.cur.pen)
	unpackPen(&e.cur.pen, pair{^uint64(0), ^uint64(0)})
	e.parser.SGR(&e.cur.pen)
	ones := packPen(&e.cur.pen)
	e.cur.pen = pen
	if m.key != (pair{}) {
		e.memo[i^1] = *m
	}
	m.key = key
	m.clear = pair{^(zeros.lo ^ ones.lo), ^(zeros.hi ^ ones.hi)}
	m.set = pair{zeros.lo & m.clear.lo, zeros.hi & m.clear.hi}
}
