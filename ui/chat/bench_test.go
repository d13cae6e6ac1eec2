package chat

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
)

// article is about n bytes of Markdown of many kinds.
func article(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "## Section %d\n\nA paragraph with **bold**, `code` and a [link](https://example.org/%d) that wraps over more than one line of the pane.\n\n", i, i)
		b.WriteString("- one\n- two\n  - three\n\n```go\nfunc f(x int) string {\n\treturn \"x\" // comment\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n")
	}
	return b.String()[:n]
}

// stream draws after each piece of a text that already has before bytes, and gives
// the time for each.
func stream(t testing.TB, before, pieces int) time.Duration {
	s := newStage(t, 100, 40)
	s.c.Reset(ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: "ahp-chat:/1"}})
	s.begin("write")
	s.say("a", article(before))
	s.draw()
	more := article(pieces * 50)
	start := time.Now()
	for i := range pieces {
		s.apply(ahp.ChatDelta{TurnID: "t1", PartID: "a", Content: more[i*50 : i*50+50]})
		s.draw()
	}
	return time.Since(start) / time.Duration(pieces)
}

// BenchmarkStream streams Markdown in pieces of 50 bytes and draws after each. The
// time for a piece must not grow with what came before.
func BenchmarkStream(b *testing.B) {
	for _, before := range []int{0, 100 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("after=%dk", before>>10), func(b *testing.B) {
			s := newStage(b, 100, 40)
			s.c.Reset(ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: "ahp-chat:/1"}})
			s.begin("write")
			s.say("a", article(before))
			s.draw()
			more := article(1 << 20)
			b.ReportAllocs()
			at := 0
			for b.Loop() {
				if at += 50; at+50 > len(more) {
					at = 0
				}
				s.apply(ahp.ChatDelta{TurnID: "t1", PartID: "a", Content: more[at : at+50]})
				s.draw()
			}
		})
	}
}

// BenchmarkMegabyte streams a whole megabyte, drawing after each piece.
func BenchmarkMegabyte(b *testing.B) {
	text := article(1 << 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := newStage(b, 100, 40)
		s.c.Reset(ahp.ChatState{ChatSummary: ahp.ChatSummary{Resource: "ahp-chat:/1"}})
		s.begin("write")
		s.say("a", "")
		for at := 0; at < len(text); at += 200 {
			s.apply(ahp.ChatDelta{TurnID: "t1", PartID: "a", Content: text[at:min(at+200, len(text))]})
			s.draw()
		}
	}
}

// TestStreamStaysCheap: with a megabyte before it, a piece costs little more than
// at the beginning.
func TestStreamStaysCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time")
	}
	const pieces = 300
	for try := 0; ; try++ {
		first, later := stream(t, 4<<10, pieces), stream(t, 1<<20, pieces)
		if later < 3*first+100*time.Microsecond {
			return
		}
		if try == 4 {
			t.Fatalf("a piece of 50 bytes costs %v behind 4 KiB and %v behind 1 MiB", first, later)
		}
	}
}
