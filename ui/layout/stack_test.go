package layout

import (
	"strings"
	"testing"
)

// apart is p1 beside a column of p2, p3 and p4, which has the focus.
func apart(t *testing.T) (Layout, Rect) {
	area := Rect{W: 21, H: 9}
	l := must(t)(New("main").NewTab(uri(1)))
	l = must(t)(l.Split(area, "p1", Right, uri(2)))
	l = must(t)(l.Split(area, "p3", Down, uri(3)))
	l = must(t)(l.Split(area, "p4", Down, uri(4)))
	return l, area
}

// ok unwraps an operation that is expected to work.
func ok(t *testing.T) func(Layout, error) Layout {
	return func(l Layout, err error) Layout {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

func TestStack(t *testing.T) {
	l, area := apart(t)
	before := l
	l = ok(t)(l.Stack(area, "p4"))
	shows(t, l, `
		1=========|3---------
		1111111111|4---------
		1111111111|5#########
		1111111111|5555555555
		1111111111|5555555555
		1111111111|5555555555
		1111111111|5555555555
		1111111111|5555555555
		1111111111|5555555555`)
	// The focus goes through it, and leaves one pane open.
	l = l.Focus(area, Up)
	shows(t, l, `
		1=========|3---------
		1111111111|4#########
		1111111111|4444444444
		1111111111|4444444444
		1111111111|4444444444
		1111111111|4444444444
		1111111111|4444444444
		1111111111|4444444444
		1111111111|5---------`)
	back := l.Focus(area, Left).Focus(area, Right)
	if tab, _ := back.Tab(); tab.Focus != "p4" {
		t.Errorf("back from the left the focus is on %s", tab.Focus)
	}
	if tab, _ := l.Focus(area, Up).Focus(area, Up).Tab(); tab.Focus != "p3" {
		t.Errorf("up to the end is %s", tab.Focus)
	}
	if tab, _ := l.Focus(area, Left).Tab(); tab.Open(tab.Root.at(path{1})).Pane != "p4" {
		t.Error("left alone another pane is open")
	}
	// A new pane on the right is beside the stack, one below in it.
	shows(t, must(t)(l.Split(area, "p4", Right, uri(9))), `
		1=========|3----|6###
		1111111111|4====|6666
		1111111111|44444|6666
		1111111111|44444|6666
		1111111111|44444|6666
		1111111111|44444|6666
		1111111111|44444|6666
		1111111111|44444|6666
		1111111111|5----|6666`)
	for name, in := range map[string]func() (Layout, PaneID, error){
		"split":   func() (Layout, PaneID, error) { return l.Split(area, "p4", Down, uri(9)) },
		"stacked": func() (Layout, PaneID, error) { return l.NewStacked(area, "p4", uri(9)) },
	} {
		in, id, err := in()
		if err != nil || id != "p6" {
			t.Fatalf("%s: %s, %v", name, id, err)
		}
		shows(t, in, `
			1=========|3---------
			1111111111|4---------
			1111111111|6#########
			1111111111|6666666666
			1111111111|6666666666
			1111111111|6666666666
			1111111111|6666666666
			1111111111|6666666666
			1111111111|5---------`)
	}
	// Taken apart it is as it was but for the focus.
	l = ok(t)(l.Unstack(area, "p4"))
	if apart := before.FocusPane("p4"); string(apart.Tabs[0].Root.Children[1].Encode()) != string(l.Tabs[0].Root.Children[1].Encode()) {
		t.Errorf("it is %s, was %s", l.Encode(), apart.Encode())
	}
}

// Encode is a node as a document has it.
func (n *Node) Encode() string { return string(New("").withRoot(n).Encode()) }

func (l Layout) withRoot(n *Node) Layout {
	l.Tabs = []Tab{{ID: "t", Root: n}}
	return l
}

// A stack takes in what stands beside it, until it is all of the tab.
func TestStackGrows(t *testing.T) {
	l, area := apart(t)
	l = ok(t)(l.Stack(area, "p5"))
	l = ok(t)(l.Stack(area, "p5"))
	shows(t, l, `
		1--------------------
		3--------------------
		4--------------------
		5####################
		555555555555555555555
		555555555555555555555
		555555555555555555555
		555555555555555555555
		555555555555555555555`)
	for _, c := range []struct {
		id   PaneID
		want string
	}{{"p5", "no pane stands beside this one"}, {"p0", "there is no pane"}} {
		if _, err := l.Stack(area, c.id); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("stack %s: %v", c.id, err)
		}
	}
	// Closing the open pane opens the one before; the last one is a pane as any.
	l = l.Close(area, "p5").Close(area, "p3").Close(area, "p4")
	if tab, _ := l.Tab(); !tab.Root.leaf() || tab.Stacked("p1") {
		t.Errorf("the last pane is %s", l.Encode())
	}
}

func TestStackAndRoom(t *testing.T) {
	l, area := apart(t)
	l = ok(t)(l.Stack(area, "p5"))
	low := Rect{W: 21, H: 4}
	if a := l.Tabs[0].Arrange(low); a.TooSmall || len(a.Bars) != 2 {
		t.Errorf("four rows show %+v", a)
	}
	if a := l.Tabs[0].Arrange(Rect{W: 21, H: 3}); !a.TooSmall {
		t.Errorf("three rows show %+v", a)
	}
	if _, _, err := l.NewStacked(low, "p5", uri(9)); err == nil {
		t.Error("a fourth pane has room in four rows")
	}
	if l.Tabs[0].CanSplit(low, "p5", Down) || !l.Tabs[0].CanSplit(low, "p5", Right) || !l.Tabs[0].CanSplit(area, "p3", Down) {
		t.Error("what can be split is wrong")
	}
	if _, err := l.Unstack(low, "p5"); err == nil {
		t.Error("three panes have room in four rows")
	}
	if _, err := l.Unstack(area, "p1"); err == nil || err.Error() != "this pane is in no stack" {
		t.Errorf("unstack p1: %v", err)
	}
	// The border below a stack moves, those between its panes are none.
	l = must(t)(l.Split(area, "p1", Down, uri(8)))
	if grown := l.Resize(area, "p5", Left, 3); grown.Equal(l) {
		t.Error("a stack is not resized")
	}
	if same := l.Resize(area, "p5", Up, 3); !same.Equal(l) {
		t.Error("a stack is resized within")
	}
}

func TestNewStackedAndFloats(t *testing.T) {
	area := Rect{W: 20, H: 6}
	l := must(t)(New("main").NewTab(uri(1)))
	l = must(t)(l.NewStacked(area, "p1", uri(2)))
	shows(t, l, `
		1-------------------
		3###################
		33333333333333333333
		33333333333333333333
		33333333333333333333
		33333333333333333333`)
	l = ok(t)(l.Lift(area, "p3"))
	if _, err := l.Stack(area, "p3"); err == nil || err.Error() != "a floating pane is in no stack" {
		t.Errorf("a float: %v", err)
	}
	l = must(t)(l.NewStacked(area, "p3", uri(4))) // with the pane below
	if tab, _ := l.Tab(); !tab.Stacked("p1") || !tab.Stacked("p4") || tab.Stacked("p3") {
		t.Errorf("it is %s", l.Encode())
	}
	l = l.Apply(Stacked)
	if next := l.NextPreset(area); next.Tabs[0].Preset != EvenHorizontal {
		t.Errorf("behind a stack comes %s", next.Tabs[0].Preset)
	}
	if l = l.Apply(EvenVertical); l.Tabs[0].Stacked("p1") {
		t.Errorf("it is a stack still: %s", l.Encode())
	}
}

// What a tandemux without stacks has made of one is read, not refused.
func TestStackThatIsNone(t *testing.T) {
	l, err := Decode([]byte(`{"version":1,"tabs":[{"id":"t1","focus":"p1","root":{"axis":"column","stack":true,"children":[{"pane":"p1","terminal":"a:/1"},` +
		`{"axis":"row","stack":true,"children":[{"pane":"p2","terminal":"a:/2"},{"pane":"p3","terminal":"a:/3"}]}]}}]}`))
	if err != nil || l.Tabs[0].Root.Stack || l.Tabs[0].Root.Children[1].Stack {
		t.Errorf("it is %s, %v", l.Encode(), err)
	}
	check(t, l)
}
