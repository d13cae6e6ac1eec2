package ui_test

import (
	"reflect"
	"testing"

	"tandemux/ui"
)

// bound starts an interface with keys of the person's.
func bound(t *testing.T, d *papers, keys map[string]string) *UI {
	t.Helper()
	return New(t, Options{
		Host: func(h *Host) { h.Program = silent },
		Config: func(c *ui.Config) {
			c.Desk = ui.Desk{Texts: d}
			c.Keys = keys
		},
	})
}

func TestKeysRunPrograms(t *testing.T) {
	d := &papers{}
	u := bound(t, d, map[string]string{
		"prefix g": "popup lazygit", "prefix G": `popup "git log | less"`, "prefix v": "split-right htop -d 5", "prefix q": "zoom ; zoom",
		"prefix V": "split-down ; even ; new-tab top",
	})
	u.Press("ctrl+space g")
	u.Golden("popup")
	if got := u.Host.Terminal("sh2").meta.Command; !reflect.DeepEqual(got, []string{"lazygit"}) {
		t.Errorf("the popup runs %q", got)
	}
	u.Host.Terminal("sh2").Exit(3, "")
	u.WaitIdle()
	if _, tb := tab(t, u); len(tb.Floats) != 0 {
		t.Error("the popup stays behind its program")
	}

	u.Press("ctrl+space G")
	if got := u.Host.Terminal("sh3").meta.Command; !reflect.DeepEqual(got, []string{"/bin/sh", "-c", "git log | less"}) {
		t.Errorf("the popup runs %q", got)
	}
	u.Host.Terminal("sh3").Exit(127, "")
	u.WaitIdle()
	if _, tb := tab(t, u); len(tb.Floats) != 1 {
		t.Error("a popup whose program is not there says nothing of that")
	}
}

func TestProgramsKnowTheirPane(t *testing.T) {
	d := &papers{}
	u := bound(t, d, map[string]string{"prefix g": "popup fzf"})
	sh := u.Host.Terminal("sh1")
	sh.Run("make", "some output\r\n", 0)
	u.WaitIdle()
	u.Press("ctrl+space v", "ctrl+space g")
	want := map[string]string{
		"TANDEMUX_PANE": sh.URI, "TANDEMUX_PANE_COMMAND": "make", "TANDEMUX_PANE_SELECTION": "/lent",
	}
	if got := u.Host.Terminal("sh2").Env; !reflect.DeepEqual(got, want) {
		t.Errorf("the program has %q, want %q", got, want)
	}
	if !reflect.DeepEqual(d.lent, []string{"some output\n"}) {
		t.Errorf("lent %q", d.lent)
	}
}

// Commands behind others wait for the terminals that those create, and so does what
// is typed after them.
func TestLinesOfCommands(t *testing.T) {
	u := bound(t, &papers{}, map[string]string{"prefix V": "split-down ; zoom ; new-tab top", "prefix Q": "focus-left ; detach"})
	u.Host.Hold()
	u.Press("ctrl+space V")
	u.Type("q")
	u.Host.Let()
	u.WaitIdle()
	l, tb := tab(t, u)
	if len(l.Tabs) != 2 || !l.Tabs[0].Zoom {
		t.Errorf("after the line there are %d tabs: %+v", len(l.Tabs), l.Tabs[0])
	}
	if got := u.Host.Terminal("sh3"); !reflect.DeepEqual(got.meta.Command, []string{"top"}) || got.Typed() != "q" || tb.Focus == "" {
		t.Errorf("%q was typed into %q", got.Typed(), got.meta.Command)
	}
	u.Press("ctrl+space Q")
	u.Shows("Focus left: no pane to the left")
	if _, quit := u.Ended(); quit {
		t.Error("a line goes on behind a command that can't run")
	}
}
