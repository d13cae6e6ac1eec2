package native

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"tandemux/emulator"
	"tandemux/emulator/native/grapheme"
	"tandemux/internal/soak"
)

// The table is that of emulator.RuneWidth, for every rune.
func TestWidths(t *testing.T) {
	for r := rune(0); r <= 0x10ffff; r++ {
		if r >= 0xd800 && r <= 0xdfff {
			continue
		}
		if got, want := grapheme.Of(r).Width(), emulator.RuneWidth(r); got != want {
			t.Fatalf("%U is %d wide, want %d", r, got, want)
		}
	}
}

// Text falls into the same clusters of the same widths as with the libraries
// that the rest of tandemux measures text with.
func TestClustersAreUAX29(t *testing.T) {
	var pool []rune
	for from, r := rune(0xa0), rune(0xa0); r <= 0x10ffff; r++ {
		p := grapheme.Of(from)
		if r < 0x10ffff && grapheme.Of(r+1) == p {
			continue
		}
		if p != grapheme.Plain && p.Class() != grapheme.Control && p.Class() != grapheme.Prepend && (p.Width() > 0 || p.Class() != grapheme.Other) {
			pool = append(pool, from, (from+r)/2) // the others are not shown, or apart on purpose
		}
		from = r + 1
	}
	pool = append(pool, []rune("aé日👩👩👩👧🇩🇪🇫👍🏽☁1#\ufe0f\ufe0f\u200d\u200d\u200d\u0301\u0301ᄀ가각ᅡᆨक्षि\u094d\u094d")...)
	common := pool[len(pool)-34:]
	for seed := range uint64(soak.Short(800, 4000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		text := []rune{'x'}
		for range 12 {
			from := pool
			if r.IntN(3) > 0 {
				from = common
			}
			text = append(text, from[r.IntN(len(from))])
		}
		s := string(text)
		var want []string
		for it := graphemes.FromString(s); it.Next(); {
			want = append(want, it.Value())
		}
		e := newEngine(emulator.Options{Cols: 80, Rows: 1})
		e.Write([]byte(s))
		if slices.ContainsFunc(want, apart) {
			continue
		}
		x := 0
		for _, c := range want {
			w := emulator.ClusterWidth(c)
			cell := e.Line(0, nil)[x]
			if got := string(cell.Rune) + cell.Combining; got != c || int(cell.Width) != w {
				t.Fatalf("seed %d, %+q: cell %d is %+q, %d wide; want %+q, %d wide", seed, s, x, got, cell.Width, c, w)
			}
			x += w
		}
	}
}

// apart reports whether we differ on purpose: a skin tone joins only an emoji,
// halfwidth voicing marks stand alone, vowels and finals of Hangul never do.
func apart(cluster string) bool {
	runes := []rune(cluster)
	for i, r := range runes {
		switch {
		case r == 0xff9e || r == 0xff9f:
			return true
		case i > 0 && grapheme.Of(r).Class() == grapheme.Extend && grapheme.Of(r).Width() == 2 && grapheme.Of(runes[0]).Class() != grapheme.Pict:
			return true
		case i == 0 && grapheme.Of(r).Width() == 0:
			return true
		}
	}
	return strings.ContainsRune(cluster, 0xfffd)
}
