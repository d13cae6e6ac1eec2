package layout

import (
	"strings"
	"testing"
)

// sized gives terminals the sizes that they have where each tab shows in an area.
func sized(l Layout, area Rect) func(URI) (cols, rows int) {
	return func(u URI) (cols, rows int) {
		for _, t := range l.Tabs {
			for _, p := range t.unzoomed().Arrange(area).Panes {
				if p.Terminal == u {
					return p.Body.W, p.Body.H
				}
			}
		}
		return 0, 0
	}
}

func TestBesideMovesNoFocus(t *testing.T) {
	area := Rect{W: 80, H: 23}
	l := tabsOf(t, 2) // each with a pane, the second one active
	l = must(t)(l.Beside(uri(0), uri(10), sized(l, area)))
	l = must(t)(l.Beside(uri(10), uri(11), sized(l, area)))
	check(t, l)
	if l.Active != 1 || l.Tabs[0].Focus != "p1" || l.Tabs[0].count() != 3 {
		t.Errorf("it is %s", l.Encode())
	}
	// What is zoomed stays so.
	l = l.GoTab(0).Zoom()
	l = must(t)(l.Beside(uri(11), uri(12), sized(l, area)))
	if !l.Tabs[0].Zoom || l.Tabs[0].Focus != "p1" || l.Tabs[0].count() != 4 {
		t.Errorf("zoomed it is %s", l.Encode())
	}
	for err := error(nil); err == nil; {
		l, _, err = l.Beside(uri(12), uri(100+l.total()), sized(l, area))
		if err != nil && !strings.Contains(err.Error(), "no room") || l.total() > 30 {
			t.Fatalf("%d panes: %v", l.total(), err)
		}
	}
	if _, _, err := l.Beside(uri(99), uri(98), sized(l, area)); err == nil {
		t.Error("beside nothing")
	}
}

func TestRefocusedKeepsWhatShows(t *testing.T) {
	l := must(t)(tabsOf(t, 2).NewFloat(uri(10))).HideFloats()
	is := must(t)(l.NewFloat(uri(11))).Refocused(l)
	check(t, is)
	if tab := is.Tabs[1]; !tab.Hidden || len(tab.Floats) != 2 || tab.Focus != "p3" {
		t.Errorf("hidden floats: %s", is.Encode())
	}
	gone := l.GoTab(0).CloseTab(1).Refocused(l)
	check(t, gone)
	if len(gone.Tabs) != 1 || gone.Active != 0 {
		t.Errorf("without the active tab: %s", gone.Encode())
	}
}
