package emutest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
)

// Streams are what terminals show, about 1 MB each.
var Streams = sync.OnceValue(func() map[string][]byte {
	return map[string][]byte{
		"ascii": fill(func(b *bytes.Buffer, r *rand.Rand) {
			fmt.Fprintf(b, "%-70.*s\r\n", r.IntN(70), "the quick brown fox jumps over the lazy dog and then some more of it all")
		}),
		"sgr": fill(func(b *bytes.Buffer, r *rand.Rand) {
			for range 8 {
				fmt.Fprintf(b, "\x1b[%d;%dmword%d\x1b[m ", r.IntN(2), 30+r.IntN(8), r.IntN(100))
			}
			b.WriteString("\r\n")
		}),
		"tui": fill(func(b *bytes.Buffer, r *rand.Rand) {
			fmt.Fprintf(b, "\x1b[%d;%dH\x1b[38;5;%dmcell\x1b[K\x1b[m", 1+r.IntN(24), 1+r.IntN(80), r.IntN(256))
		}),
		"shell": fill(func(b *bytes.Buffer, r *rand.Rand) {
			fmt.Fprintf(b, "\x1b]7501;n;A\a$ \x1b]7501;n;B\amake test\r\n\x1b]7501;n;E;make test\a\x1b]7501;n;C;%d\a", r.IntN(1000000))
			for range r.IntN(40) {
				b.WriteString("ok   some/package   0.123s\r\n")
			}
			b.WriteString("\x1b]7501;n;D;0\a")
		}),
		"unicode": fill(func(b *bytes.Buffer, r *rand.Rand) {
			b.WriteString("zażółć 日本語 текст ✓ ")
			if r.IntN(4) == 0 {
				b.WriteString("\r\n")
			}
		}),
	}
})

func fill(line func(*bytes.Buffer, *rand.Rand)) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	var b bytes.Buffer
	for b.Len() < 1<<20 {
		line(&b, r)
	}
	return b.Bytes()
}
