package ui_test

import (
	"testing"

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

	flood.Print("flood 1\r\n") // after a pause: at once
	u.Advance(0)
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
