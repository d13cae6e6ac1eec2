package ui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/emulator/input"
	"tandemux/internal/soak"
	"tandemux/ui"
)

// right presses and releases the right button.
func right(u *UI, x, y int) {
	u.Mouse(input.MousePress, tea.MouseRight, x, y)
	u.Mouse(input.MouseRelease, tea.MouseRight, x, y)
}

// find gives where a text stands on the screen.
func find(t *testing.T, u *UI, text string) (x, y int) {
	t.Helper()
	for y, row := range strings.Split(u.Screen(), "\n") {
		if before, _, ok := strings.Cut(row, text); ok {
			return len([]rune(before)), y
		}
	}
	t.Fatalf("the screen does not show %q:\n%s", text, u.Screen())
	return 0, 0
}

func TestMenu(t *testing.T) {
	atSizes(t, "menu", func(t *testing.T, u *UI, golden string) {
		u.Press("ctrl+space |", "ctrl+space h")
		w, h := u.Outer().Size()
		right(u, w-5, 3)
		if got := focusTitle(t, u); got != "sh2" {
			t.Errorf("the menu is of %s", got)
		}
		u.Golden(golden)
		// What can't run says why, and the menu stays.
		x, y := find(t, u, "Reclaim")
		u.Click(x, y)
		u.Shows("this terminal is already")
		if h < 15 { // it scrolls
			u.Hides("Close pane")
			u.Press("up", "up", "up", "up", "up", "up", "up")
			u.Shows("Close pane")
			u.Hides("Copy what")
		}
		u.Press("esc", "ctrl+space h")
		right(u, w-5, 3)
		x, y = find(t, u, "Zoom")
		u.Click(x, y)
		u.Shows(" Z ")
		u.Hides("Reclaim")
		if got := focusTitle(t, u); got != "sh2" {
			t.Errorf("%s is zoomed", got)
		}
		// The keys that do it elsewhere do it here.
		right(u, 5, 3)
		u.Press("z")
		u.Hides(" Z ")
		// A click beside it does nothing else.
		right(u, w-5, 3)
		u.Click(0, 0)
		u.Hides("Reclaim")
		if got := focusTitle(t, u); got != "sh2" {
			t.Errorf("a click beside the menu goes to %s", got)
		}
		u.Type("x")
		typed(t, u, map[string]string{"sh1": "", "sh2": "x"})
	})
}

// The button may be let go over what is meant, as in tmux.
func TestMenuByDragging(t *testing.T) {
	u := start(t)
	u.Mouse(input.MousePress, tea.MouseRight, 5, 3)
	x, y := find(t, u, "Split down")
	u.Mouse(input.MouseMotion, tea.MouseRight, x, y)
	u.Mouse(input.MouseRelease, tea.MouseRight, x, y)
	u.Hides("Reclaim")
	u.Shows("─ sh2 ")
	u.Mouse(input.MousePress, tea.MouseRight, 5, 3)
	u.Mouse(input.MouseMotion, tea.MouseRight, 79, 22)
	u.Mouse(input.MouseRelease, tea.MouseRight, 79, 22)
	u.Shows("Reclaim") // let go over nothing it stays
	if m := u.Outer().Modes().Mouse; m != emulator.MouseAny {
		t.Errorf("over a menu the mouse is asked for as %v", m)
	}
	u.Press("down", "down", "down", "up")
	u.Press("enter")
	u.Shows("nothing was copied yet")
	u.Press("esc")
	if m := u.Outer().Modes().Mouse; m == emulator.MouseAny {
		t.Error("without the menu the mouse is still asked for every motion")
	}
}

// Nothing breaks where there is no room.
func TestMenusAndNumbersInTinyWindows(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |", "ctrl+space -", "ctrl+space +", "ctrl+space c", "ctrl+space 1")
	for w := 1; w < 40; w += soak.Short(19, 6) {
		for h := 1; h < 9; h++ {
			u.Resize(w, h)
			for _, line := range []string{"menu pane", "menu tab", "menu line", "pane-numbers", "layouts", "messages"} {
				u.Press("ctrl+space :")
				u.Paste(line)
				u.Press("enter", "up", "down")
				right(u, w-1, h-1)
				u.Press("esc", "esc")
			}
		}
	}
	u.Resize(80, 24)
	u.Shows("▸ sh2", "─ sh3 ")
}

// A program that takes the mouse gets the right button; shift is for the menu.
func TestMenuAndPrograms(t *testing.T) {
	u := start(t)
	sh := u.Host.Terminal("sh1")
	sh.Print("\x1b[?1000h\x1b[?1006h")
	u.WaitIdle()
	right(u, 5, 3)
	u.Hides("Reclaim")
	if got, want := sh.Typed(), "\x1b[<2;6;4M\x1b[<2;6;4m"; got != want {
		t.Errorf("the program got %q, want %q", got, want)
	}
	u.Read("\x1b[<6;6;4M\x1b[<6;6;4m")
	u.Shows("Reclaim")
}

// What is selected stays so, and is copied.
func TestMenuCopies(t *testing.T) {
	u := New(t, Options{Config: func(c *ui.Config) { c.NoCopyOnSelect = true }})
	u.Host.Terminal("sh1").Print("some text\r\n")
	u.WaitIdle()
	right(u, 5, 10)
	x, y := find(t, u, "Copy what is selected")
	u.Click(x, y)
	u.Shows("nothing is selected")
	u.Press("esc")
	u.Drag(2, 0, 20, 0)
	right(u, 5, 10)
	u.Click(x, y)
	u.Press("ctrl+space ]")
	if got := u.Host.Terminal("sh1").Typed(); !strings.Contains(got, "some text") {
		t.Errorf("what is pasted is %q", got)
	}
}

func TestMenuOfTabsAndLine(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c", "ctrl+space c")
	x, y := find(t, u, "2 sh2")
	right(u, x, y)
	u.Golden("menu-tab")
	if got := tabNames(t, u); got != "sh1 *sh2 sh3" {
		t.Errorf("the menu is of another tab: %s", got)
	}
	mx, my := find(t, u, "Move tab left")
	u.Click(mx, my)
	if got := tabNames(t, u); got != "*sh2 sh1 sh3" {
		t.Errorf("the tabs are %s", got)
	}
	right(u, 70, y)
	u.Golden("menu-line")
	u.Press("esc")
	top := New(t, Options{Config: func(c *ui.Config) { c.Position = "top" }})
	x, y = find(t, top, "1 sh1")
	right(top, x, y)
	top.Shows("1 sh1 ", "Move tab left")
	tmux := New(t, Options{Config: func(c *ui.Config) { c.Keymap = "tmux" }})
	tmux.Press("ctrl+b >")
	tmux.Shows("Close pane", "x │")
	tmux.Press("esc", "ctrl+b <")
	tmux.Shows("Close tab", "& │")
	tmux.Press(",")
	tmux.Type("named\r")
	tmux.Shows("1 named")
}

func TestDragTabs(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c", "ctrl+space .")
	u.Type("a longer name\r")
	u.Press("ctrl+space c")
	x, y := find(t, u, "1 sh1")
	u.Mouse(input.MousePress, tea.MouseLeft, x, y)
	at := func(to int) string {
		u.Mouse(input.MouseMotion, tea.MouseLeft, to, y)
		return tabNames(t, u)
	}
	// Over the beginning of the wider tab it would be moved back at once.
	long, _ := find(t, u, "2 a longer")
	if got := at(long); got != "*sh1 sh2 sh3" {
		t.Errorf("at the beginning of the next tab the tabs are %s", got)
	}
	for to := long; to < long+14; to++ {
		at(to)
	}
	if got := at(long + 14); got != "sh2 *sh1 sh3" {
		t.Errorf("at its end the tabs are %s", got)
	}
	if got := at(79); got != "sh2 *sh1 sh3" {
		t.Errorf("behind all tabs they are %s", got)
	}
	last, _ := find(t, u, "3 sh3")
	if got := at(last + 2); got != "sh2 sh3 *sh1" {
		t.Errorf("over the last one the tabs are %s", got)
	}
	if got := at(x); got != "*sh1 sh2 sh3" {
		t.Errorf("back at the first one the tabs are %s", got)
	}
	u.Mouse(input.MouseRelease, tea.MouseLeft, x, y)
	if got := at(last); got != "*sh1 sh2 sh3" {
		t.Errorf("let go it is still dragged: %s", got)
	}
}

func TestRenameByDoubleClick(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space -", "ctrl+space c", "ctrl+space 1")
	x, y := find(t, u, "2 sh3")
	u.Click(x, y)
	u.Hides("rename tab")
	u.Advance(time.Second)
	u.Click(x, y)
	u.Hides("rename tab") // too late for two
	u.Click(x, y)
	u.Shows("rename tab")
	u.Press("ctrl+u")
	u.Type("logs\r")
	u.Shows("2 logs")
	u.Press("ctrl+space 1")
	for _, title := range []string{"─ sh1 ", "─ sh2 "} { // the second one is a border too
		x, y = find(t, u, title)
		u.Click(x+2, y)
		u.Click(x+2, y)
		u.Shows("rename pane")
		u.Press("esc")
	}
	u.Press("ctrl+space f")
	x, y = find(t, u, "╭ sh4 ")
	u.Click(x+2, y)
	u.Click(x+2, y)
	u.Shows("rename pane")
}
