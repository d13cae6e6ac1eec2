package ui_test

import (
	"strings"
	"testing"

	"tandemux/ui/layout"
)

// frame is where the focused pane's frame is on a screen.
func frame(t *testing.T, u *UI, w, h int) layout.Rect {
	t.Helper()
	_, tb := tab(t, u)
	p, ok := tb.Arrange(layout.Rect{W: w, H: h - 1}).Focused()
	if !ok {
		t.Fatal("nothing has the focus")
	}
	return p.Frame
}

func TestFloatingPane(t *testing.T) {
	atSizes(t, "floating", func(t *testing.T, u *UI, golden string) {
		u.Press("ctrl+space |", "ctrl+space f")
		u.Type("above")
		u.Golden(golden)
		cols, rows := u.Host.Terminal("sh3").Size()
		w, h := u.Outer().Size()
		if f := frame(t, u, w, h); cols != f.W-2 || rows != f.H-2 {
			t.Errorf("the terminal is %dx%d in %+v", cols, rows, f)
		}
		u.Press("ctrl+space f")
		u.Hides("above")
		u.Type("below")
		u.Press("ctrl+space f")
		u.Shows("above")
		u.Type("!")
		typed(t, u, map[string]string{"sh1": "", "sh2": "below", "sh3": "above!"})
	})
}

// What a program prints under a floating pane stays under it.
func TestOutputBelowAFloatingPane(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space f")
	u.Type("above")
	before := u.Screen()
	u.Host.Terminal("sh1").Print("\x1b[H" + strings.Repeat(strings.Repeat("x", 40)+"\r\n", 30))
	u.Host.Terminal("sh2").Print("\x1b[H" + strings.Repeat(strings.Repeat("世", 19)+"\r\n", 30))
	u.WaitIdle()
	u.Golden("floating-output")
	f := frame(t, u, 80, 24)
	old, now := strings.Split(before, "\n"), strings.Split(u.Screen(), "\n")
	for y := f.Y; y < f.Y+f.H; y++ {
		was := string([]rune(old[y])[f.X : f.X+f.W])
		if !strings.Contains(now[y], was) {
			t.Errorf("row %d shows %q, its frame had %q", y, now[y], was)
		}
	}
	u.Press("ctrl+space h")
	if !strings.Contains(u.Row(f.Y+2), "│") {
		t.Errorf("focused below, row %d is %q", f.Y+2, u.Row(f.Y+2))
	}
}

// A program in the middle of a frame in a floating pane is not torn by what
// prints below it.
func TestFloatingPaneInTheMiddleOfAFrame(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space f")
	u.Host.Terminal("sh2").Print("\x1b[?2026h\x1b[2J\x1b[Hhalf")
	u.Host.Terminal("sh1").Print("\x1b[Hlower")
	u.WaitIdle()
	u.Hides("half")
	u.Host.Terminal("sh2").Print(" whole\x1b[?2026l")
	u.WaitIdle()
	u.Shows("half whole", "lower")
}

func TestFloatingPaneByMouse(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space f")
	f := frame(t, u, 80, 24)
	u.Drag(f.X+10, f.Y, f.X+5, f.Y-2)
	moved := frame(t, u, 80, 24)
	if want := (layout.Rect{X: f.X - 5, Y: f.Y - 2, W: f.W, H: f.H}); moved != want {
		t.Errorf("dragged by its header it is at %+v, want %+v", moved, want)
	}
	f = moved
	u.Drag(f.X+f.W-1, f.Y+f.H-1, f.X+f.W+3, f.Y+f.H+1)
	if want, got := (layout.Rect{X: f.X, Y: f.Y, W: f.W + 4, H: f.H + 2}), frame(t, u, 80, 24); got != want {
		t.Errorf("dragged by its corner it is at %+v, want %+v", got, want)
	}
	f = frame(t, u, 80, 24)
	u.Drag(f.X, f.Y+3, f.X+70, f.Y+3)
	if got := frame(t, u, 80, 24); got.W != 4 || got.X+got.W != f.X+f.W {
		t.Errorf("its left border dragged over the right one it is at %+v, was %+v", got, f)
	}
	u.Golden("floating-dragged")
	u.Click(2, 3)
	if got := focusTitle(t, u); got != "sh1" {
		t.Errorf("a click below focuses %s", got)
	}
	u.Shows("╭")
}

func TestFloatingPaneByKeys(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space f")
	f := frame(t, u, 80, 24)
	u.Press("ctrl+space shift+left", "shift+left", "shift+down")
	if got := frame(t, u, 80, 24); got.X != f.X-8 || got.Y != f.Y+2 {
		t.Errorf("moved by keys from %+v to %+v", f, got)
	}
	u.Press("ctrl+space H", "H")
	if got := frame(t, u, 80, 24); got.W != f.W-4 {
		t.Errorf("resized by keys from %+v to %+v", f, got)
	}
	u.Press("ctrl+space F")
	if _, tb := tab(t, u); len(tb.Floats) != 0 || len(tb.Panes()) != 3 {
		t.Errorf("put among the others there are %+v", tb)
	}
	u.Press("ctrl+space F")
	if _, tb := tab(t, u); len(tb.Floats) != 1 || !tb.Floating(tb.Focus) {
		t.Errorf("taken out again there are %+v", tb)
	}
	u.Press("ctrl+space z")
	u.Hides("╭", "│")
	u.Press("ctrl+space z", "ctrl+space !")
	if l, tb := tab(t, u); len(l.Tabs) != 2 || len(tb.Floats) != 0 {
		t.Errorf("broken out there are %d tabs and %+v", len(l.Tabs), tb)
	}
	u.Press("ctrl+space shift+left")
	u.Shows("this pane does not float")
}

func TestFloatingPaneStays(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space f")
	u.Type("kept")
	f := frame(t, u, 80, 24)
	u.Press("ctrl+space d")
	again := u.Again(Options{})
	again.Shows("$ kept", "╭", "╯")
	if got := frame(t, again, 80, 24); got != f {
		t.Errorf("attached again it is at %+v, was %+v", got, f)
	}
	// The last tiled pane closes: the floating one takes its place.
	again.Press("ctrl+space h", "ctrl+space o")
	again.Press("ctrl+space x", "y")
	again.Shows("$")
	again.Hides("╭")
	if got := again.Host.Terminals(); len(got) != 1 {
		t.Errorf("terminals %v", got)
	}
}

func TestFloatingPaneInASmallWindow(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space f")
	u.Type("here")
	u.Resize(3, 3)
	u.Resize(5, 4)
	u.Resize(10, 3)
	u.Shows("$ here")
	u.Resize(80, 24)
	u.Shows("╭", "$ here")
	ascii := New(t, Options{Env: []string{"TERM=xterm-256color", "LANG=C"}})
	ascii.Press("ctrl+space f")
	ascii.Golden("floating-ascii")
}
