package spelling

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	known := []string{"theme", "prefix", "keymap", "status-left", "status-right", "ls", "~"}
	for typed, want := range map[string]string{
		"them": "theme", "thmee": "theme", "statusleft": "status-left", "status-rigth": "status-right", "theme": "theme",
		"q": "", "s": "ls", "zebra": "", "": "", strings.Repeat("theme", 100): "",
	} {
		if got := Closest(typed, known); got != want {
			t.Errorf("%q is taken for %q, want %q", typed, got, want)
		}
	}
}
