package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/tty"
)

// four is an interface of 200×50 with four panes.
func four(b *testing.B) (*UI, []ahp.URI) {
	b.Helper()
	u := New(b, Options{W: 200, H: 50, Host: func(h *Host) { h.Program = silent }})
	u.Press("ctrl+space |", "ctrl+space -", "ctrl+space h", "ctrl+space -")
	u.Advance(time.Second)
	var uris []ahp.URI
	for _, name := range u.Host.Terminals() {
		uris = append(uris, u.Host.Terminal(name).URI)
	}
	return u, uris
}

// screenful is coloured text that fills a pane of 100×24, different for each n.
func screenful(n int) string {
	var s strings.Builder
	s.WriteString("\x1b[H")
	for y := range 23 {
		for x := range 12 {
			fmt.Fprintf(&s, "\x1b[38;5;%dmword%03d ", (x+y+n)%256, (x*y+n)%1000)
		}
		s.WriteString("\x1b[K\r\n")
	}
	return s.String()
}

// BenchmarkFeed is what the connection's goroutine does for a frame of
// BenchmarkFrame: the emulators' share.
func BenchmarkFeed(b *testing.B) {
	u, uris := four(b)
	screens := []string{screenful(0), screenful(1)}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for _, uri := range uris {
			u.Feed(uri, screens[i%2])
		}
	}
}

// BenchmarkFrame is a frame in which all of four panes changed altogether:
// emulators, composing, comparing, writing.
func BenchmarkFrame(b *testing.B) {
	u, uris := four(b)
	screens := []string{screenful(0), screenful(1)}
	n := u.Written
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for _, uri := range uris {
			u.Feed(uri, screens[i%2])
		}
		u.Frame()
	}
	b.ReportMetric(float64(u.Written-n)/float64(b.N), "B/frame")
}

// BenchmarkEcho is a character of output in one of four panes, from the
// connection to the bytes for the outer terminal.
func BenchmarkEcho(b *testing.B) {
	u, uris := four(b)
	n := u.Written
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		u.Feed(uris[0], "\r"+string(rune('a'+i%26)))
		u.Frame()
	}
	b.ReportMetric(float64(u.Written-n)/float64(b.N), "B/frame")
}

// BenchmarkKey is a key from the decoder to the host's Dispatch.
func BenchmarkKey(b *testing.B) {
	u, _ := four(b)
	u.Mute()
	var d tty.Decoder
	b.ReportAllocs()
	for b.Loop() {
		in, _ := d.Feed([]byte("a"), false)
		u.Model.Update(in)
	}
}

// BenchmarkRedraw is a whole frame from nothing, as after a resize.
func BenchmarkRedraw(b *testing.B) {
	u, uris := four(b)
	for i, uri := range uris {
		u.Feed(uri, screenful(i))
	}
	u.Frame()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		u.Model.Update(tea.WindowSizeMsg{Width: 200, Height: 50 - i%2})
		u.Frame()
	}
}
