package filter

import (
	"testing"

	"tandemux/emulator/emutest"
)

func BenchmarkFilter(b *testing.B) {
	for _, name := range []string{"ascii", "sgr", "tui", "unicode", "shell"} {
		b.Run(name, func(b *testing.B) {
			var f Filter
			dst := make([]byte, 0, 2<<20)
			b.SetBytes(int64(len(emutest.Streams()[name])))
			b.ReportAllocs()
			for b.Loop() {
				dst = f.Add(dst[:0], emutest.Streams()[name])
			}
		})
	}
}
