package ui_test

import (
	"testing"
)

// What follows a command in the same read of the outer terminal, as when a
// person types fast over a slow line, goes where the command led.
func TestKeysAfterACommandInOneRead(t *testing.T) {
	u := New(t, Options{Host: func(h *Host) { h.Program = silent }})
	u.Press("ctrl+space c")
	first, second := u.Host.Terminal("sh1"), u.Host.Terminal("sh2")
	u.Read("\x001one")
	if first.Typed() != "one" || second.Typed() != "" {
		t.Errorf("first got %q and second %q, want %q and nothing", first.Typed(), second.Typed(), "one")
	}
	u.Read("\x00ntwo")
	if second.Typed() != "two" {
		t.Errorf("second got %q, want %q", second.Typed(), "two")
	}
}
