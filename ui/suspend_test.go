package ui_test

import (
	"strings"
	"testing"

	"tandemux/ui"
)

// TestSuspend: while the outer terminal is given back nothing is written to it,
// and then everything is drawn and asked for as at the start.
func TestSuspend(t *testing.T) {
	suspended := 0
	u := New(t, Options{Suspend: func() { suspended++ }})
	sh := u.Host.Terminal(u.Host.Terminals()[0])
	sh.SetTitle("build")
	sh.Print("\x1b[?1003h\x1b[>2u")
	u.WaitIdle()
	u.Press("ctrl+space ctrl+z")
	if suspended != 1 {
		t.Fatalf("suspended %d times", suspended)
	}
	u.Raw, u.Written = nil, 0
	sh.Print("meanwhile\r\n\a")
	u.WaitIdle()
	if u.Written != 0 {
		t.Errorf("while suspended %q was written", u.Raw)
	}
	u.Send(ui.Resumed{Stopped: true})
	u.Shows("meanwhile")
	u.Hides("there is no shell")
	for _, want := range []string{"\x1b]2;build\x1b\\", "\x1b[?1003h", "\x1b[=3u", "\a"} {
		if !strings.Contains(string(u.Raw), want) {
			t.Errorf("%q is not set again in %q", want, u.Raw)
		}
	}
	u.Press("ctrl+space ctrl+z")
	u.Send(ui.Resumed{})
	u.Shows("there is no shell to go back to")
}

func TestSuspendWithoutShell(t *testing.T) {
	u := New(t, Options{})
	u.Press("ctrl+space ctrl+z")
	u.Shows("there is no shell to go back to")
}
