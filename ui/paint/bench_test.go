package paint_test

import (
	"fmt"
	"testing"

	"tandemux/emulator"
	"tandemux/ui/paint"
)

// BenchmarkFrameWhole is the comparison of a 200×50 screen on which everything
// changed.
func BenchmarkFrameWhole(b *testing.B) {
	var c paint.Canvas
	c.Resize(200, 50)
	p := paint.NewPainter(full)
	lines := [2][]emulator.Cell{}
	for i := range lines {
		for x := range 200 {
			lines[i] = append(lines[i], emulator.Cell{
				Rune: rune('a' + (x+i)%26), Width: 1, Style: emulator.Style{FG: emulator.Indexed(uint8(x / 10))},
			})
		}
	}
	var buf []byte
	n := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for y := range 50 {
			c.Line(0, y, lines[i%2])
		}
		buf = p.Frame(buf[:0], &c, paint.Cursor{Visible: true, Default: true})
		n += len(buf)
	}
	b.ReportMetric(float64(n)/float64(b.N), "B/frame")
}

// BenchmarkFrameKey is the echo of a key.
func BenchmarkFrameKey(b *testing.B) {
	var c paint.Canvas
	c.Resize(200, 50)
	p := paint.NewPainter(full)
	p.Frame(nil, &c, paint.Cursor{})
	var buf []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Text(i%200, 10, 1, fmt.Sprint(i%10), emulator.Style{})
		buf = p.Frame(buf[:0], &c, paint.Cursor{X: (i + 1) % 200, Y: 10, Visible: true, Default: true})
	}
}
