package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/emutest"
)

// BenchmarkWrite compares the engines on text that scrolls and on a mix of
// everything that both know.
func BenchmarkWrite(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	streams := map[string][]byte{
		"text": bytes.Repeat([]byte("the quick brown fox jumps over the lazy dog, and then some more\r\n"), 4000),
		"mix":  emutest.Program(r, 80, 24, 20000, agreed),
	}
	for _, name := range Names() {
		for kind, stream := range streams {
			b.Run(name+"/"+kind, func(b *testing.B) {
				e, err := New(name, emulator.Options{Cols: 80, Rows: 24})
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(stream)))
				b.ReportAllocs()
				for b.Loop() {
					e.Write(stream)
					e.Events()
				}
			})
		}
	}
}
