package ui_test

import (
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/internal/pace"
	"tandemux/ui"
	"tandemux/ui/paint"
)

// TestEchoBesideFloods: the answer to a key is drawn at once though another pane
// prints and frames are paced; what follows it is paced again (keys beside three
// floods).
func TestEchoBesideFloods(t *testing.T) {
	u := New(t, Options{W: 80, H: 24})
	flood := u.Host.Terminal("sh1")
	u.Host.Program = func(t *Terminal, input string) { t.Print("<" + input + ">") }
	u.Press("ctrl+space |")
	typed := u.Host.Terminal("sh2")
	u.Advance(2 * paint.FrameInterval)

	for range pace.Burst { // after a pause: at once
		flood.Print("flood 1\r\n")
		u.Advance(0)
	}
	u.Shows("flood 1")
	flood.Print("flood 2\r\n")
	u.Advance(0)
	u.Hides("flood 2")
	u.ReadAtOnce("x")
	u.Shows("<x>", "flood 2")
	flood.Print("flood 3\r\n")
	typed.Print("more")
	u.Advance(0)
	u.Hides("flood 3", "more")
	u.Advance(paint.FrameInterval)
	u.Shows("flood 3", "more")
}

// TestEchoAhead: what is typed shows before the host answers where that is far and says that
// it will show; not where it is near, where the configuration says never, or while an older
// part of the terminal is looked at.
func TestEchoAhead(t *testing.T) {
	for name, tt := range map[string]struct {
		trip   time.Duration
		choice string
		shows  bool
	}{
		"near": {5 * time.Millisecond, "", false}, "far": {70 * time.Millisecond, "auto", true},
		"never": {70 * time.Millisecond, "never", false}, "always": {0, "always", true},
	} {
		t.Run(name, func(t *testing.T) {
			u := New(t, Options{W: 60, H: 10, Config: func(c *ui.Config) { c.PredictEcho = tt.choice }})
			u.Host.Trip = tt.trip
			sh := u.Host.Terminal("sh1")
			sh.tell(ahp.TerminalEchoChanged{By: ahp.EchoTty})
			sees := map[bool]func(...string){true: u.Shows, false: u.Hides}
			u.Host.Hold()
			u.Type("a")
			u.Host.Let()
			u.Host.Hold()
			u.Type("bc")
			sees[tt.shows]("abc")
			u.Host.Let()
			u.Advance(time.Second)
			u.Shows("abc")

			u.Host.Hold() // and what does not come goes
			sh.run = func(*Terminal, string) {}
			u.Type("def")
			sees[tt.shows]("abcdef")
			u.Host.Let()
			u.Advance(time.Second)
			u.Hides("d")
		})
	}
}

// TestEchoAheadIdle: nothing wakes the interface once all is confirmed.
func TestEchoAheadIdle(t *testing.T) {
	u := New(t, Options{W: 60, H: 10})
	u.Host.Trip = 70 * time.Millisecond
	u.Host.Terminal("sh1").tell(ahp.TerminalEchoChanged{By: ahp.EchoTty})
	u.Host.Hold()
	u.Type("abc")
	u.Host.Let()
	u.Advance(time.Second)
	written := u.Written
	u.Advance(time.Hour)
	if u.Written != written {
		t.Errorf("%d bytes were written while nothing changed", u.Written-written)
	}
}
