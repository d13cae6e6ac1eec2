package filter

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// decodePieces decodes pieces and ends the input.
func decodePieces(pieces ...string) string {
	var d Decoder
	var out []byte
	for _, p := range pieces {
		out = append(out, d.Decode(append(make([]byte, Headroom), p...))...)
	}
	return string(append(out, d.Flush()...))
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{
		{"", ""},
		{"ascii", "ascii"},
		{"é世🙂", "é世🙂"},
		{"a\xffb", "a\uFFFDb"},
		{"\xe4\xb8x", "\uFFFDx"},
		{"\xe4\xb8", "\uFFFD"},
		{"\xf0\x9f\x99", "\uFFFD"},
		{"\xf0\x9f\x1b[m", "\uFFFD\x1b[m"},
		{"\xc0\xaf", "\uFFFD\uFFFD"},
		{"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
		{"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},
		{"\x80\x80", "\uFFFD\uFFFD"},
		{"\xe4\xe4\xb8\x96", "\uFFFD世"},
		{"\uFFFD", "\uFFFD"},
		{"gr\xfc\xdfe", "gr\uFFFD\uFFFDe"},
	} {
		if got := decodePieces(tt.in); got != tt.want {
			t.Errorf("%q: %q; want %q", tt.in, got, tt.want)
		}
		for i := range len(tt.in) + 1 {
			for j := range len(tt.in) - i + 1 {
				if got := decodePieces(tt.in[:i], tt.in[i:i+j], tt.in[i+j:]); got != tt.want {
					t.Errorf("%q split at %d and %d: %q; want %q", tt.in, i, i+j, got, tt.want)
				}
			}
		}
	}
}

// Whole runes are passed on at once, whatever follows.
func TestDecodeHoldsLittle(t *testing.T) {
	t.Parallel()
	var d Decoder
	in := "世界\xe7\x95"
	if got := string(d.Decode(append(make([]byte, Headroom), in...))); got != "世界" || d.n != 2 {
		t.Errorf("%q: %q at once, %d held", in, got, d.n)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("é世🙂\xff\xe4\xb8"), uint64(1))
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		whole := decodePieces(string(in))
		if !utf8.ValidString(whole) {
			t.Fatalf("%q: %q is not valid", in, whole)
		}
		if utf8.Valid(in) && whole != string(in) {
			t.Fatalf("valid %q became %q", in, whole)
		}
		r := rand.New(rand.NewPCG(seed, 1))
		var pieces []string
		for rest := string(in); rest != ""; {
			n := 1 + r.IntN(len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		if got := decodePieces(pieces...); got != whole {
			t.Fatalf("%q: %q; whole: %q", pieces, got, whole)
		}
	})
}
