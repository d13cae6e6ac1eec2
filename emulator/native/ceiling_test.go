package native

import (
	"fmt"
	"strings"
	"testing"

	"tandemux/emulator"
)

// TestCeiling: what a history takes is bounded in bytes, those of links, styles and marks
// with it.
func TestCeiling(t *testing.T) {
	e := newEngine(emulator.Options{Cols: 80, Rows: 5, History: 1000})
	e.hist.maxSize = 256 << 10
	long := strings.Repeat("x", 2000)
	id := uint64(0)
	for i := range 1000 {
		e.Write(fmt.Appendf(nil, "\x1b]8;;http://h/%d/%s\x1b\\\x1b[38;2;1;%d;%dmlink\x1b]8;;\x1b\\", i, long, i%256, i/256))
		for range 60 {
			id++
			e.Mark(id)
			e.Write([]byte("x"))
		}
		e.Write([]byte("\r\n"))
	}
	taken := 0
	for _, b := range e.hist.blocks {
		taken += len(b.data)
	}
	if taken += len(e.hist.marks)*markBytes + e.hist.n*indexBytes; taken > e.hist.maxSize+blockSize {
		t.Errorf("it takes %d bytes of %d", taken, e.hist.maxSize)
	}
	if e.hist.n == 0 || len(e.hist.marks) == 0 {
		t.Errorf("%d lines with %d marks are kept", e.hist.n, len(e.hist.marks))
	}
}
