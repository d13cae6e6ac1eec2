package layout

import (
	"fmt"
	"slices"
)

// FullError says which bound a layout or a tab has reached.
type FullError string

func (e FullError) Error() string { return string(e) }

func full(format string, most int) error { return FullError(fmt.Sprintf(format, most)) }

// NewTab appends a tab with one new pane and activates it. The error says which bound was
// reached.
func (l Layout) NewTab(uri URI) (Layout, PaneID, error) {
	if err := l.room(nil); err != nil {
		return l, "", err
	}
	next, leaf := l.leaf(uri)
	next, err := next.addTab(len(l.Tabs), leaf)
	if err != nil {
		return l, "", err
	}
	return next, leaf.Pane, nil
}

// room returns which bound forbids another pane in the layout and, if t is not nil, in the tab.
func (l Layout) room(t *Tab) error {
	if t != nil && t.count() >= MaxPanes {
		return full("a tab can have %d panes at most; close one first", MaxPanes)
	}
	if l.total() >= MaxTotal {
		return full("a layout can have %d panes at most; close one first", MaxTotal)
	}
	return nil
}

// addTab inserts a tab with one pane at index i and activates it.
func (l Layout) addTab(i int, leaf *Node) (Layout, error) {
	if len(l.Tabs) >= MaxTabs {
		return l, full("a layout can have %d tabs at most; close one first", MaxTabs)
	}
	l, id := l.mint("t")
	if len(l.Tabs) > 0 {
		l.Recent = push(l.Recent, l.Tabs[l.Active].ID, id)
	}
	l.Tabs = slices.Insert(slices.Clone(l.Tabs), i, Tab{ID: id, Root: leaf, Focus: leaf.Pane})
	l.Active = i
	return l, nil
}

// GoTab activates the tab of an index. If it is out of range nothing changes.
func (l Layout) GoTab(i int) Layout {
	if i < 0 || i >= len(l.Tabs) || i == l.Active {
		return l
	}
	l.Recent = push(l.Recent, l.Tabs[l.Active].ID, l.Tabs[i].ID)
	l.Active = i
	return l
}

// NextTab activates the tab n places further, around the ends; n may be negative.
func (l Layout) NextTab(n int) Layout {
	if len(l.Tabs) == 0 {
		return l
	}
	return l.GoTab(wrap(l.Active+n, len(l.Tabs)))
}

// LastTab activates the tab that was active before.
func (l Layout) LastTab() Layout {
	if len(l.Recent) == 0 {
		return l
	}
	return l.GoTab(l.tabIndex(l.Recent[0]))
}

// MoveTab moves tab i to index to. If one is out of range nothing changes.
func (l Layout) MoveTab(i, to int) Layout {
	if i < 0 || i >= len(l.Tabs) || to < 0 || to >= len(l.Tabs) || i == to {
		return l
	}
	active, t := l.Tabs[l.Active].ID, l.Tabs[i]
	l.Tabs = slices.Insert(slices.Delete(slices.Clone(l.Tabs), i, i+1), to, t)
	l.Active = l.tabIndex(active)
	return l
}

// tabIndex returns the index of the tab with an id, -1 if there is none.
func (l Layout) tabIndex(id string) int {
	return slices.IndexFunc(l.Tabs, func(t Tab) bool { return t.ID == id })
}

// CloseTab removes a tab and its panes. If it was active, the tab active before is activated,
// else its neighbour.
func (l Layout) CloseTab(i int) Layout {
	if i < 0 || i >= len(l.Tabs) {
		return l
	}
	gone := l.Tabs[i].ID
	active := ""
	if i != l.Active {
		active = l.Tabs[l.Active].ID
	} else if len(l.Recent) > 0 {
		active = l.Recent[0]
	} else if len(l.Tabs) > 1 {
		active = l.Tabs[max(i-1, 1-i)].ID
	}
	l.Tabs = slices.Delete(slices.Clone(l.Tabs), i, i+1)
	l.Recent = without(without(l.Recent, gone), active)
	l.Active = max(l.tabIndex(active), 0)
	return l
}

// RenameTab names a tab; "" removes the name. Control characters, and what exceeds MaxName bytes,
// are dropped.
func (l Layout) RenameTab(i int, name string) Layout {
	if i < 0 || i >= len(l.Tabs) {
		return l
	}
	t := l.Tabs[i]
	t.Name = clean(name)
	return l.withTab(i, t)
}

// Append appends another layout's tabs with new ids, and activates the one that was active there.
// The error says which bound was reached.
func (l Layout) Append(o Layout) (Layout, error) {
	if len(l.Tabs)+len(o.Tabs) > MaxTabs {
		return l, fmt.Errorf("a layout can have %d tabs at most; close some first", MaxTabs)
	}
	if l.total()+o.total() > MaxTotal {
		return l, fmt.Errorf("a layout can have %d panes at most; close some first", MaxTotal)
	}
	first, next := len(l.Tabs), l
	for _, t := range o.Tabs {
		by := map[PaneID]*Node{}
		for _, leaf := range t.Panes() {
			var id string
			next, id = next.mint("p")
			fresh := *leaf
			fresh.Pane = PaneID(id)
			by[leaf.Pane] = &fresh
		}
		t = t.swap(by)
		t.Focus = by[t.Focus].Pane
		recent := make([]PaneID, len(t.Recent))
		for i, id := range t.Recent {
			recent[i] = by[id].Pane
		}
		t.Recent = recent
		next, t.ID = next.mint("t")
		next.Tabs = append(slices.Clone(next.Tabs), t)
	}
	if len(o.Tabs) == 0 {
		return next, nil
	}
	if first == 0 {
		next.Active, next.Recent = 0, nil
	}
	return next.GoTab(first + o.Active), nil
}
