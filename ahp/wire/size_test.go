package wire

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// Size is what quote writes, whatever lies where in its words of eight bytes.
func TestSize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const letters = "abcdefgh \x1b\n\r\t\"\\\b\f\x00\x1f\x7fé漢😀\xff\x80"
	for range 20000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			if b[i] = 'x'; r.IntN(4) == 0 {
				b[i] = letters[r.IntN(len(letters))]
			}
		}
		dst := make([]byte, 6*len(b)+16)
		if n, want := Size(string(b)), quote(dst, string(b)); n != want {
			t.Fatalf("%q: %d, quote writes %d", b, n, want)
		}
	}
}

func BenchmarkSize(b *testing.B) {
	s := strings.Repeat("00000001 the quick brown fox jumps over the lazy dog 1234\r\n", 20000)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Size(s)
	}
}
