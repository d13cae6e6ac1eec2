package layout

import (
	"strings"
	"testing"
)

// floating is a layout of two tiled panes and a float.
func floating(t *testing.T) Layout {
	t.Helper()
	l := must(t)(New("l").NewTab(uri(1)))
	l = must(t)(l.Split(Rect{}, "p1", Right, uri(2)))
	l, id, err := l.NewFloat(uri(3))
	if err != nil {
		t.Fatal(err)
	}
	return l.PlaceFloat(Rect{W: 20, H: 7}, id, Rect{X: 5, Y: 2, W: 9, H: 4})
}

func TestFloatsLieAbove(t *testing.T) {
	l := floating(t)
	id := l.Tabs[0].Focus
	if !l.Tabs[0].Floating(id) {
		t.Fatalf("the focus is on %s", id)
	}
	n := string(id[len(id)-1])
	second := string(l.Tabs[0].Panes()[1].Pane)
	s := second[len(second)-1:]
	first := string(l.Tabs[0].Panes()[0].Pane)
	f := first[len(first)-1:]
	want := strings.NewReplacer("1", f, "2", s, "3", n).Replace(`
		1=========|2========
		1111111111|222222222
		111113########222222
		11111+3333333+222222
		11111+3333333+222222
		11111+++++++++222222
		1111111111|222222222`)
	shows(t, l, want)
	hidden := l.HideFloats()
	check(t, hidden)
	if tb := hidden.Tabs[0]; tb.Focus != PaneID(second) || len(tb.Arrange(Rect{W: 20, H: 7}).Panes) != 2 {
		t.Errorf("hidden, the focus is on %s", tb.Focus)
	}
	if back := hidden.ShowFloats(); back.Tabs[0].Focus != id {
		t.Errorf("shown again, the focus is on %s", back.Tabs[0].Focus)
	}
	if again := hidden.FocusPane(id); again.Tabs[0].Hidden {
		t.Error("a focused float is hidden")
	}
}

func TestFloatsKeepTheirShare(t *testing.T) {
	l := floating(t)
	a := l.Tabs[0].Arrange(Rect{W: 40, H: 14})
	if p, _ := a.Pane(l.Tabs[0].Focus); p.Frame != (Rect{10, 4, 18, 8}) {
		t.Errorf("on twice the screen it is at %+v", p.Frame)
	}
	tiny := l.Tabs[0].Arrange(Rect{W: 10, H: 2})
	if !tiny.TooSmall || len(tiny.Panes) != 1 || tiny.Panes[0].Body != (Rect{W: 10, H: 2}) {
		t.Errorf("too small, it shows %+v", tiny)
	}
}

func TestFloatsMoveAndResize(t *testing.T) {
	l, area := floating(t), Rect{W: 20, H: 7}
	id := l.Tabs[0].Focus
	for _, c := range []struct {
		change func(Layout) Layout
		want   Rect
	}{
		{func(l Layout) Layout { return l.Resize(area, id, Right, 3) }, Rect{5, 2, 12, 4}},
		{func(l Layout) Layout { return l.Resize(area, id, Left, 30) }, Rect{5, 2, 4, 4}},
		{func(l Layout) Layout { return l.Resize(area, id, Down, 9) }, Rect{5, 2, 9, 5}},
		{func(l Layout) Layout { return l.Resize(area, id, Up, 1) }, Rect{5, 2, 9, 3}},
		{func(l Layout) Layout { return l.PlaceFloat(area, id, Rect{-4, 90, 9, 4}) }, Rect{0, 3, 9, 4}},
		{func(l Layout) Layout { return l.PlaceFloat(area, id, Rect{0, 0, 90, 90}) }, area},
	} {
		if p, _ := c.change(l).Tabs[0].Arrange(area).Pane(id); p.Frame != c.want {
			t.Errorf("it is at %+v, want %+v", p.Frame, c.want)
		}
	}
}

func TestDirectionsLeadOutOfAFloat(t *testing.T) {
	l, area := floating(t), Rect{W: 20, H: 7}
	panes := l.Tabs[0].Panes()
	for d, want := range map[Direction]PaneID{Left: panes[0].Pane, Right: panes[1].Pane} {
		if got := l.Focus(area, d).Tabs[0].Focus; got != want {
			t.Errorf("direction %d leads to %s, want %s", d, got, want)
		}
	}
	if l.FocusPane(panes[0].Pane).Focus(area, Right).Tabs[0].Focus != panes[1].Pane {
		t.Error("a float is in the way")
	}
}

func TestLift(t *testing.T) {
	l, area := floating(t), Rect{W: 80, H: 24}
	first := l.Tabs[0].Panes()[0].Pane
	up, err := l.Lift(area, first)
	if err != nil || !up.Tabs[0].Floating(first) || up.Tabs[0].Focus != first || len(up.Tabs[0].Root.leaves(nil)) != 1 {
		t.Fatalf("%v, %+v", err, up.Tabs[0])
	}
	check(t, up)
	if _, err := up.Lift(area, up.Tabs[0].Root.Pane); err == nil {
		t.Error("the last tiled pane floats")
	}
	down, err := up.Lift(area, first)
	if err != nil || down.Tabs[0].Floating(first) || down.Tabs[0].Focus != first {
		t.Fatalf("%v, %+v", err, down.Tabs[0])
	}
	check(t, down)
}

// A tab whose last tiled pane closes keeps its floats: the lowest comes down.
func TestTheLowestFloatComesDown(t *testing.T) {
	l := must(t)(New("l").NewTab(uri(1)))
	l, a, _ := l.NewFloat(uri(2))
	l, b, _ := l.NewFloat(uri(3))
	l = l.RemoveTerminal(Rect{}, uri(1))
	check(t, l)
	if tb := l.Tabs[0]; tb.Root.Pane != a || len(tb.Floats) != 1 || tb.Focus != b {
		t.Errorf("%+v", tb)
	}
	l = l.HideFloats().RemoveTerminal(Rect{}, uri(2))
	check(t, l)
	if tb := l.Tabs[0]; tb.Root.Pane != b || tb.Focus != b {
		t.Errorf("%+v", tb)
	}
}

func TestFloatsInDocuments(t *testing.T) {
	doc := `{"active":0,"nextId":1,"tabs":[{"floats":[{"pane":"p2","place":[100,200,3000,4000],"terminal":"a:/2","x":1}],"focus":"p2","id":"t1",` +
		`"root":{"pane":"p1","terminal":"a:/1"}}],"version":1}`
	l, err := Decode([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	if f := l.Tabs[0].Floats; len(f) != 1 || f[0].W != 3000 || !strings.Contains(string(l.Encode()), `"x":1`) {
		t.Errorf("%+v in %s", f, l.Encode())
	}
	for broken, want := range map[string]string{
		`[100,200,3000]`:       "its place is not four numbers",
		`[100,200,3000,10001]`: "tab 1: float 1: its place has 10001",
		`[-1,200,3000,1]`:      "tab 1: float 1: its place has -1",
		`"x"`:                  "/tabs/0/floats/0/place",
		`[1,2,3,4],"children":[{"pane":"p3","terminal":"a:/3"}]`: "tab 1: float 1: it is no pane",
	} {
		_, err := Decode([]byte(strings.Replace(doc, "[100,200,3000,4000]", broken, 1)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", broken, err, want)
		}
	}
	twice := strings.Replace(doc, `"pane":"p2"`, `"pane":"p1"`, 1)
	if _, err := Decode([]byte(twice)); err == nil || !strings.Contains(err.Error(), `pane "p1" occurs twice`) {
		t.Errorf("one id for two panes: %v", err)
	}
}

// Floats show again when the focused pane trades places with one of them: what is
// typed would go to a pane that nobody sees.
func TestTradingPlacesWithAHiddenFloat(t *testing.T) {
	l := must(t)(New("l").NewTab(uri(1)))
	tiled := l.Tabs[0].Focus
	l, float, _ := l.NewFloat(uri(2))
	l = l.HideFloats().Swap(float, tiled)
	check(t, l)
	if tb := l.Tabs[0]; tb.Hidden || tb.Focus != tiled || !tb.Floating(tiled) {
		t.Errorf("%+v", tb)
	}
}
