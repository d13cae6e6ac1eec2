package pane

import (
	"fmt"
	"testing"

	"tandemux/ahp"
	"tandemux/ui/paint"
)

// BenchmarkDrawCommands draws the echo of a key in a terminal that has run many
// commands.
func BenchmarkDrawCommands(b *testing.B) {
	for _, n := range []int{0, 100, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			v := view(b, 80, 24, "")
			for i := range n {
				v.Feed.Write("$ cmd\r\n")
				id, code := fmt.Sprint(i), 0
				v.Feed.Executed(ahp.TerminalCommandExecuted{CommandID: id, CommandLine: "cmd"})
				v.Feed.Write("out\r\n")
				v.Feed.Finished(ahp.TerminalCommandFinished{CommandID: id, ExitCode: &code})
			}
			c := &paint.Canvas{}
			c.Resize(80, 24)
			look := Look{Signs: signLook, Sticky: StickyBack}
			b.ReportAllocs()
			for b.Loop() {
				v.Feed.Write("x\b")
				v.Draw(c, paint.Rect{W: 80, H: 24}, look)
			}
		})
	}
}
