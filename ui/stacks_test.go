package ui_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
	"tandemux/ui"
	"tandemux/ui/layout"
)

func TestStacks(t *testing.T) {
	atSizes(t, "stack", func(t *testing.T, u *UI, golden string) {
		u.Press("ctrl+space |", "ctrl+space -", "ctrl+space -", "ctrl+space +")
		u.Host.Terminal("sh2").Run("make", "cc a.c\r\n", 2)
		u.WaitIdle()
		u.Golden(golden)
		w, h := u.Outer().Size()
		if cols, rows := u.Host.Terminal("sh4").Size(); cols != w-w/2-1 || rows != h-1-3 {
			t.Errorf("the open pane is %dx%d", cols, rows)
		}
		// A closed pane keeps its size until it opens, and what is typed is the open one's.
		before, _ := u.Host.Terminal("sh3").Size()
		u.Type("a")
		u.Press("ctrl+space k")
		u.Type("b")
		if _, rows := u.Host.Terminal("sh3").Size(); before == 0 || rows != h-1-3 {
			t.Errorf("opened it has %d rows", rows)
		}
		// A click on a header opens it.
		x, y := find(t, u, "▸ sh2")
		u.Click(x, y)
		u.Type("c")
		u.Press("ctrl+space h", "ctrl+space l")
		u.Type("d")
		typed(t, u, map[string]string{"sh1": "", "sh2": "cd", "sh3": "b", "sh4": "a"})
		u.Press("ctrl+space ^")
		u.Hides("▸")
	})
}

// What is typed into all panes goes to those that are open, as they show.
func TestStackTypedTogether(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space -", "ctrl+space +", "ctrl+space s")
	u.Shows("typing into 2 panes")
	u.Type("x")
	typed(t, u, map[string]string{"sh1": "x", "sh2": "", "sh3": "x"})
}

// A stack is there after a detach, for others, and from a shell.
func TestStackLasts(t *testing.T) {
	u := start(t)
	if done, err := do(t, u.Host, ui.Order{Name: "new-stacked"}); err != nil || !done.Made {
		t.Fatalf("%+v, %v", done, err)
	}
	u = u.Again(Options{})
	u.Shows("▸ sh1", "─ sh2 ")
	u.Press("ctrl+space k")
	u = u.Again(Options{W: 60, H: 9})
	u.Shows("─ sh1 ", "▸ sh2")
	if _, err := do(t, u.Host, ui.Order{Name: "unstack"}); err != nil {
		t.Fatal(err)
	}
	l, err := layout.Decode(u.Host.Layout("main").Doc)
	if err != nil || l.Tabs[0].Root.Stack || len(l.Tabs[0].Root.Children) != 2 {
		t.Errorf("it is %s, %v", l.Encode(), err)
	}
	if _, err := do(t, u.Host, ui.Order{Name: "unstack"}); err == nil || !strings.Contains(err.Error(), "this pane is in no stack") {
		t.Errorf("again: %v", err)
	}
}

// A closed pane is not looked at: what happens in it is told.
func TestStackTellsOfClosedPanes(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space -", "ctrl+space +", "ctrl+space c")
	u.Press("ctrl+space 1")
	u.Host.Terminal("sh1").Attend(func(a *ahp.Attention) { a.Bell = 1 })
	u.WaitIdle()
	u.Shows("! ")
}
