package ui_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/emulator/input"
	"tandemux/ui"
)

func TestClicksSelect(t *testing.T) {
	u, sh := program(t, "see /usr/lib/x.so now\r\nand https://example.org/?a=b.\r\nthe end")
	n := len(u.Raw)
	u.Click(8, 0)
	u.Click(8, 0)
	if got := clip(u, n); got != "/usr/lib/x.so" {
		t.Errorf("two clicks copy %q", got)
	}
	u.GoldenStyled("double-click")
	u.Click(8, 0)
	if got := clip(u, n); got != "see /usr/lib/x.so now" {
		t.Errorf("three clicks copy %q", got)
	}
	u.Advance(time.Second)
	u.Click(1, 1)
	u.Click(1, 1)
	u.Advance(time.Second)
	u.Mouse(input.MousePress, tea.MouseLeft, 1, 2)
	u.Mouse(input.MouseRelease, tea.MouseLeft, 1, 2)
	u.Mouse(input.MousePress, tea.MouseLeft, 1, 2)
	u.Mouse(input.MouseMotion, tea.MouseLeft, 5, 2)
	u.Mouse(input.MouseRelease, tea.MouseLeft, 5, 2)
	if got := clip(u, n); got != "the end" {
		t.Errorf("dragged by words: %q", got)
	}
	sh.Print("\x1b[5;1Hmore output")
	u.WaitIdle()
	u.GoldenStyled("selection-stays")
	if got := sh.Typed(); got != "" {
		t.Errorf("typed %q", got)
	}
}

// TestMiddleButtonPastes: into the pane that it is pressed over.
func TestMiddleButtonPastes(t *testing.T) {
	u := start(t)
	u.Type("word")
	u.Press("ctrl+space |", "ctrl+space h")
	u.Mouse(input.MousePress, tea.MouseMiddle, 60, 5)
	u.Mouse(input.MouseRelease, tea.MouseMiddle, 60, 5)
	if got := u.Host.Terminal("sh2").Typed(); got != "" {
		t.Errorf("nothing was copied, but %q is typed", got)
	}
	u.Click(3, 1)
	u.Click(3, 1)
	u.Mouse(input.MousePress, tea.MouseMiddle, 60, 5)
	u.Mouse(input.MouseRelease, tea.MouseMiddle, 60, 5)
	if got := u.Host.Terminal("sh2").Typed(); got != "word" {
		t.Errorf("pasted %q", got)
	}
	if got := u.Host.Terminal("sh1").Typed(); got != "word" {
		t.Errorf("the other pane got %q", got)
	}
}

// TestWheelTakesTheSelectionAlong: the cursor that it moves is the selection's
// end.
func TestWheelTakesTheSelectionAlong(t *testing.T) {
	u, sh := program(t, "")
	for i := range 60 {
		sh.Print(fmt.Sprintf("row %d\r\n", i))
	}
	u.WaitIdle()
	u.Press("ctrl+space [", "k", "V")
	for range 4 {
		u.Wheel(true, 3, 3)
	}
	n := len(u.Raw)
	u.Press("y")
	if got := clip(u, n); !strings.HasPrefix(got, "row 48\n") || !strings.HasSuffix(got, "row 59\n") {
		t.Errorf("copied %q", got)
	}
}

func TestSelectingWithoutCopying(t *testing.T) {
	u := New(t, Options{
		Host:   func(h *Host) { h.Program = silent },
		Config: func(c *ui.Config) { c.NoCopyOnSelect, c.WordSeparators = true, "/" },
	})
	u.Host.Terminal("sh1").Print("a.b/c.d e")
	u.WaitIdle()
	n := len(u.Raw)
	u.Click(0, 0)
	u.Click(0, 0)
	if got := clip(u, n); got != "" {
		t.Errorf("copied %q", got)
	}
	u.Press("ctrl+space Y")
	if got := clip(u, n); got != "a.b" {
		t.Errorf("copied %q", got)
	}
}

// TestDraggingBeyondTheEdgeScrolls: a timer runs while the mouse is held there,
// and none before or after.
func TestDraggingBeyondTheEdgeScrolls(t *testing.T) {
	u, sh := program(t, "")
	for i := range 80 {
		sh.Print(fmt.Sprintf("row %d\r\n", i))
	}
	u.WaitIdle()
	u.Advance(5 * time.Second)
	idle := u.Timers()
	n := len(u.Raw)
	u.Mouse(input.MousePress, tea.MouseLeft, 3, 10)
	u.Mouse(input.MouseMotion, tea.MouseLeft, 0, 5)
	if got := u.Timers(); got != idle {
		t.Errorf("%d timers within the pane", got-idle)
	}
	u.Mouse(input.MouseMotion, tea.MouseLeft, 0, 0)
	u.Advance(3 * time.Second)
	u.Shows("row 0 ")
	if got := u.Timers(); got != idle {
		t.Errorf("%d timers at the top", got-idle)
	}
	u.Mouse(input.MouseRelease, tea.MouseLeft, 0, 0)
	text := clip(u, n)
	if !strings.HasPrefix(text, "row 0\nrow 1\n") || !strings.HasSuffix(text, "row 67\nrow") {
		t.Errorf("copied %q … %q", text[:min(20, len(text))], text[max(len(text)-20, 0):])
	}
	// And down again: it stops where the text does.
	u.Mouse(input.MousePress, tea.MouseLeft, 0, 1)
	u.Mouse(input.MouseMotion, tea.MouseLeft, 3, 23)
	u.Advance(200 * time.Millisecond)
	u.Mouse(input.MouseMotion, tea.MouseLeft, 3, 10)
	u.Advance(time.Second)
	if u.Screen(); strings.Contains(u.Row(21), "row 79") {
		t.Error("it scrolls on although the mouse came back")
	}
	u.Mouse(input.MouseRelease, tea.MouseLeft, 3, 10)
	u.Advance(5 * time.Second)
	if got := u.Timers(); got != idle {
		t.Errorf("%d timers afterwards", got-idle)
	}
}

func TestScrollBar(t *testing.T) {
	u, sh := program(t, "")
	for i := range 200 {
		sh.Print(fmt.Sprintf("row %d\r\n", i))
	}
	u.WaitIdle()
	// The bar shows where the mouse is on its column, and scrolls without a mode.
	u.Mouse(input.MouseMotion, tea.MouseNone, 79, 4)
	u.GoldenStyled("scroll-bar")
	u.Mouse(input.MousePress, tea.MouseLeft, 79, 22)
	u.Mouse(input.MouseMotion, tea.MouseLeft, 70, 0)
	u.Shows("row 0 ")
	u.Mouse(input.MouseRelease, tea.MouseLeft, 70, 0)
	u.Drag(79, 0, 79, 12)
	u.Shows(" 85/178")
	u.Hides("clipboard")
	u.Mouse(input.MouseMotion, tea.MouseNone, 10, 4)
	u.Press("x")
	u.Hides("/178")
	if got := sh.Typed(); got != "x" {
		t.Errorf("typed %q", got)
	}
}

// TestDragHoldsThePane: what a program prints while text is dragged doesn't move what shows; after
// that the pane follows again.
func TestDragHoldsThePane(t *testing.T) {
	u, sh := program(t, "")
	for i := range 50 {
		sh.Print(fmt.Sprintf("row %d\r\n", i))
	}
	u.WaitIdle()
	before, n := u.Row(8), len(u.Raw)
	u.Mouse(input.MousePress, tea.MouseLeft, 0, 5)
	u.Mouse(input.MouseMotion, tea.MouseLeft, 2, 6)
	for i := 50; i < 60; i++ {
		sh.Print(fmt.Sprintf("row %d\r\n", i))
		u.WaitIdle()
	}
	if now := u.Row(8); now != before {
		t.Errorf("the row %q is %q while text is dragged", before, now)
	}
	u.Mouse(input.MouseMotion, tea.MouseLeft, 79, 8)
	u.Mouse(input.MouseRelease, tea.MouseLeft, 79, 8)
	want := base64.StdEncoding.EncodeToString([]byte("row 33\nrow 34\nrow 35\nrow 36"))
	if got := string(u.Raw[n:]); !strings.Contains(got, want) {
		t.Errorf("the drag wrote %q", got)
	}
	u.Shows("row 59")
	sh.Print("row 60\r\n")
	u.WaitIdle()
	u.Shows("row 60")

	u.Mouse(input.MousePress, tea.MouseLeft, 0, 5)
	u.Mouse(input.MouseMotion, tea.MouseLeft, 2, 6)
	u.Type("x") // as its release may never come
	sh.Print("row 61\r\n")
	u.WaitIdle()
	u.Shows("row 61")
}

// TestSelectedIsPrimary: what the mouse selects is also what the middle button pastes elsewhere
// (OSC 52's "p"); what keys copy leaves that alone.
func TestSelectedIsPrimary(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = silent }})
	u.Host.Terminal("sh1").Print("word here")
	u.WaitIdle()
	n := len(u.Raw)
	u.Drag(0, 0, 3, 0)
	if got := string(u.Raw[n:]); !strings.Contains(got, "\x1b]52;cp;d29yZA==\x1b\\") {
		t.Errorf("a drag wrote %q", got)
	}
	n = len(u.Raw)
	u.Press("ctrl+space [", "y")
	if got := string(u.Raw[n:]); !strings.Contains(got, "\x1b]52;c;") {
		t.Errorf("a key wrote %q", got)
	}
}

// TestPickingSurvivesAnything: the view changes under a drag, a search prompt and
// a command that waits for a character.
func TestPickingSurvivesAnything(t *testing.T) {
	u, sh := program(t, strings.Repeat("some text\r\n", 50))
	u.Mouse(input.MousePress, tea.MouseLeft, 3, 10)
	u.Mouse(input.MouseMotion, tea.MouseLeft, 3, 0)
	sh.Resize(30, 5)
	u.WaitIdle()
	u.Mouse(input.MouseMotion, tea.MouseLeft, 3, 2)
	sh.Print("\x1b[3J\x1b[2J")
	u.Advance(time.Second)
	u.Mouse(input.MouseRelease, tea.MouseLeft, 3, 2)
	u.Press("ctrl+space [", "f")
	sh.Claim(ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/x"})
	u.WaitIdle()
	u.Press("x", "/")
	u.Type("some")
	sh.Print("\x1bc")
	u.Host.Reconnect(nil)
	u.WaitIdle()
	u.Press("enter", "n", "q")
	u.Press("ctrl+space /")
	u.Resize(20, 5)
	u.Type("te")
	sh.Exit(1, "")
	u.WaitIdle()
	u.Press("esc")
}
