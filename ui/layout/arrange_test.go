package layout

import "testing"

// three is pane 1 on the left, 2 over 3 on the right, 3 focused.
func three(t *testing.T) (Layout, Rect) {
	area := Rect{W: 21, H: 8}
	l := must(t)(New("main").NewTab(uri(1)))
	l = must(t)(l.Split(area, "p1", Right, uri(2)))
	return must(t)(l.Split(area, "p3", Down, uri(3))), area
}

func TestAPaneAloneHasTheWholeArea(t *testing.T) {
	l := must(t)(New("main").NewTab(uri(1)))
	shows(t, l, `
		11111
		11111`)
}

func TestSeveralPanesHaveHeadersAndOneDividerBetweenColumns(t *testing.T) {
	l, _ := three(t)
	shows(t, l, `
		1=========|3=========
		1111111111|3333333333
		1111111111|3333333333
		1111111111|3333333333
		1111111111|4#########
		1111111111|4444444444
		1111111111|4444444444
		1111111111|4444444444`)
}

func TestZoomShowsTheFocusedPaneAlone(t *testing.T) {
	l, _ := three(t)
	shows(t, l.Zoom(), `
		4444444
		4444444`)
	shows(t, l.Zoom().Zoom(), `
		1==|3==
		111|333
		111|4##
		111|444`)
}

func TestTooSmallShowsTheFocusedPaneAndSaysSo(t *testing.T) {
	l, _ := three(t)
	tab, _ := l.Tab()
	for _, area := range []Rect{{W: 4, H: 8}, {W: 21, H: 3}, {W: 2, H: 1}} {
		a := tab.Arrange(area)
		if !a.TooSmall || len(a.Panes) != 1 || a.Panes[0].Pane != "p4" || a.Panes[0].Body != area {
			t.Errorf("%+v shows %+v", area, a)
		}
	}
	if a := tab.Arrange(Rect{W: 5, H: 4}); a.TooSmall || len(a.Panes) != 3 {
		t.Errorf("the smallest size shows %+v", a)
	}
	for _, area := range []Rect{{W: 1, H: 9}, {W: 9}, {}, {W: -3, H: -1}} {
		if a := tab.Arrange(area); !a.TooSmall || len(a.Panes) != 0 {
			t.Errorf("%+v shows %+v", area, a)
		}
	}
}

func TestShrinkingIsUndoneByGrowing(t *testing.T) {
	l, area := three(t)
	l = l.Resize(area, "p1", Left, 4)
	want := `
		1=====|3=============
		111111|33333333333333
		111111|33333333333333
		111111|33333333333333
		111111|4#############
		111111|44444444444444
		111111|44444444444444
		111111|44444444444444`
	shows(t, l, want)
	shows(t, l, `
		1=|3===
		11|3333
		11|4###
		11|4444`)
	shows(t, l, want)
}

func TestHits(t *testing.T) {
	l, area := three(t)
	tab, _ := l.Tab()
	area.X, area.Y = 3, 1
	a := tab.Arrange(area)
	column := Edge{Axis: Column, Before: "p3", After: "p4"}
	row := Edge{Axis: Row, Before: "p1", After: "p3"}
	for _, c := range []struct {
		x, y int
		want Hit
	}{
		{3, 1, Hit{Kind: HitHeader, Pane: "p1"}},
		{3, 2, Hit{Kind: HitBody, Pane: "p1"}},
		{13, 1, Hit{Kind: HitDivider, Edge: row}},
		{13, 8, Hit{Kind: HitDivider, Edge: row}},
		{14, 1, Hit{Kind: HitHeader, Pane: "p3"}},
		{23, 5, Hit{Kind: HitHeader, Pane: "p4", Edge: column}},
		{23, 8, Hit{Kind: HitBody, Pane: "p4"}},
		{2, 1, Hit{}},
		{3, 0, Hit{}},
		{24, 8, Hit{}},
		{23, 9, Hit{}},
	} {
		if got := a.At(c.x, c.y); got != c.want {
			t.Errorf("at %d,%d is %+v, want %+v", c.x, c.y, got, c.want)
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		cells                 int
		weights, leasts, want []int
	}{
		{79, []int{1, 1}, []int{2, 2}, []int{40, 39}},
		{100, []int{1, 1, 1}, []int{2, 2, 2}, []int{34, 33, 33}},
		{10, []int{1, 2, 7}, []int{2, 2, 2}, []int{2, 2, 6}},
		{10, []int{1, 1, 98}, []int{4, 3, 2}, []int{4, 3, 3}},
		{6, []int{1, 1, 98}, []int{2, 2, 2}, []int{2, 2, 2}},
		{60, []int{10, 20, 30}, []int{2, 2, 2}, []int{10, 20, 30}},
		{65535, []int{MaxWeight, 1}, []int{2, 2}, []int{65533, 2}},
	} {
		got := share(c.cells, c.weights, c.leasts)
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%d by %v is %v, want %v", c.cells, c.weights, got, c.want)
				break
			}
		}
	}
}
