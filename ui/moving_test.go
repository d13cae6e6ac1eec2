package ui_test

import (
	"strings"
	"testing"
	"time"

	"tandemux/ui"
	"tandemux/ui/layout"
)

// tabNames are the tabs' focused terminals by the host, from the left, the active one
// with a star.
func tabNames(t *testing.T, u *UI) string {
	t.Helper()
	l, _ := tab(t, u)
	var names []string
	for i, tb := range l.Tabs {
		for _, name := range u.Host.Terminals() {
			if u.Host.Terminal(name).URI == tb.Focused().Terminal {
				if i == l.Active {
					name = "*" + name
				}
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, " ")
}

func TestMoveTabs(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space c", "ctrl+space c")
	for _, step := range []struct{ keys, want string }{
		{"ctrl+space P", "sh1 *sh3 sh2"},
		{"P", "*sh3 sh1 sh2"}, // it repeats
		{"P", "sh1 sh2 *sh3"},
		{"ctrl+space N", "*sh3 sh1 sh2"},
		{"ctrl+space N", "sh1 *sh3 sh2"},
	} {
		u.Press(step.keys)
		if got := tabNames(t, u); got != step.want {
			t.Errorf("after %s the tabs are %s, want %s", step.keys, got, step.want)
		}
	}
	u.Advance(time.Second)
	u.Press("ctrl+space :")
	u.Type("move-tab 3\r")
	if got := tabNames(t, u); got != "sh1 sh2 *sh3" {
		t.Errorf("the tabs are %s", got)
	}
	u.Press("ctrl+space :")
	u.Type("move-tab\r")
	u.Shows("move tab to (1-3)")
	u.Type("1\r")
	if got := tabNames(t, u); got != "*sh3 sh1 sh2" {
		t.Errorf("asked for a number, the tabs are %s", got)
	}
}

func TestPaneNumbers(t *testing.T) {
	atSizes(t, "pane-numbers", func(t *testing.T, u *UI, golden string) {
		u.Press("ctrl+space |", "ctrl+space -", "ctrl+space q")
		u.Golden(golden)
		u.Press("1")
		if got := focusTitle(t, u); got != "sh1" {
			t.Errorf("1 goes to %s", got)
		}
		u.Type("1")
		// Another key takes the numbers away and is the program's.
		u.Press("ctrl+space q")
		u.Type("x")
		u.Press("ctrl+space q", "ctrl+space l")
		if got := focusTitle(t, u); got != "sh3" {
			t.Errorf("the prefix behind the numbers goes to %s", got)
		}
		before := u.Screen()
		u.Press("ctrl+space q")
		if u.Screen() == before {
			t.Error("no numbers")
		}
		u.Advance(3 * time.Second)
		if u.Screen() != before {
			t.Errorf("the numbers stay:\n%s", u.Screen())
		}
		u.Press("ctrl+space q", "9", "ctrl+space q", "esc")
		typed(t, u, map[string]string{"sh1": "1x", "sh2": "", "sh3": "9"})
		u.Press("ctrl+space q")
		u.Click(0, 3)
		if got := focusTitle(t, u); got != "sh1" {
			t.Errorf("a click goes to %s", got)
		}
	})
}

func TestRotate(t *testing.T) {
	u := New(t, Options{Config: func(c *ui.Config) { c.Keymap = "tmux" }})
	u.Press("ctrl+b %", "ctrl+b \"")
	order := func() string {
		_, tb := tab(t, u)
		var s []string
		for _, leaf := range tb.Panes() {
			for _, name := range u.Host.Terminals() {
				if u.Host.Terminal(name).URI == leaf.Terminal {
					s = append(s, name)
				}
			}
		}
		return strings.Join(s, " ") + ", " + focusTitle(t, u)
	}
	for _, step := range []struct{ keys, want string }{
		{"ctrl+b ctrl+o", "sh2 sh3 sh1, sh1"},
		{"ctrl+b ctrl+o", "sh3 sh1 sh2, sh2"},
		{"ctrl+b alt+o", "sh2 sh3 sh1, sh1"},
	} {
		u.Press(step.keys)
		if got := order(); got != step.want {
			t.Errorf("after %s it is %s, want %s", step.keys, got, step.want)
		}
	}
}

func TestSwitchLayouts(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space )")
	u.Shows("there is no other layout")
	for _, name := range []string{"work", "zoo"} {
		u.Press("ctrl+space :")
		u.Type("layouts " + name + "\r")
	}
	for _, step := range []struct{ keys, want string }{
		{"ctrl+space `", " work "},
		{"ctrl+space `", " zoo "},
		{"ctrl+space )", " main "},
		{"ctrl+space (", " zoo "},
		{"ctrl+space (", " work "},
		{"ctrl+space `", " zoo "},
	} {
		u.Press(step.keys)
		u.WaitIdle()
		if !strings.HasPrefix(u.Row(-1), step.want) {
			t.Errorf("after %s: %q, want%s", step.keys, u.Row(-1), step.want)
		}
	}
}

func TestPaneInfoAndMessages(t *testing.T) {
	u := New(t, Options{Config: func(c *ui.Config) { c.Keymap = "tmux" }})
	u.Press("ctrl+b %", "ctrl+b i")
	u.Shows("layout main, tab 1 sh2, pane 2 of 2, sh2, 39x22")
	u.Press("ctrl+b ~")
	u.Shows("Messages", "pane 2 of 2")
	u.Type("nothing of that")
	u.Shows("nothing matches")
}

// A pane's number works from a shell, too.
func TestFocusPaneFromAShell(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space |")
	if _, err := do(t, u.Host, ui.Order{Name: "focus-pane", Args: []string{"1"}}); err != nil {
		t.Fatal(err)
	}
	l, err := layout.Decode(u.Host.Layout("main").Doc)
	if err != nil || l.Tabs[0].Focus != l.Tabs[0].Panes()[0].Pane {
		t.Errorf("the focus is on %s, %v", l.Tabs[0].Focus, err)
	}
	if _, err := do(t, u.Host, ui.Order{Name: "focus-pane", Args: []string{"7"}}); err == nil || !strings.Contains(err.Error(), "there is no pane 7") {
		t.Errorf("a pane that is not there: %v", err)
	}
}
