package ui_test

import (
	"strings"
	"testing"
	"time"

	"tandemux/ui"
)

// above is the screen without the status line.
func above(u *UI) string {
	s := u.Screen()
	return s[:strings.LastIndex(s, "\n")]
}

// TestOutageShows: while the connection is away the last state stays, the status
// line says since when and when the next attempt is, and nothing else moves.
func TestOutageShows(t *testing.T) {
	u := start(t)
	sh := u.Host.Terminal("sh1")
	sh.Print("the last words")
	u.WaitIdle()
	before := above(u)
	lost := u.Time()
	u.Host.Lose()
	u.WaitIdle()
	u.Shows("connection lost, reconnecting")
	u.Host.Retrying(lost, lost.Add(50*time.Millisecond), "connection refused")
	u.WaitIdle()
	u.Shows("connection lost, reconnecting")
	u.Advance(5 * time.Second)
	u.Host.Retrying(lost, lost.Add(37*time.Second), "connection refused")
	u.WaitIdle()
	u.Shows("no connection since 03:04:05, next try 03:04:42: connection refu")
	if got := above(u); got != before {
		t.Errorf("the screen changed to\n%s\nfrom\n%s", got, before)
	}
	// While nothing happens nothing is written, however long that is.
	u.Advance(time.Minute)
	n := u.Written
	u.Advance(time.Hour)
	if u.Written != n {
		t.Errorf("%d bytes were written in an hour of waiting", u.Written-n)
	}
	u.Host.Return()
	u.WaitIdle()
	u.Shows("connected again", "the last words")
	if got := above(u); got != before {
		t.Errorf("afterwards the screen shows\n%s", got)
	}
}

// TestKeysOfAnOutage: what is typed in its first ten seconds arrives in order and
// once; what is typed later, or was kept for longer, does not, and is counted.
func TestKeysOfAnOutage(t *testing.T) {
	u := start(t)
	sh := u.Host.Terminal("sh1")
	u.Type("a")
	u.Host.Lose()
	u.Type("bc")
	u.Shows("2 keys wait")
	if u.Host.Retries == 0 {
		t.Error("typing does not hurry the next attempt")
	}
	u.Advance(9 * time.Second)
	u.Press("left", "d")
	u.Host.Return()
	u.WaitIdle()
	u.Type("e")
	if got := sh.Typed(); got != "abc\x1b[Dde" {
		t.Errorf("typed %q", got)
	}
	u.Hides("not sent", "wait")

	u.Host.Lose()
	u.Type("fg")
	u.Advance(11 * time.Second)
	u.Shows("2 keys not sent")
	u.Type("h")
	u.Shows("3 keys not sent")
	u.Host.Return()
	u.WaitIdle()
	u.Type("i")
	u.Shows("3 keys typed meanwhile not sent")
	if got := sh.Typed(); got != "abc\x1b[Ddei" {
		t.Errorf("typed %q", got)
	}
	u.Advance(time.Minute)
	u.Hides("not sent")
}

// TestKeysOfATerminalThatWent: a terminal that is gone when the connection is
// back gets nothing, and that is said.
func TestKeysOfATerminalThatWent(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	u.Host.Lose()
	u.Type("xy")
	u.Host.Terminal("sh2").Exit(0, "")
	u.Host.Return()
	u.WaitIdle()
	u.Type("z")
	u.Shows("2 keys typed meanwhile not sent")
	if got := u.Host.Terminal("sh1").Typed(); got != "z" {
		t.Errorf("the other terminal got %q", got)
	}
}

// TestLostAgainAtOnce: keys that wait for the word of a host that vanishes again
// still arrive once.
func TestLostAgainAtOnce(t *testing.T) {
	u := start(t)
	u.Host.Lose()
	u.Type("one")
	u.Host.Hold()
	u.Host.Return()
	u.WaitIdle()
	u.Type("two")
	u.Host.Forget()
	u.Host.Lose()
	u.WaitIdle()
	u.Type("three")
	u.Host.Return()
	u.WaitIdle()
	if got := u.Host.Terminal("sh1").Typed(); got != "onetwothree" {
		t.Errorf("typed %q", got)
	}
}

// TestKeysBeforeTheLossIsKnown: a key that meets a connection that has just gone
// waits like those after it.
func TestKeysBeforeTheLossIsKnown(t *testing.T) {
	u := start(t)
	u.Host.LoseUnsaid()
	u.Type("ab")
	u.Host.Lose()
	u.Type("c")
	u.Host.Return()
	u.WaitIdle()
	if got := u.Host.Terminal("sh1").Typed(); got != "abc" {
		t.Errorf("typed %q", got)
	}
}

// TestLostKeysAreNamed: keys that were sent to a host that knows nothing of them
// are spoken of, without showing them: they may be a password.
func TestLostKeysAreNamed(t *testing.T) {
	u := start(t)
	u.Host.Lose()
	u.Host.Lost(u.Host.Terminal("sh1").URI, "secret")
	u.Host.Return()
	u.Advance(5 * time.Second)
	u.Shows("6 keys typed before may not have arrived")
	u.Hides("secret")
}

// TestSilentHost: a host that is stopped is named; keys go to it for ten seconds
// and are refused later.
func TestSilentHost(t *testing.T) {
	u := start(t)
	sh := u.Host.Terminal("sh1")
	u.Host.Silent(u.Time())
	u.WaitIdle()
	u.Shows("the host has not answered since 03:04:05")
	u.Type("a")
	u.Advance(11 * time.Second)
	u.Type("b")
	u.Shows("1 key not sent")
	u.Host.Silent(time.Time{})
	u.WaitIdle()
	u.Hides("has not answered")
	u.Shows("1 key typed meanwhile not sent")
	u.Type("c")
	if got := sh.Typed(); got != "ac" {
		t.Errorf("typed %q", got)
	}
}

// TestPasteInAnOutage: a short one waits like keys, a long one is refused whole,
// and one that has begun is ended properly.
func TestPasteInAnOutage(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = swallow }})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.Print("\x1b[?2004h")
	u.WaitIdle()
	u.Host.Lose()
	u.Paste("short")
	u.Paste(long(1 << 20))
	u.Shows("a paste of this size needs the connection")
	u.Host.Return()
	u.WaitIdle()
	if got := sh.Typed(); got != "\x1b[200~short\x1b[201~" {
		t.Errorf("%d bytes came: %.40q", len(got), got)
	}
	sh.Input = nil
	text := long(256 << 10)
	u.Read("\x1b[200~" + text[:128<<10])
	u.Host.Lose()
	u.Advance(time.Minute)
	u.Read(text[128<<10:] + "\x1b[201~")
	u.Host.Return()
	u.WaitIdle()
	if got := sh.Typed(); got != "\x1b[200~"+pasted(text)+"\x1b[201~" {
		t.Errorf("%d bytes of a begun paste came, want %d; the end is %q", len(got), len(text)+12, got[max(0, len(got)-20):])
	}
	u.Type("k")
	if got := sh.Typed(); !strings.HasSuffix(got, "\x1b[201~k") {
		t.Errorf("afterwards %q", got[max(0, len(got)-20):])
	}
}

// TestLeavingInAnOutage says what was not sent.
func TestLeavingInAnOutage(t *testing.T) {
	u := start(t)
	u.Host.Lose()
	u.Type("ab")
	u.Press("ctrl+space d")
	u.Advance(2 * time.Second)
	if got, ended := u.Ended(); !ended || got.Reason != ui.Detached || got.Note != "detached; the host was not reached any more; 2 keys typed meanwhile not sent" {
		t.Errorf("left with %+v, %v", got, ended)
	}
}
