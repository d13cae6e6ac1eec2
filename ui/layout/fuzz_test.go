package layout

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tandemux/ahp"
	"tandemux/internal/soak"
)

// driver turns bytes into operations and their arguments.
type driver struct {
	bytes []byte
	area  Rect
	made  int
	alive map[ahp.URI]bool // terminals that no operation has closed
}

// next gives a number below n; after the end it gives 0.
func (d *driver) next(n int) int {
	if len(d.bytes) == 0 || n <= 0 {
		return 0
	}
	b := d.bytes[0]
	d.bytes = d.bytes[1:]
	return int(b) % n
}

// pane picks a pane, or now and then one that isn't there.
func (d *driver) pane(l Layout) PaneID {
	var ids []PaneID
	for _, t := range l.Tabs {
		for _, leaf := range t.Panes() {
			ids = append(ids, leaf.Pane)
		}
	}
	ids = append(ids, "p0")
	return ids[d.next(len(ids))]
}

func (d *driver) direction() Direction { return Direction(d.next(4)) }

// terminal makes a new terminal.
func (d *driver) terminal() ahp.URI {
	d.made++
	return uri(d.made)
}

// opened notes that an operation put the terminal somewhere.
func (d *driver) opened(l Layout, u ahp.URI, err error) Layout {
	if err == nil {
		d.alive[u] = true
	}
	return l
}

// closing notes what an operation is about to close.
func (d *driver) closing(leaves ...*Node) {
	for _, leaf := range leaves {
		delete(d.alive, leaf.Terminal)
	}
}

var operations = []func(*driver, Layout) Layout{
	func(d *driver, l Layout) Layout {
		u := d.terminal()
		next, _, err := l.NewTab(u)
		return d.opened(next, u, err)
	},
	func(d *driver, l Layout) Layout { return splitAny(d, l) },
	func(d *driver, l Layout) Layout { return splitAny(d, l) },
	func(d *driver, l Layout) Layout { return splitAny(d, l) },
	func(d *driver, l Layout) Layout {
		id := d.pane(l)
		if _, leaf, ok := l.Find(id); ok {
			d.closing(leaf)
		}
		return l.Close(d.area, id)
	},
	func(d *driver, l Layout) Layout {
		i := d.next(len(l.Tabs) + 1)
		if i < len(l.Tabs) {
			d.closing(l.Tabs[i].Panes()...)
		}
		return l.CloseTab(i)
	},
	func(d *driver, l Layout) Layout {
		uris := append(l.Terminals(), "none")
		u := uris[d.next(len(uris))]
		delete(d.alive, u)
		return l.RemoveTerminal(d.area, u)
	},
	func(d *driver, l Layout) Layout { return l.FocusPane(d.pane(l)) },
	func(d *driver, l Layout) Layout { return l.Focus(d.area, d.direction()) },
	func(d *driver, l Layout) Layout { return l.FocusNext(d.next(7) - 3) },
	func(_ *driver, l Layout) Layout { return l.FocusLast() },
	func(d *driver, l Layout) Layout { return l.GoTab(d.next(len(l.Tabs)+2) - 1) },
	func(d *driver, l Layout) Layout { return l.NextTab(d.next(7) - 3) },
	func(_ *driver, l Layout) Layout { return l.LastTab() },
	func(d *driver, l Layout) Layout {
		return l.RenamePane(d.pane(l), string(d.bytes[:d.next(len(d.bytes))]))
	},
	func(d *driver, l Layout) Layout { return l.RenameTab(d.next(len(l.Tabs)+1), "t\x1bab") },
	func(_ *driver, l Layout) Layout { return l.Zoom() },
	func(d *driver, l Layout) Layout { return l.Resize(d.area, d.pane(l), d.direction(), d.next(40)-2) },
	drag, drag,
	func(_ *driver, l Layout) Layout { return l.Even() },
	func(d *driver, l Layout) Layout { return l.Apply(presets[d.next(len(presets))].name) },
	func(d *driver, l Layout) Layout { return l.NextPreset(d.area) },
	func(d *driver, l Layout) Layout { return l.Swap(d.pane(l), d.pane(l)) },
	func(d *driver, l Layout) Layout { return l.SwapNext(d.pane(l), d.next(7)-3) },
	func(d *driver, l Layout) Layout {
		next, _ := l.Move(d.area, d.pane(l), d.pane(l), d.direction())
		return next
	},
	func(d *driver, l Layout) Layout {
		next, _ := l.BreakOut(d.area, d.pane(l))
		return next
	},
	func(d *driver, l Layout) Layout {
		u := d.terminal()
		next, _, err := l.NewFloat(u)
		return d.opened(next, u, err)
	},
	func(d *driver, l Layout) Layout {
		next, _ := l.Lift(d.area, d.pane(l))
		return next
	},
	func(d *driver, l Layout) Layout {
		r := Rect{d.next(200) - 50, d.next(100) - 30, d.next(150), d.next(80)}
		return placeAny(d, l, d.pane(l), r)
	},
	func(_ *driver, l Layout) Layout { return l.HideFloats() },
	func(_ *driver, l Layout) Layout { return l.ShowFloats() },
	func(d *driver, l Layout) Layout {
		d.area = Rect{X: d.next(3), Y: d.next(3), W: d.next(120), H: d.next(60)}
		return l
	},
	func(d *driver, l Layout) Layout {
		d.area = Rect{}
		return l
	},
	func(d *driver, l Layout) Layout { return moveAnyTab(d, l) },
	func(d *driver, l Layout) Layout { return l.Rotate(d.next(7) - 3) },
	func(d *driver, l Layout) Layout {
		next, _ := l.Stack(d.area, d.pane(l))
		return next
	},
	func(d *driver, l Layout) Layout {
		next, _ := l.Unstack(d.area, d.pane(l))
		return next
	},
	func(d *driver, l Layout) Layout {
		u := d.terminal()
		next, _, err := l.NewStacked(d.area, d.pane(l), u)
		return d.opened(next, u, err)
	},
}

func splitAny(d *driver, l Layout) Layout {
	u := d.terminal()
	at, dir := d.pane(l), d.direction()
	before, can := place(l, d, at, dir)
	split := at
	if i, _, ok := l.Find(at); ok {
		split = l.Tabs[i].tiled(at)
	}
	next, id, err := l.Split(d.area, at, dir, u)
	if err == nil && can {
		// Nobody but the split pane moves.
		t, _ := next.Tab()
		for _, p := range t.Arrange(d.area).Panes {
			if was, ok := before[p.Pane]; ok && p.Pane != split && p.Pane != id && p.Stack.Empty() && was != p.Rect() {
				panic("split moved " + string(p.Pane))
			}
		}
	}
	return d.opened(next, u, err)
}

// moveAnyTab moves a tab: the active one is the same, and the others keep their order.
func moveAnyTab(d *driver, l Layout) Layout {
	i, to := d.next(len(l.Tabs)+2)-1, d.next(len(l.Tabs)+2)-1
	next := l.MoveTab(i, to)
	if max(i, to) >= len(l.Tabs) || min(i, to) < 0 {
		if !next.Equal(l) {
			panic(fmt.Sprintf("moved tab %d of %d to %d", i, len(l.Tabs), to))
		}
		return next
	}
	others := func(l Layout) string {
		s := ""
		for _, t := range l.Tabs {
			if t.ID != next.Tabs[to].ID {
				s += t.ID + " "
			}
		}
		return s
	}
	if next.Tabs[to].ID != l.Tabs[i].ID || next.Tabs[next.Active].ID != l.Tabs[l.Active].ID || others(next) != others(l) {
		panic(fmt.Sprintf("tab %d of %s moved to %d is %s", i, l.Encode(), to, next.Encode()))
	}
	return next
}

// place gives the rectangles of all panes in the tab of one that can be split
// there, if it is among several.
func place(l Layout, d *driver, at PaneID, dir Direction) (map[PaneID]Rect, bool) {
	i, _, ok := l.Find(at)
	if !ok || l.Tabs[i].Root.leaf() || l.Tabs[i].Zoom || !l.Tabs[i].CanSplit(d.area, at, dir) {
		return nil, false
	}
	rects := make(map[PaneID]Rect)
	for _, p := range l.Tabs[i].Arrange(d.area).Panes {
		rects[p.Pane] = p.Rect()
	}
	return rects, true
}

// placeAny puts a float somewhere; where the area has room it is drawn there.
func placeAny(d *driver, l Layout, id PaneID, r Rect) Layout {
	next := l.PlaceFloat(d.area, id, r)
	k, _, ok := next.Find(id)
	if !ok || !next.Tabs[k].Floating(id) || r.W < minFrameW || r.H < minFrameH {
		return next
	}
	a := d.area
	if r.X >= a.X && r.Y >= a.Y && r.X+r.W <= a.X+a.W && r.Y+r.H <= a.Y+a.H {
		t := next.Tabs[k]
		if got, _ := t.Floats[t.float(id)].Frame(a); got != r {
			panic(fmt.Sprintf("placed at %+v it is at %+v", r, got))
		}
	}
	return next
}

func drag(d *driver, l Layout) Layout {
	e := Edge{Axis: Row, Before: d.pane(l), After: d.pane(l)}
	if t, ok := l.Tab(); ok {
		a := t.Arrange(d.area)
		if len(a.Dividers) > 0 && d.next(2) == 0 {
			e = a.Dividers[d.next(len(a.Dividers))].Edge
		} else if len(a.Panes) > 0 {
			e = a.Panes[d.next(len(a.Panes))].Edge
		}
	}
	return l.Drag(d.area, e, d.next(256)-60, d.next(256)-60)
}

// FuzzOps runs random operations. After each one the invariants of doc.go hold,
// every cell of the area belongs to exactly one thing, the document reads back
// as the same layout, the value before is unchanged, and no terminal is lost
// that was not closed.
func FuzzOps(f *testing.F) {
	f.Add([]byte{0, 1, 0, 3, 1, 1, 1, 19, 1, 0, 9, 20, 0, 40, 40, 18, 23, 4})
	f.Add([]byte{0, 1, 0, 3, 1, 0, 3, 1, 0, 1, 29, 1, 1, 12, 7, 24, 24, 24, 24, 24, 27, 1, 2, 0, 28, 1, 4, 0, 4, 0})
	f.Add([]byte{0, 0, 0, 5, 1, 12, 1, 14, 6, 0, 15, 0, 2, 25, 0, 1, 7, 0, 16, 9, 65, 66})
	f.Fuzz(func(t *testing.T, ops []byte) {
		runOps(t, ops[:min(len(ops), 300)])
	})
}

// TestRandomOps is FuzzOps with sequences of the same kind for each run.
func TestRandomOps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range soak.Short(25, 100) {
		ops := make([]byte, 150)
		for i := range ops {
			ops[i] = byte(random.Uint32())
		}
		runOps(t, ops)
	}
}

func runOps(t *testing.T, ops []byte) {
	d := &driver{bytes: ops, area: Rect{W: 80, H: 24}, alive: make(map[ahp.URI]bool)}
	l := New("fuzz")
	for len(d.bytes) > 0 {
		before, doc := l, string(l.Encode())
		l = operations[d.next(len(operations))](d, l)
		if string(before.Encode()) != doc {
			t.Fatalf("the value before the operation changed from\n%s to\n%s", doc, before.Encode())
		}
		check(t, l)
		keepsFocus(t, before, l.Refocused(before))
		for _, tab := range l.Tabs {
			covers(t, tab, d.area)
			seenAs(t, tab, d.area)
		}
		back, err := Decode(l.Encode())
		if err != nil || !back.Equal(l) {
			t.Fatalf("%s reads back as %s, %v", l.Encode(), back.Encode(), err)
		}
		shown := l.Terminals()
		if len(shown) != len(d.alive) || slices.ContainsFunc(shown, func(u ahp.URI) bool { return !d.alive[u] }) {
			t.Fatalf("shows %v, alive are %v", shown, d.alive)
		}
	}
}

// keepsFocus looks at a layout whose focus an operation was not to move: it moves only
// where what had it is gone.
func keepsFocus(t *testing.T, before, l Layout) {
	t.Helper()
	check(t, l)
	if again := l.Refocused(before); !again.Equal(l) {
		t.Fatalf("refocused again %s becomes %s", l.Encode(), again.Encode())
	}
	for _, was := range before.Tabs {
		i := l.tabIndex(was.ID)
		if i < 0 {
			continue
		}
		if now := l.Tabs[i]; now.find(was.Focus) != nil && now.Focus != was.Focus {
			t.Fatalf("the focus of tab %s went from %s to %s: %s", was.ID, was.Focus, now.Focus, l.Encode())
		}
		if was.ID == before.Tabs[before.Active].ID && i != l.Active {
			t.Fatalf("tab %s is not the active one any more: %s", was.ID, l.Encode())
		}
	}
}

// seenAs takes a tab's area from the sizes that its panes have there.
func seenAs(t *testing.T, tab Tab, area Rect) {
	t.Helper()
	a := tab.Arrange(area)
	got := tab.Seen(func(u URI) (cols, rows int) {
		for _, p := range a.Panes {
			if p.Terminal == u {
				return p.Body.W, p.Body.H
			}
		}
		return 0, 0
	})
	if !a.TooSmall && (got.W != area.W || got.H != area.H) {
		t.Fatalf("a tab that shows in %+v seems to show in %+v: %+v", area, got, tab)
	}
}

// FuzzDecode reads hostile documents: what is accepted keeps the invariants,
// reads back as itself and can be drawn and changed.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":1,"tabs":[{"id":"t1","focus":"p1","root":{"pane":"p1","terminal":"a:/1"}}]}`))
	f.Add([]byte(`{"version":1,"x":{"y":[1,2]},"tabs":[{"id":"t1","zoom":true,"root":{"axis":"row","weights":[3,1],"children":[` +
		`{"pane":"p1","terminal":"a:/1"},{"axis":"row","children":[{"pane":"p2","terminal":"a:/1"},{"axis":"column","children":[` +
		`{"pane":"p3","terminal":"a:/1"},{"pane":"p4","terminal":"a:/2","name":"n"}]}]}]}}]}`))
	f.Add([]byte(`{"version":1,"tabs":[{"id":"t1","focus":"p2","recent":["p3"],"root":{"axis":"column","children":[{"pane":"p1","terminal":"a:/1"},` +
		`{"axis":"column","stack":true,"children":[{"pane":"p2","terminal":"a:/2"},{"pane":"p3","terminal":"a:/3"}]},{"axis":"row","stack":true,"children":[` +
		`{"pane":"p4","terminal":"a:/2"},{"axis":"column","stack":true,"weights":[7,8],"children":[{"pane":"p5","terminal":"a:/2"},{"pane":"p6","terminal":"a:/3"}]}]}]}}]}`))
	f.Add([]byte(`{"version":1,"tabs":[{"id":"t1","focus":"p2","hidden":true,"root":{"pane":"p1","terminal":"a:/1"},"floats":[` +
		`{"pane":"p2","terminal":"a:/2","place":[0,10000,5000,1],"new":1},{"pane":"p3","terminal":"a:/3","place":[1,2,3,4]}]}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		l, err := Decode(doc)
		if err != nil {
			return
		}
		check(t, l)
		encoded := l.Encode()
		if len(encoded) <= ahp.MaxLayoutBytes {
			back, err := Decode(encoded)
			if err != nil || !back.Equal(l) {
				t.Fatalf("%s reads back as %s, %v", encoded, back.Encode(), err)
			}
		}
		area := Rect{W: 100, H: 40}
		for _, tab := range l.Tabs {
			covers(t, tab, area)
			l = l.Resize(area, tab.Focus, Right, 3).Close(area, tab.Focus)
			check(t, l)
		}
		check(t, l.Even().NextPreset(area))
	})
}
