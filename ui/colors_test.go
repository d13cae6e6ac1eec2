package ui_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
)

var (
	solarized = emulator.Colors{
		FG: emulator.RGB(0x65, 0x7b, 0x83), BG: emulator.RGB(0xfd, 0xf6, 0xe3), Cursor: emulator.RGB(1, 2, 3),
		Indexed: [16]emulator.Color{1: emulator.RGB(0xdc, 0x32, 0x2f), 15: emulator.RGB(0xfd, 0xf6, 0xe3)},
	}
	night = emulator.Colors{FG: emulator.RGB(0xee, 0xee, 0xee), BG: emulator.RGB(0x10, 0x10, 0x20), Cursor: emulator.RGB(4, 5, 6)}
)

// TestColorsReachTheHost: what the outer terminal answers at the start goes to
// the host before anything else could ask, and again after a reconnect.
func TestColorsReachTheHost(t *testing.T) {
	u := New(t, Options{})
	u.SetColors(solarized)
	got := last(t, u)
	if got.FG != "#657b83" || got.BG != "#fdf6e3" || got.Cursor != "#010203" || len(got.Palette) != 16 || got.Palette[1] != "#dc322f" || got.Palette[0] != "#000000" {
		t.Errorf("the host knows %+v", got)
	}
	if dark, known := u.Model.Outer().Dark(); dark || !known {
		t.Errorf("a light terminal is dark: %v, known: %v", dark, known)
	}
	n := len(u.Host.Painted)
	u.Host.Reconnect(nil)
	u.WaitIdle()
	if len(u.Host.Painted) != n+1 || u.Host.Painted[n].BG != "#fdf6e3" {
		t.Errorf("after a reconnect the host is told %+v", u.Host.Painted[n:])
	}
}

func last(t *testing.T, u *UI) ahp.ColorsParams {
	t.Helper()
	if len(u.Host.Painted) == 0 {
		t.Fatal("the host was told no colours")
	}
	return u.Host.Painted[len(u.Host.Painted)-1]
}

// TestColorsAreAskedAgain: a report of mode 2031 makes the interface ask anew,
// once; the answer to its own question does not.
func TestColorsAreAskedAgain(t *testing.T) {
	u := New(t, Options{})
	asked := func() int { return strings.Count(string(u.Raw), "\x1b]11;?") }
	if n := asked(); n != 1 {
		t.Fatalf("asked %d times at the start", n)
	}
	u.SetColors(solarized)
	if n := asked(); n != 2 {
		t.Fatalf("asked %d times after a change to light", n)
	}
	u.SetColors(night)
	if n, got := asked(), last(t, u); n != 3 || got.BG != "#101020" {
		t.Errorf("asked %d times after a change to dark; the host knows %+v", n, got)
	}
	if dark, _ := u.Model.Outer().Dark(); !dark {
		t.Error("a dark terminal is light")
	}
	// It tells of changes by itself: the focus is no reason to ask.
	u.Read("\x1b[O\x1b[I")
	if n := asked(); n != 3 {
		t.Errorf("asked %d times after the focus came", n)
	}
	written := u.Written
	u.Advance(time.Hour)
	if u.Written != written || u.Timers() != 0 {
		t.Errorf("idle, %d bytes were written and %d timers run", u.Written-written, u.Timers())
	}
}

// TestChangeWhileAsking: a report between question and answers makes the
// answers suspect.
func TestChangeWhileAsking(t *testing.T) {
	u := New(t, Options{})
	u.SetColors(solarized)
	asked := func() int { return strings.Count(string(u.Raw), "\x1b]11;?") }
	n := asked()
	u.Silence(true)
	u.Read("\x1b[?997;1n") // asks
	u.Read("\x1b[?997;2n\x1b]11;rgb:00/00/00\x1b\\")
	u.Silence(false)
	u.Read("\x1b[?62c")
	if got := asked() - n; got != 2 {
		t.Errorf("asked %d times again", got)
	}
	if got := last(t, u); got.BG != "#fdf6e3" {
		t.Errorf("the host knows %+v", got)
	}
}

// TestFocusAsksWhereNothingReports: a terminal without mode 2031 is asked when
// it gets the focus, if it has ever answered.
func TestFocusAsksWhereNothingReports(t *testing.T) {
	for _, answers := range []bool{true, false} {
		u := New(t, Options{Silent: true})
		if answers {
			u.Read("\x1b]11;rgb:ff/ff/ff\x07")
		}
		u.Read("\x1b[?62c")
		n := len(u.Host.Painted)
		if answers != (n == 1) {
			t.Errorf("answers %v: the host was told %d times", answers, n)
		}
		u.Read("\x1b[O\x1b[I")
		if asked := strings.Count(string(u.Raw), "\x1b]11;?"); (asked == 2) != answers {
			t.Errorf("answers %v: asked %d times", answers, asked)
		}
		if answers {
			u.Read("\x1b]11;rgb:00/00/00\x07\x1b[?62c")
			if got := last(t, u); got.BG != "#000000" || got.FG != "" {
				t.Errorf("the host knows %+v", got)
			}
		}
	}
}

// TestSilentTerminal: one that answers nothing gets its first frame and its keys
// all the same, and late answers are no keys.
func TestSilentTerminal(t *testing.T) {
	u := New(t, Options{Silent: true})
	u.Shows("$")
	u.Type("ab")
	u.Advance(10 * time.Second)
	u.Read("\x1b]11;rgb:1212/3434/5656\x1b\\\x1b]4;3;rgb:1/2/3\x07")
	u.Press("c")
	term := u.Host.Terminals()[0]
	if got := u.Host.Terminal(term).Typed(); got != "abc" {
		t.Errorf("the terminal got %q", got)
	}
	if got := last(t, u); got.BG != "#123456" || !slices.Contains(got.Palette, "#112233") {
		t.Errorf("the host knows %+v", got)
	}
}
