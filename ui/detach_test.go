package ui_test

import (
	"strings"
	"testing"

	"tandemux/keymap"
	"tandemux/ui"
	"tandemux/ui/link"
)

// A person who leaves while the host does not answer is not told that
// everything runs on.
func TestDetachWithoutAHost(t *testing.T) {
	for _, c := range []struct {
		link link.State
		want string
	}{
		{link.Connected, "detached; everything runs on"},
		{link.Reconnecting, "detached; the host was not reached any more"},
	} {
		u := New(t, Options{Host: func(h *Host) { h.Program = silent }})
		leave := func() { u.Press("ctrl+space d") }
		if c.link == link.Reconnecting {
			u.Host.Reconnect(leave)
		} else {
			leave()
		}
		if got, ended := u.Ended(); !ended || got.Reason != ui.Detached || got.Note != c.want {
			t.Errorf("%v: left with %+v, want the note %q", c.link, got, c.want)
		}
	}
}

// A prefix that would take a key from every program is refused by name.
func TestBadPrefix(t *testing.T) {
	_, err := ui.New(ui.Config{Host: NewHost(t, link.NewSink()), Sink: link.NewSink(), Look: ui.Look{Selection: keymap.Selection{Prefix: "esc"}}}, ui.Env{})
	if err == nil || !strings.HasPrefix(err.Error(), "choose prefix") {
		t.Fatalf("esc as the prefix: %v", err)
	}
}
