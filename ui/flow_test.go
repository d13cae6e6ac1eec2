package ui_test

import (
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
)

// swallow is a program that echoes nothing.
func swallow(*Terminal, string) {}

// long is text of about n bytes with characters of several bytes.
func long(n int) string {
	return strings.Repeat("paste me – all of it, in order 日本語\n", n/45+1)
}

// pasted is what a terminal without bracketed paste gets of a text.
func pasted(s string) string { return strings.ReplaceAll(s, "\n", "\r") }

// TestLongPaste: more than the host takes at once goes in pieces, each when the
// one before was taken; what is typed meanwhile comes behind it.
func TestLongPaste(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = swallow }})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	text := long(5 << 20)
	u.Host.Hold()
	u.Paste(text)
	u.Type("x")
	if n := len(sh.Input); n != 1 {
		t.Errorf("%d pieces were sent before the first was answered", n)
	}
	u.Host.Let()
	u.WaitIdle()
	if got := sh.Typed(); got != pasted(text)+"x" {
		t.Errorf("%d bytes of %d came", len(got), len(text)+1)
	}
	for _, piece := range sh.Input {
		if len(piece) > 32<<10 {
			t.Fatalf("a piece of %d bytes", len(piece))
		}
	}
	n := len(sh.Input)
	u.Type("yz")
	if len(sh.Input) != n+2 {
		t.Errorf("after the paste keys come as %q", sh.Input[n:])
	}
}

// TestPasteIntoSlowProgram: pieces that the host has no room for are sent again,
// in order, until it has.
func TestPasteIntoSlowProgram(t *testing.T) {
	room := 100 << 10
	u := New(t, Options{Host: func(h *Host) {
		h.Program = swallow
		h.Refuse = func(_ ahp.URI, a ahp.Action) string {
			in, ok := a.(ahp.TerminalInput)
			if !ok {
				return ""
			}
			if len(in.Data) > room {
				return "the input queue is full"
			}
			room -= len(in.Data)
			return ""
		}
	}})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	text := strings.Repeat("one of many lines\n", 1<<16)
	u.Read("\x1b[200~")
	for rest := text; rest != ""; { // as a terminal's reads bring it
		n := min(4000, len(rest))
		u.Read(rest[:n])
		rest = rest[n:]
	}
	u.Read("\x1b[201~")
	for range 20 {
		room = 100 << 10
		u.Advance(time.Second)
	}
	if got := sh.Typed(); got != pasted(text) {
		t.Errorf("%d bytes of %d came", len(got), len(text))
	}
	// One that reads no more is given up, with a word.
	room = 0
	u.Paste(text)
	u.Advance(33 * time.Second)
	u.Shows("KiB were not typed: the input queue is full")
	room = 1 << 30
	u.Type("a")
	if got := sh.Typed(); got != pasted(text)+"a" {
		t.Errorf("afterwards %q comes", got[len(pasted(text)):])
	}
	if u.Advance(time.Minute); u.Timers() != 0 {
		t.Errorf("%d timers run on", u.Timers())
	}
}

// TestInterruptedPaste: Ctrl-C does not wait for the rest of a paste.
func TestInterruptedPaste(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = swallow }})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Print("\x1b[?2004h")
	u.WaitIdle()
	text := long(1 << 20)
	u.Host.Hold()
	u.Paste(text)
	u.Press("ctrl+c")
	u.Host.Let()
	u.WaitIdle()
	got := sh.Typed()
	if len(got) > 33<<10 || !strings.HasPrefix(got, "\x1b[200~paste me") || !strings.HasSuffix(got, "\x1b[201~\x03") {
		t.Errorf("%d bytes came, which end with %q", len(got), got[max(0, len(got)-20):])
	}
}

// TestPasteOverReconnect: a piece that the host never answers for does not block
// the keyboard for good.
func TestPasteOverReconnect(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = swallow }})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	u.Host.Hold()
	u.Paste(long(1 << 20))
	u.Host.Forget()
	u.Host.Reconnect(nil)
	u.Advance(6 * time.Second)
	u.Shows("KiB were not typed: the connection was lost")
	n := len(sh.Input)
	u.Type("a")
	if got := sh.Input[n:]; len(got) != 1 || got[0] != "a" {
		t.Errorf("afterwards %q comes", got)
	}
}
