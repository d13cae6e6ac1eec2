package ui_test

import (
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestHints: what people copy by hand gets a label; a letter copies, an upper case one types it
// into the pane, one with alt opens it.
func TestHints(t *testing.T) {
	long := "/usr/share/" + strings.Repeat("long/", 14) + "name.txt"
	print := "ui/model.go:12: see https://example.com/x\r\ncommit 47b81092d7c1f0\r\n" + long + "\r\n127.0.0.1:7070 12345 ui/model.go:12:\r\n$ "
	u, sh, d := desk(t, print)
	u.Press("ctrl+space U")
	u.Golden("hints")
	// The lowest has the first label; the same text has one label.
	u.Press("s")
	u.Hides("hints")
	if got := copied(t, u); got != "12345" {
		t.Errorf("copied %q", got)
	}
	pick := func(text string, chord func(label string) string) {
		t.Helper()
		u.Press("ctrl+space U")
		for _, row := range strings.Split(u.Screen(), "\n") {
			// A label stands in place of the first letters.
			if i := strings.Index(row, text[1:]); i > 0 {
				u.Press(chord(row[i-1 : i]))
				return
			}
		}
		t.Fatalf("no label before %q:\n%s", text[1:], u.Screen())
	}
	upper := func(l string) string { return strings.ToUpper(l) }
	alt := func(l string) string { return "alt+" + l }
	same := func(l string) string { return l }
	pick("/usr/share/long", same) // it goes on in the next row
	if got := copied(t, u); got != long {
		t.Errorf("copied %q, want %q", got, long)
	}
	pick("https://example.com/x", alt)
	if len(d.opened) != 1 || d.opened[0] != "https://example.com/x" {
		t.Errorf("opened %q", d.opened)
	}
	pick("47b81092d7c1f0", upper)
	if sh.Typed() != "47b81092d7c1f0" {
		t.Errorf("typed %q", sh.Typed())
	}
	pick("12345", alt)
	u.Shows("only addresses and paths are opened: 12345")
	u.Press("ctrl+space U", "esc")
	u.Hides("hints", "copy")
	pick("ui/model.go:12:", alt)
	if len(d.edited) != 1 || d.edited[0] != "ui/model.go at 12" {
		t.Errorf("edited %q", d.edited)
	}

	// Where somebody else holds the terminal nothing is typed.
	u, sh, _ = desk(t, print)
	sh.Claim(ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/1", ToolCallID: "make"})
	u.WaitIdle()
	pick("47b81092d7c1f0", upper)
	if sh.Typed() != "" {
		t.Errorf("typed %q into an agent's terminal", sh.Typed())
	}
	u.Shows("takes it")
}

// TestHintsHoldStill: what a program prints meanwhile moves nothing under the labels.
func TestHintsHoldStill(t *testing.T) {
	u, sh, _ := desk(t, "one 11111\r\n")
	u.Press("ctrl+space U")
	u.Shows("one a1111")
	sh.Print(strings.Repeat("22222\r\n", 40))
	u.WaitIdle()
	u.Shows("one a1111")
	u.Press("a")
	if got := copied(t, u); got != "11111" {
		t.Errorf("copied %q", got)
	}
	u.Shows("22222")
	// A view that is scrolled back stays so.
	u.Press("ctrl+space pgup")
	u.Shows("one 11111")
	u.Press("ctrl+space U", "esc")
	u.Shows("one 11111")
	u, _, _ = desk(t, "nothing\r\n")
	u.Press("ctrl+space U")
	u.Shows("no path, address, hash or number shows here")
	u.Press("ctrl+space")
}

// TestHintsMove: labels go with the lines when the window gets another size, and what held
// the view is over with them.
func TestHintsMove(t *testing.T) {
	u, _, _ := desk(t, strings.Repeat("x", 90)+" ui/model.go:12\r\n$ ")
	u.Press("ctrl+space U")
	u.Shows("i/model.go:12", "tab: another")
	u.Hides("0/0")
	u.Resize(100, 12)
	u.WaitIdle()
	u.Golden("hints-moved")
	u.Press("esc")
	u.Hides("hints", "copy", "0/0")
	u.Press("ctrl+space U", "a")
	if got := copied(t, u); got != "ui/model.go:12" {
		t.Errorf("copied %q", got)
	}
}
