package ui_test

import (
	"slices"
	"testing"

	"tandemux/ahp"
	"tandemux/ui/layout"
)

// shownIn gives how many panes the host's layout of that name has.
func shownIn(t *testing.T, u *UI, name string) int {
	t.Helper()
	st := u.Host.Layout(name)
	if len(st.Doc) == 0 {
		return 0
	}
	l, err := layout.Decode(st.Doc)
	if err != nil {
		t.Fatalf("layout %s: %v", name, err)
	}
	if l.Name != name {
		t.Errorf("layout %s calls itself %q", name, l.Name)
	}
	return len(l.Terminals())
}

func TestLayouts(t *testing.T) {
	atSizes(t, "layouts", func(t *testing.T, u *UI, golden string) {
		u.Press("ctrl+space |", "ctrl+space S", "alt+n")
		u.Type("work\r")
		u.Type("here")
		typed(t, u, map[string]string{"sh1": "", "sh2": "", "sh3": "here"})
		u.Press("ctrl+space S")
		u.Golden(golden)
		u.Type("main\r")
		u.Type("!")
		typed(t, u, map[string]string{"sh2": "!", "sh3": "here"})
		if a, b := shownIn(t, u, "main"), shownIn(t, u, "work"); a != 2 || b != 1 {
			t.Errorf("main shows %d terminals, work %d", a, b)
		}
		u.Press("ctrl+space :")
		u.Type("layouts work\r")
		u.Shows("$ here")
		u.Hides("│")
	})
}

// What is typed right behind the key that goes to another layout is for it, also
// while the host has not taken all of this one.
func TestTypingBehindGoingToALayout(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space S", "alt+n")
	u.Type("work\r")
	u.Host.Hold()
	u.Press("ctrl+space S")
	u.Type("main\r")
	u.Type("early")
	u.Host.Let()
	u.WaitIdle()
	typed(t, u, map[string]string{"sh1": "early", "sh2": ""})
}

func TestRenameLayout(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space $")
	u.Press("ctrl+u")
	u.Type("home\r")
	u.Shows(" home ", "layout main is called home now")
	if a, b := shownIn(t, u, "main"), shownIn(t, u, "home"); a != 0 || b != 1 {
		t.Errorf("main shows %d terminals, home %d", a, b)
	}
	u.Type("x")
	typed(t, u, map[string]string{"sh1": "x"})
	u.Press("ctrl+space :")
	u.Type("layouts other\r")
	u.Press("ctrl+space S", "home", "alt+r", "ctrl+u")
	u.Type("away\r")
	if a, b := shownIn(t, u, "home"), shownIn(t, u, "away"); a != 0 || b != 1 {
		t.Errorf("renamed from elsewhere, home shows %d terminals, away %d", a, b)
	}
	u.Press("ctrl+space $", "ctrl+u")
	u.Type("away\r")
	u.Shows("there is a layout away already")
	u.Press("ctrl+space $", "ctrl+u")
	u.Type("no/name\r")
	u.Shows("is no name for a layout")
}

// A chat that a layout shows is none of its terminals, under another name too.
func TestRenameLayoutWithAChat(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.AddSession("docs", "read the docs") }})
	u.Press("ctrl+space a", "enter")
	u.Shows("read the docs")
	sh := u.Host.Terminal("sh1").URI
	for _, name := range []string{"main", "home"} {
		if name == "home" {
			u.Press("ctrl+space $", "ctrl+u")
			u.Type("home\r")
			u.Shows("layout main is called home now")
		}
		if got := u.Host.Layout(name).Terminals; !slices.Equal(got, []ahp.URI{sh}) {
			t.Errorf("the terminals of %s are %v", name, got)
		}
	}
}

func TestDeleteLayout(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space S", "alt+x")
	u.Shows("main is the only layout")
	u.Press("esc", "ctrl+space :")
	u.Type("layouts work\r")
	u.Press("ctrl+space S", "home", "alt+x")
	u.Shows("delete layout main?")
	u.Press("n")
	if shownIn(t, u, "main") != 1 {
		t.Error("it is deleted although the answer was no")
	}
	u.Press("ctrl+space S", "home", "tab", "x", "y")
	u.Shows("layout main is deleted")
	if shownIn(t, u, "main") != 0 || !slices.Equal(u.Host.Terminals(), []string{"sh1", "sh2"}) {
		t.Errorf("main shows %d terminals, there are %v", shownIn(t, u, "main"), u.Host.Terminals())
	}
	// The one on the screen: another one comes.
	u.Press("ctrl+space :")
	u.Type("layouts third\r")
	u.Press("ctrl+space S", "alt+x", "y")
	u.WaitIdle()
	u.Shows(" work ", "layout third is deleted")
	if shownIn(t, u, "third") != 0 {
		t.Error("it still shows a terminal")
	}
}

// The list has the tabs of each layout and their panes: what is chosen there is gone to.
func TestLayoutTree(t *testing.T) {
	atSizes(t, "layout-tree", func(t *testing.T, u *UI, golden string) {
		u.Press("ctrl+space |", "ctrl+space c", "ctrl+space 1", "ctrl+space h")
		u.Press("ctrl+space :")
		u.Type("layouts work\r")
		u.Press("ctrl+space S")
		u.WaitIdle()
		u.Golden(golden)
		if _, h := u.Outer().Size(); h >= 24 { // there is room for its screen
			u.Host.Terminal("sh2").Print("seen from afar")
			u.Press("up", "up")
			u.WaitIdle()
			u.Shows("seen from afar")
		}
		u.Type("sh2")
		u.Press("enter")
		u.WaitIdle()
		u.Type("there")
		u.Press("ctrl+space S")
		u.Type("sh3\r")
		u.Type("here")
		u.Press("ctrl+space S")
		u.Type("sh4")
		u.Press("alt+x") // a tab is no layout
		u.Hides("delete layout")
		u.Press("enter")
		u.WaitIdle()
		u.Type("back")
		typed(t, u, map[string]string{"sh1": "", "sh2": "there", "sh3": "here", "sh4": "back"})
	})
}

// Going back before the host has answered for the layout gone to: what is on the screen is
// followed all the same.
func TestBackToALayoutAtOnce(t *testing.T) {
	u := start(t)
	u.Press("ctrl+space :")
	u.Type("layouts work\r")
	u.Press("ctrl+space :")
	u.Type("layouts main\r")
	u.read("\x00`")
	u.read("\x00`")
	u.WaitIdle()
	u.Press("ctrl+space c", "ctrl+space `")
	u.WaitIdle()
	u.Shows(" work  1 sh2")
	if n := shownIn(t, u, "main"); n != 2 {
		t.Errorf("main shows %d terminals", n)
	}
}
