package output

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Output that is cut knows how much of it there was, at every size.
func TestOutputSizes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	for _, size := range []int{0, 1, HeadBytes - 1, HeadBytes, HeadBytes + 1, HeadBytes + TailBytes - 1, HeadBytes + TailBytes, HeadBytes + TailBytes + 1, 700_001} {
		var o Command
		var s Store
		var all []byte
		for len(all) < size {
			piece := make([]byte, min(size-len(all), 1+r.IntN(5000+size/3)))
			for i := range piece {
				piece[i] = byte('a' + r.IntN(26))
			}
			if o.Add(s.Add(piece)); size%2 == 1 && r.IntN(4) == 0 {
				o.Pack()
			}
			all = append(all, piece...)
		}
		if size%2 == 1 {
			o.Pack()
			if o.Pack() || o.Held() != min(size, HeadBytes+TailBytes) {
				t.Errorf("%d bytes: packed again, or %d held", size, o.Held())
			}
			if head, tail, are := o.Packed(); are && (len(head) > HeadBytes*7/8 || len(tail) > TailBytes*7/8) || !are && size > HeadBytes+TailBytes {
				t.Errorf("%d bytes: packed %v, %d and %d", size, are, len(head), len(tail))
			}
		}
		head, tail, omitted := o.Parts()
		if !bytes.HasPrefix(all, head) || !bytes.HasSuffix(all, tail) || int64(len(head)+len(tail))+omitted != int64(size) {
			t.Errorf("%d bytes: %d+%d+%d", size, len(head), omitted, len(tail))
		}
		if size <= HeadBytes+TailBytes && omitted > 0 {
			t.Errorf("%d of %d bytes omitted", omitted, size)
		}
		for n := range 50 {
			from := int64(n * size / 40)
			head, tail, omitted := o.From(from)
			got := append(head, tail...)
			if rest := max(int64(size)-from, 0); int64(len(got))+omitted != rest || !bytes.HasSuffix(all, tail) || omitted == 0 && !bytes.HasSuffix(all, got) {
				t.Errorf("%d bytes from %d: %d+%d", size, from, len(got), omitted)
			}
		}
	}
}

// TestStore: what was given never changes, however much follows; ranges are of the
// same memory, whole and cut as plain bytes are.
func TestStore(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var s Store
		var r Range
		var all, kept []byte
		var given [][]byte
		for range 300 {
			piece := bytes.Repeat([]byte{byte(rnd.Uint32())}, rnd.IntN(1+rnd.IntN(9000)))
			b := s.Room(rnd.IntN(100)) // may be too little
			b = s.Keep(append(b, piece...))
			given = append(given, b)
			all = append(all, piece...)
			r.Add(b)
			if kept = append(kept, piece...); rnd.IntN(9) == 0 {
				n := rnd.IntN(1 + rnd.IntN(200<<10))
				r.Cut(n)
				kept = kept[max(0, len(kept)-n):]
			}
			from := rnd.IntN(len(kept) + 1)
			to := from + rnd.IntN(len(kept)-from+1)
			if !bytes.Equal(r.Bytes(), kept) || r.Size() != len(kept) || !bytes.Equal(r.Append(nil, from, to), kept[from:to]) {
				t.Fatalf("seed %d: %d bytes kept of %d, or others", seed, r.Size(), len(kept))
			}
		}
		if !bytes.Equal(bytes.Join(given, nil), all) {
			t.Fatalf("seed %d: what was given has changed", seed)
		}
		if n := len(r.Pieces()); n > 10+2*len(kept)/leastBlock {
			t.Fatalf("seed %d: %d bytes in %d pieces", seed, len(kept), n)
		}
	}
}
