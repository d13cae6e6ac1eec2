package terminal

import (
	"bytes"
	"fmt"
	"testing"

	"tandemux/emulator"
	"tandemux/emulator/native"
	"tandemux/host/journal"
	"tandemux/host/keeper"
)

// BenchmarkCheckpoint measures a checkpoint with 10,000 lines of history behind it,
// written to a journal, and reports its size.
func BenchmarkCheckpoint(b *testing.B) {
	var dense bytes.Buffer
	for n := range 10000 {
		for i := range 25 {
			fmt.Fprintf(&dense, "\x1b[38;2;%d;%d;%dmabc ", n%256, i*10, (n*i)%256)
		}
		dense.WriteString("\x1b[m\r\n")
	}
	for name, out := range map[string][]byte{
		"plain": bytes.Repeat(append(bytes.Repeat([]byte("a word "), 17), "\r\n"...), 10000),
		"dense": dense.Bytes(),
	} {
		b.Run(name, func(b *testing.B) {
			master, _ := openPair(b)
			t := build(Config{
				Process: keeper.Process{ID: "bench", Pty: master}, Cols: 120, Rows: 40,
				Emulator: native.New(emulator.Options{Cols: 120, Rows: 40}),
			})
			defer t.Close()
			t.process(append(make([]byte, headroom), out...))
			o := journal.Options{Area: 32 << 20}
			log, _, err := journal.Create(make([]byte, o.Size()), o)
			if err != nil {
				b.Fatal(err)
			}
			var buf []byte
			size := 0
			b.ReportAllocs()
			for b.Loop() {
				_, _, records := t.Checkpoint(false, &buf)
				c, err := log.Begin(true)
				if err != nil {
					b.Fatal(err)
				}
				size = 0
				for _, r := range records {
					size += len(r.Data)
					c.Add(r) //nolint:errcheck // Commit's, too
				}
				if err := c.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}
