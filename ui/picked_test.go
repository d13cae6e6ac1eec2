package ui_test

import (
	"slices"
	"testing"
)

// litRows gives the rows of the first pane whose text is highlighted.
func litRows(u *UI) (rows []int) {
	_, h := u.Outer().Size()
	for y := range h - 1 {
		if cells := u.Outer().Line(y, nil); !cells[2].Style.BG.IsDefault() {
			rows = append(rows, y)
		}
	}
	return rows
}

// TestPickedCommand: going through commands marks their lines, also where they show
// already, and what is done with the command is done with that one, until something
// is typed or the last one is left.
func TestPickedCommand(t *testing.T) {
	u := New(t, Options{W: 60, H: 20})
	sh := u.Host.Terminal("sh1")
	sh.Detect()
	sh.Run("one", "first\r\n", 0)
	sh.Run("two "+string(slices.Repeat([]rune{'x'}, 70)), "second\r\nline\r\n", 1)
	sh.Run("three", "third\r\n", 0)
	u.WaitIdle()
	for _, step := range []struct {
		keys   string
		rows   []int
		copied string
	}{
		{"ctrl+space }", nil, "third"},
		{"ctrl+space {", []int{6}, "third"},
		{"ctrl+space {", []int{2, 3}, "second\nline"},
		{"ctrl+space {", []int{0}, "first"},
		{"ctrl+space {", []int{0}, "first"},
		{"ctrl+space }", []int{2, 3}, "second\nline"},
		{"ctrl+space }", []int{6}, "third"},
		{"ctrl+space }", nil, "third"},
		{"ctrl+space {", []int{6}, "third"},
		{"a", nil, "third"},
	} {
		u.Press(step.keys, "ctrl+space y")
		if got := litRows(u); !slices.Equal(got, step.rows) {
			t.Errorf("after %s rows %v are marked, want %v:\n%s", step.keys, got, step.rows, u.Screen())
		}
		if got := copied(t, u); got != step.copied {
			t.Errorf("after %s the output is %q, want %q", step.keys, got, step.copied)
		}
	}
	u.Press("ctrl+space {", "ctrl+space {", "ctrl+space e")
	if u.Hides("second"); !slices.Equal(litRows(u), []int{2, 3}) {
		t.Errorf("folded, rows %v are marked", litRows(u))
	}
	u.Press("ctrl+space }")
	if !slices.Equal(litRows(u), []int{4}) {
		t.Errorf("behind what is folded, rows %v are marked:\n%s", litRows(u), u.Screen())
	}
	sh.Print("\x1b[?1049hvim")
	u.WaitIdle()
	if got := litRows(u); got != nil {
		t.Errorf("on a screen of its own rows %v are marked", got)
	}
}
