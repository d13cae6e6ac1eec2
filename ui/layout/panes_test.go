package layout

import (
	"slices"
	"testing"

	"tandemux/ahp"
)

// columns is a tab with n panes side by side, p1, p3, p4, ... (t2 is the tab).
func columns(t *testing.T, area Rect, n int) Layout {
	l := must(t)(New("main").NewTab(uri(1)))
	for i := 2; i <= n; i++ {
		tab, _ := l.Tab()
		l = must(t)(l.Split(area, tab.Focus, Right, uri(i)))
	}
	return l
}

func TestSplitTakesFromThePaneAlone(t *testing.T) {
	area := Rect{W: 23, H: 3}
	l := columns(t, area, 2)
	shows(t, l, `
		1==========|3##########
		11111111111|33333333333
		11111111111|33333333333`)
	shows(t, must(t)(l.Split(area, "p3", Left, uri(3))), `
		1==========|4####|3====
		11111111111|44444|33333
		11111111111|44444|33333`)
	shows(t, must(t)(l.Split(area, "p1", Up, uri(3))), `
		4##########|3==========
		44444444444|33333333333
		44444444444|33333333333
		1==========|33333333333
		11111111111|33333333333`)
}

func TestCloseGivesTheCellsToTheNeighbourAlone(t *testing.T) {
	area := Rect{W: 23, H: 3}
	l := columns(t, area, 4)
	shows(t, l, `
		1==========|3====|4=|5#
		11111111111|33333|44|55
		11111111111|33333|44|55`)
	shows(t, l.Close(area, "p4"), `
		1==========|3=======|5#
		11111111111|33333333|55
		11111111111|33333333|55`)
	shows(t, l.Close(area, "p1"), `
		3================|4=|5#
		33333333333333333|44|55
		33333333333333333|44|55`)
}

func TestCloseJoinsSplitsOfTheSameAxis(t *testing.T) {
	area := Rect{W: 20, H: 6}
	l := columns(t, area, 2)
	l = must(t)(l.Split(area, "p3", Down, uri(3)))
	l = must(t)(l.Split(area, "p4", Right, uri(4)))
	want := `
		1=========|3========
		1111111111|333333333
		1111111111|333333333
		1111111111|4===|5###
		1111111111|4444|5555
		1111111111|4444|5555`
	shows(t, l, want)
	l = l.Close(area, "p3")
	shows(t, l, `
		1=========|4===|5###
		1111111111|4444|5555
		1111111111|4444|5555`)
	if tab, _ := l.Tab(); len(tab.Root.Children) != 3 {
		t.Errorf("the row has %d children", len(tab.Root.Children))
	}
}

func TestFocusAfterClose(t *testing.T) {
	area := Rect{W: 80, H: 24}
	l := columns(t, area, 4).FocusPane("p1").FocusPane("p4")
	l = l.Close(area, "p4")
	if tab, _ := l.Tab(); tab.Focus != "p1" {
		t.Errorf("the focus is at %s, was at p1 before", tab.Focus)
	}
	l.Tabs[0].Recent = nil
	l = l.Close(area, "p1")
	if tab, _ := l.Tab(); tab.Focus != "p3" {
		t.Errorf("the focus is at %s, p3 is next", tab.Focus)
	}
	l = l.Close(area, "p5").Close(area, "p3")
	if _, ok := l.Tab(); ok || len(l.Tabs) != 0 {
		t.Errorf("the last pane left %+v", l)
	}
	check(t, l)
}

func TestResizeMovesTheBorderInTheDirection(t *testing.T) {
	area := Rect{W: 20, H: 3}
	l := columns(t, area, 3)
	shows(t, l, `
		1=========|3===|4###
		1111111111|3333|4444`)
	for _, c := range []struct {
		pane PaneID
		d    Direction
		n    int
		want string
	}{
		{"p1", Right, 1, "1==========|3==|4###"},
		{"p1", Left, 3, "1======|3======|4###"},
		{"p4", Left, 1, "1=========|3==|4####"},
		{"p4", Right, 1, "1=========|3====|4##"},
		{"p1", Right, 4, "1=============|3=|4#"},
		{"p1", Right, 99, "1=============|3=|4#"},
		{"p4", Left, 99, "1=|3=|4#############"},
		{"p3", Up, 1, "1=========|3===|4###"},
		{"p3", Down, 0, "1=========|3===|4###"},
	} {
		got := l.Resize(area, c.pane, c.d, c.n)
		tab, _ := got.Tab()
		if header := picture(tab.Arrange(area))[:20]; header != c.want {
			t.Errorf("%s %v %d shows %s, want %s", c.pane, c.d, c.n, header, c.want)
		}
		check(t, got)
	}
}

func TestResizeFindsTheSplitAlongItsDirection(t *testing.T) {
	l, area := three(t)
	shows(t, l.Resize(area, "p4", Up, 2).Resize(area, "p3", Left, 2), `
		1=======|3===========
		11111111|333333333333
		11111111|4###########
		11111111|444444444444
		11111111|444444444444
		11111111|444444444444
		11111111|444444444444
		11111111|444444444444`)
	z := l.Zoom().Resize(area, "p4", Up, 1)
	if tab, _ := z.Tab(); tab.Zoom {
		t.Error("resizing left the pane zoomed")
	}
}

func TestDrag(t *testing.T) {
	l, area := three(t)
	tab, _ := l.Tab()
	a := tab.Arrange(area)
	divider := a.At(10, 2).Edge
	header := a.At(15, 4).Edge
	shows(t, l.Drag(area, divider, 6, 0).Drag(area, header, 0, 2), `
		1=====|3=============
		111111|33333333333333
		111111|4#############
		111111|44444444444444
		111111|44444444444444
		111111|44444444444444
		111111|44444444444444
		111111|44444444444444`)
	far := l.Drag(area, divider, -50, 0).Drag(area, header, 0, 50)
	shows(t, far, `
		1=|3=================
		11|333333333333333333
		11|333333333333333333
		11|333333333333333333
		11|333333333333333333
		11|333333333333333333
		11|4#################
		11|444444444444444444`)
	closed := l.Close(area, "p3")
	for _, e := range []Edge{header, divider, {}, {Axis: Row, Before: "p1", After: "p1"}, {Axis: Column, Before: "p1", After: "p4"}} {
		if got := closed.Drag(area, e, 3, 3); !got.Equal(closed) {
			t.Errorf("the edge %+v is gone, and yet dragging it gives %s", e, got.Encode())
		}
	}
}

func TestFocusGoesToTheMostRecentNeighbour(t *testing.T) {
	l, area := three(t)
	at := func(l Layout) PaneID {
		tab, _ := l.Tab()
		return tab.Focus
	}
	// From p4 to the left and back: p4 was focused last.
	if got := at(l.Focus(area, Left).Focus(area, Right)); got != "p4" {
		t.Errorf("right of p1 goes to %s", got)
	}
	if got := at(l.Focus(area, Up).Focus(area, Left).Focus(area, Right)); got != "p3" {
		t.Errorf("right of p1 goes to %s, p3 was focused last", got)
	}
	// Nobody was ever focused: the longest common border wins.
	l.Tabs[0].Recent, l.Tabs[0].Focus = nil, "p1"
	l = l.Resize(area, "p4", Up, 2)
	if got := at(l.Focus(area, Right)); got != "p4" {
		t.Errorf("right of p1 goes to %s, p4 is longer", got)
	}
	for _, d := range []Direction{Left, Up, Down} {
		if got := l.Focus(area, d); !got.Equal(l) {
			t.Errorf("from p1 %v goes to %s", d, at(got))
		}
	}
	// Too small an area does not keep anyone from moving, nor does the zoom.
	if got := at(l.Focus(Rect{W: 3, H: 1}, Right)); got != "p3" {
		t.Errorf("in a small area, where all are equal, right of p1 goes to %s", got)
	}
	z := l.Zoom().Focus(area, Right)
	if tab, _ := z.Tab(); tab.Zoom || tab.Focus != "p4" {
		t.Errorf("from a zoomed pane the focus goes to %s, zoom %v", tab.Focus, tab.Zoom)
	}
}

func TestFocusInOrderAndBack(t *testing.T) {
	l := columns(t, Rect{W: 80, H: 24}, 3)
	var got []PaneID
	for range 4 {
		l = l.FocusNext(1)
		tab, _ := l.Tab()
		got = append(got, tab.Focus)
	}
	if want := []PaneID{"p1", "p3", "p4", "p1"}; !slices.Equal(got, want) {
		t.Errorf("next goes to %v, want %v", got, want)
	}
	if tab, _ := l.FocusNext(-1).Tab(); tab.Focus != "p4" {
		t.Errorf("before the first is %s", tab.Focus)
	}
	if tab, _ := l.FocusLast().FocusLast().Tab(); tab.Focus != "p1" {
		t.Errorf("back and back again is %s", tab.Focus)
	}
}

func TestPresets(t *testing.T) {
	area := Rect{W: 23, H: 8}
	l := columns(t, area, 5)
	for _, c := range []struct {
		preset Preset
		want   string
	}{
		{EvenHorizontal, `
			1===|3==|4==|5==|6##
			1111|333|444|555|666`},
		{EvenVertical, `
			1==
			111
			3==
			333
			4==
			444
			5==
			555
			6##
			666`},
		{MainHorizontal, `
			1==================
			1111111111111111111
			1111111111111111111
			3===|4===|5===|6###
			3333|4444|5555|6666`},
		{MainVertical, `
			1=======|3====
			11111111|33333
			11111111|4====
			11111111|44444
			11111111|5====
			11111111|55555
			11111111|6####
			11111111|66666`},
		{Tiled, `
			1====|3====
			11111|33333
			4====|5====
			44444|55555
			6##########
			66666666666`},
	} {
		got := l.Apply(c.preset)
		shows(t, got, c.want)
		if tab, _ := got.Tab(); tab.Preset != c.preset {
			t.Errorf("%s is remembered as %q", c.preset, tab.Preset)
		}
	}
	if got := l.Apply("nonsense"); !got.Equal(l) {
		t.Error("an unknown preset changed the layout")
	}
}

func TestNextPresetLeavesOutWhatDoesNotFit(t *testing.T) {
	area := Rect{W: 20, H: 5}
	l := columns(t, area, 4)
	var got []Preset
	for range 5 {
		l = l.NextPreset(area)
		tab, _ := l.Tab()
		got = append(got, tab.Preset)
	}
	want := []Preset{EvenHorizontal, MainHorizontal, Tiled, EvenHorizontal, MainHorizontal}
	if !slices.Equal(got, want) {
		t.Errorf("next goes through %v, want %v", got, want)
	}
	small := l.NextPreset(Rect{W: 3, H: 3})
	if !small.Equal(l) {
		t.Error("where nothing fits, the arrangement changed")
	}
}

func TestEvenMakesPanesEqual(t *testing.T) {
	area := Rect{W: 23, H: 7}
	l := columns(t, area, 3)
	l = must(t)(l.Split(area, "p1", Down, uri(4)))
	l = must(t)(l.Split(area, "p5", Right, uri(5)))
	shows(t, l.Resize(area, "p3", Left, 4).Even(), `
		1==========|3====|4====
		11111111111|33333|44444
		11111111111|33333|44444
		5====|6####|33333|44444
		55555|66666|33333|44444
		55555|66666|33333|44444`)
}

func TestSwapWithinATab(t *testing.T) {
	l, _ := three(t)
	shows(t, l.Swap("p1", "p4"), `
		4##|3==
		444|333
		444|1==
		444|111`)
	shows(t, l.SwapNext("p4", 1), `
		4##|3==
		444|333
		444|1==
		444|111`)
	if got := l.Swap("p1", "p1").Swap("p1", "gone"); !got.Equal(l) {
		t.Errorf("swapping with nobody gives %s", got.Encode())
	}
}

func TestSwapAcrossTabs(t *testing.T) {
	l, _ := three(t)
	l = must(t)(l.NewTab(uri(9)))
	tab, _ := l.Tab()
	l = l.Swap(tab.Focus, "p4")
	check(t, l)
	if l.Tabs[0].Focus != tab.Focus || l.Tabs[1].Focus != "p4" {
		t.Errorf("the focus is %s and %s", l.Tabs[0].Focus, l.Tabs[1].Focus)
	}
}

func TestMoveBreakOutAndJoin(t *testing.T) {
	l, area := three(t)
	l = l.RenamePane("p4", "tests")
	moved, err := l.Move(area, "p4", "p1", Left)
	if err != nil {
		t.Fatal(err)
	}
	shows(t, moved, `
		4###|1====|3=========
		4444|11111|3333333333`)
	out, err := l.BreakOut(area, "p4")
	if err != nil {
		t.Fatal(err)
	}
	check(t, out)
	if len(out.Tabs) != 2 || out.Active != 1 || out.Tabs[1].Root.Name != "tests" || out.Tabs[1].Focus != "p4" {
		t.Errorf("broken out is %s", out.Encode())
	}
	if got := out.LastTab(); got.Active != 0 {
		t.Errorf("the last tab is %d", got.Active)
	}
	if _, err := out.BreakOut(area, "p4"); err == nil {
		t.Error("a pane alone in its tab was broken out")
	}
	joined, err := out.Move(area, "p4", "p3", Down)
	if err != nil {
		t.Fatal(err)
	}
	if len(joined.Tabs) != 1 {
		t.Errorf("joined is %s", joined.Encode())
	}
	shows(t, joined, `
		1==|3==
		111|333
		111|4##
		111|444`)
	if same, err := l.Move(area, "p4", "p4", Up); err != nil || !same.Equal(l) {
		t.Errorf("moving beside itself gives %s, %v", same.Encode(), err)
	}
	for _, pair := range [][2]PaneID{{"p4", "gone"}, {"gone", "p4"}} {
		if _, err := l.Move(area, pair[0], pair[1], Up); err == nil {
			t.Errorf("moved %v", pair)
		}
	}
}

func TestCanSplit(t *testing.T) {
	l, _ := three(t)
	tab, _ := l.Tab()
	for _, c := range []struct {
		area        Rect
		right, down bool
	}{
		{Rect{W: 21, H: 8}, true, true},
		{Rect{W: 10, H: 7}, false, false},
		{Rect{W: 11, H: 8}, true, true},
		{Rect{W: 11, H: 6}, true, false},
		{Rect{W: 4, H: 8}, false, false},
	} {
		if right, down := tab.CanSplit(c.area, "p4", Right), tab.CanSplit(c.area, "p4", Down); right != c.right || down != c.down {
			t.Errorf("in %+v splits right %v, down %v", c.area, right, down)
		}
	}
	one := must(t)(New("").NewTab(uri(1)))
	tab, _ = one.Tab()
	if tab.CanSplit(Rect{W: 80, H: 1}, "p1", Right) || tab.CanSplit(Rect{W: 80, H: 3}, "p1", Down) || !tab.CanSplit(Rect{W: 5, H: 2}, "p1", Right) {
		t.Error("a pane alone needs room for the headers too")
	}
}

func TestTerminals(t *testing.T) {
	l, area := three(t)
	l = must(t)(l.NewTab(uri(1)))
	if got := l.Terminals(); !slices.Equal(got, []ahp.URI{uri(1), uri(2), uri(3)}) {
		t.Errorf("shows %v", got)
	}
	if got := New("x").Terminals(); got == nil || len(got) != 0 {
		t.Errorf("an empty layout shows %#v", got)
	}
	if id, ok := l.Showing(uri(1)); !ok || id == "p1" {
		t.Errorf("%s shows it, the active tab's pane comes first", id)
	}
	if _, ok := l.Showing("ahp-terminal:/none"); ok {
		t.Error("a pane shows what none shows")
	}
	gone := l.RemoveTerminal(area, uri(1))
	check(t, gone)
	if len(gone.Tabs) != 1 || len(gone.Tabs[0].Root.leaves(nil)) != 2 {
		t.Errorf("without the terminal it is %s", gone.Encode())
	}
	pruned := l.Prune(area, func(u ahp.URI) bool { return u == uri(3) })
	check(t, pruned)
	if got := pruned.Terminals(); !slices.Equal(got, []ahp.URI{uri(3)}) {
		t.Errorf("pruned shows %v", got)
	}
}

func TestBounds(t *testing.T) {
	l := New("")
	for i := range MaxTabs {
		l = must(t)(l.NewTab(uri(i)))
	}
	if _, _, err := l.NewTab(uri(1)); err == nil {
		t.Error("opened one tab too many")
	}
	if _, err := must(t)(l.Split(Rect{}, "p1", Right, uri(1))).BreakOut(Rect{}, "p1"); err == nil {
		t.Error("broke out one tab too many")
	}
	l = must(t)(New("").NewTab(uri(0)))
	at, dirs := PaneID("p1"), []Direction{Right, Down}
	for i := range MaxDepth - 1 {
		var err error
		if l, at, err = l.Split(Rect{}, at, dirs[i%2], uri(i)); err != nil {
			t.Fatal(err)
		}
	}
	if got, _, err := l.Split(Rect{}, at, dirs[(MaxDepth-1)%2], uri(1)); err == nil || !got.Equal(l) {
		t.Error("split one level too deep")
	}
	check(t, l)
	full := New("")
	for total := 0; total < MaxTotal; {
		full = must(t)(full.NewTab(uri(total)))
		total++
		for n := 1; n < MaxPanes && total < MaxTotal; n++ {
			tab, _ := full.Tab()
			full = must(t)(full.Split(Rect{}, tab.Focus, Right, uri(total)))
			total++
		}
		tab, _ := full.Tab()
		if _, _, err := full.Split(Rect{}, tab.Focus, Right, uri(1)); err == nil {
			t.Error("split one pane too many")
		}
	}
	if _, _, err := full.NewTab(uri(1)); err == nil {
		t.Error("opened one pane too many")
	}
	check(t, full)
}
