package layout

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tandemux/ahp"
)

// picture draws an arrangement: a pane's number fills its body, "=" with the
// number first is a header, "|" a divider. The focused pane's header has "#".
func picture(a Arrangement) string {
	rows := make([][]byte, a.Area.H)
	for y := range rows {
		rows[y] = []byte(strings.Repeat(" ", a.Area.W))
	}
	fill := func(r Rect, c byte) {
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				rows[y-a.Area.Y][x-a.Area.X] = c
			}
		}
	}
	dividers := func() {
		for _, d := range a.Dividers {
			fill(d.Rect, '|')
		}
	}
	if !a.Floats() {
		dividers()
	}
	for _, p := range a.Bars {
		fill(p.Header, '-')
		rows[p.Header.Y-a.Area.Y][p.Header.X-a.Area.X] = p.Pane[len(p.Pane)-1]
	}
	for i, p := range a.Panes {
		if p.Floating() && !a.Panes[i-1].Floating() {
			dividers()
		}
		n := p.Pane[len(p.Pane)-1]
		fill(p.Frame, '+')
		fill(p.Body, n)
		line := byte('=')
		if p.Focused {
			line = '#'
		}
		fill(p.Header, line)
		if p.Header.H > 0 {
			rows[p.Header.Y-a.Area.Y][p.Header.X-a.Area.X] = n
		}
	}
	var b strings.Builder
	for _, r := range rows {
		b.Write(r)
		b.WriteByte('\n')
	}
	return b.String()
}

// shows compares the active tab at a size with a picture, whose indentation
// does not count.
func shows(t *testing.T, l Layout, want string) {
	t.Helper()
	lines := strings.Fields(want)
	tab, ok := l.Tab()
	if !ok {
		t.Fatal("the layout has no tab")
	}
	got := picture(tab.Arrange(Rect{W: len(lines[0]), H: len(lines)}))
	if want := strings.Join(lines, "\n") + "\n"; got != want {
		t.Errorf("shows\n%swant\n%s", got, want)
	}
	check(t, l)
}

// uri is the address of the terminal that tests put into pane n.
func uri(n int) ahp.URI { return fmt.Sprintf("ahp-terminal:/%d", n) }

// must unwraps an operation that is expected to work.
func must(t *testing.T) func(Layout, PaneID, error) Layout {
	return func(l Layout, _ PaneID, err error) Layout {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
}

// check verifies the invariants of doc.go.
func check(t *testing.T, l Layout) {
	t.Helper()
	if len(l.Tabs) > MaxTabs || l.total() > MaxTotal {
		t.Fatalf("%d tabs, %d panes", len(l.Tabs), l.total())
	}
	if l.Active < 0 || l.Active >= max(len(l.Tabs), 1) {
		t.Fatalf("active is %d of %d", l.Active, len(l.Tabs))
	}
	ids := make(map[string]bool)
	seen := func(id string) {
		if ids[id] {
			t.Fatalf("id %q occurs twice", id)
		}
		ids[id] = true
	}
	var tabs []string
	for _, tab := range l.Tabs {
		seen("tab " + tab.ID)
		tabs = append(tabs, tab.ID)
		var panes []PaneID
		for _, leaf := range tab.Panes() {
			seen("pane " + string(leaf.Pane))
			panes = append(panes, leaf.Pane)
		}
		if len(panes) > MaxPanes || tab.Root.depth() > MaxDepth {
			t.Fatalf("%d panes, %d levels", len(panes), tab.Root.depth())
		}
		for _, f := range tab.Floats {
			for _, n := range []int{f.X, f.Y, f.W, f.H} {
				if n < 0 || n > Whole {
					t.Fatalf("a float is at %+v", f)
				}
			}
		}
		if tab.Hidden && (len(tab.Floats) == 0 || tab.Floating(tab.Focus)) {
			t.Fatalf("%d floats are hidden, the focus is on %s", len(tab.Floats), tab.Focus)
		}
		if tab.Zoom && len(panes) == 1 {
			t.Fatal("a pane alone is zoomed")
		}
		recency(t, tab.Recent, tab.Focus, panes)
		checkTree(t, tab.Root)
	}
	if len(tabs) > 0 {
		recency(t, l.Recent, l.Tabs[l.Active].ID, tabs)
	} else if len(l.Recent) > 0 {
		t.Fatalf("recent is %v without tabs", l.Recent)
	}
}

// recency verifies that now is one of all, and recent some others, each once.
func recency[T comparable](t *testing.T, recent []T, now T, all []T) {
	t.Helper()
	if !slices.Contains(all, now) {
		t.Fatalf("focus %v is none of %v", now, all)
	}
	seen := map[T]bool{now: true}
	for _, r := range recent {
		if seen[r] || !slices.Contains(all, r) {
			t.Fatalf("recent %v, now %v of %v", recent, now, all)
		}
		seen[r] = true
	}
}

func checkTree(t *testing.T, n *Node) {
	t.Helper()
	if n.leaf() {
		if n.Pane == "" || n.Terminal == "" || n.Axis != "" || n.Weights != nil || n.Stack {
			t.Fatalf("a leaf is %+v", n)
		}
		return
	}
	if n.Pane != "" || len(n.Children) < 2 || len(n.Weights) != len(n.Children) {
		t.Fatalf("a split is %+v", n)
	}
	for i, c := range n.Children {
		if n.Stack && (n.Axis != Column || !c.leaf()) {
			t.Fatalf("child %d of a stack is %+v", i, c)
		}
		if n.Weights[i] < 1 || n.Weights[i] > MaxWeight || c.Axis == n.Axis && !c.Stack {
			t.Fatalf("child %d of a %s has weight %d and axis %q", i, n.Axis, n.Weights[i], c.Axis)
		}
		checkTree(t, c)
	}
}

// covers verifies that every cell belongs to exactly one thing of the tiled panes
// and that floats lie within the area, that hit testing agrees, and that a tab
// shows all of its panes or says why not.
func covers(t *testing.T, tab Tab, area Rect) {
	t.Helper()
	a := tab.Arrange(area)
	if area.W < MinWidth || area.H < MinHeight {
		if !a.TooSmall || len(a.Panes) > 0 {
			t.Fatalf("%+v shows %+v", area, a)
		}
		return
	}
	owner := make([]string, area.W*area.H)
	claim := func(r Rect, name string, least Rect) {
		if r.W < least.W || r.H < least.H {
			t.Fatalf("%s has %dx%d", name, r.W, r.H)
		}
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if !area.Contains(x, y) {
					t.Fatalf("%s reaches %d,%d outside of %+v", name, x, y, area)
				}
				cell := &owner[(y-area.Y)*area.W+x-area.X]
				if *cell != "" {
					t.Fatalf("%d,%d belongs to %s and %s", x, y, *cell, name)
				}
				*cell = name
			}
		}
	}
	focused := 0
	var floats []Placed
	for _, p := range a.Panes {
		if p.Focused {
			focused++
		}
		if p.Floating() {
			floats = append(floats, p)
			continue
		}
		claim(p.Body, "body "+string(p.Pane), Rect{W: MinWidth, H: MinHeight})
		claim(p.Header, "header "+string(p.Pane), Rect{})
	}
	for _, p := range a.Bars {
		claim(p.Header, "header "+string(p.Pane), Rect{W: MinWidth, H: 1})
		if p.Focused || !p.Body.Empty() {
			t.Fatalf("a closed pane is %+v", p)
		}
	}
	for _, d := range a.Dividers {
		claim(d.Rect, "divider "+string(d.Edge.Before)+" "+string(d.Edge.After), Rect{W: 1, H: 1})
	}
	for _, p := range floats {
		f, body := p.Frame, p.Body
		if f.X < area.X || f.Y < area.Y || f.X+f.W > area.X+area.W || f.Y+f.H > area.Y+area.H {
			t.Fatalf("float %s has frame %+v in %+v", p.Pane, f, area)
		}
		if body.W < MinWidth || body.H < MinHeight || body != (Rect{f.X + 1, f.Y + 1, f.W - 2, f.H - 2}) || p.Header != (Rect{f.X, f.Y, f.W, 1}) {
			t.Fatalf("float %s has frame %+v, header %+v, body %+v", p.Pane, f, p.Header, body)
		}
		for y := f.Y; y < f.Y+f.H; y++ {
			for x := f.X; x < f.X+f.W; x++ {
				name := "frame "
				if body.Contains(x, y) {
					name = "body "
				} else if y == f.Y {
					name = "header "
				}
				owner[(y-area.Y)*area.W+x-area.X] = name + string(p.Pane)
			}
		}
	}
	for i, name := range owner {
		x, y := area.X+i%area.W, area.Y+i/area.W
		h := a.At(x, y)
		hit := [...]string{
			HitNothing: "", HitBody: "body " + string(h.Pane), HitHeader: "header " + string(h.Pane),
			HitDivider: "divider " + string(h.Edge.Before) + " " + string(h.Edge.After), HitFrame: "frame " + string(h.Pane),
		}[h.Kind]
		if name == "" || name != hit {
			t.Fatalf("%d,%d belongs to %q, and %q is hit", x, y, name, hit)
		}
	}
	want := len(tab.Root.leaves(nil))
	if !tab.Hidden {
		want += len(tab.Floats)
	}
	if tab.Zoom || a.TooSmall {
		want = 1
	}
	if len(a.Panes)+len(a.Bars) != want || focused != 1 {
		t.Fatalf("%d of %d panes are shown, %d focused, too small %v", len(a.Panes), want, focused, a.TooSmall)
	}
}
