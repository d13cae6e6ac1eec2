package panes

import (
	"maps"
	"slices"

	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
)

// typeTogether switches typing into all panes of the active tab. It is about this
// keyboard, so it is no part of the layout: another client that shows the tab types as
// before, and who attaches anew types into one pane.
func (ps *Panes) typeTogether() {
	tab, ok := ps.Doc.Shown.Tab()
	if !ok {
		return
	}
	ps.loop.Dirty |= loop.Chrome
	if ps.together[tab.ID] {
		delete(ps.together, tab.ID)
		ps.loop.Say(status.Info, "typing into one pane again")
		return
	}
	ps.together[tab.ID] = true
	ps.loop.Say(status.Warning, "typing into all panes of this tab that are yours: %s ends it", ps.loop.Keys("type-to-all"))
}

// pruneTogether ends that in tabs that are gone or have one pane: a pane that is opened
// there later is typed into alone.
func (ps *Panes) pruneTogether() {
	maps.DeleteFunc(ps.together, func(id string, _ bool) bool {
		return !slices.ContainsFunc(ps.Doc.Shown.Tabs, func(t layout.Tab) bool { return t.ID == id && len(t.Panes()) > 1 })
	})
}

// Gets reports whether a pane gets what is typed into the focused one: it shows,
// its terminal is this person's, and nobody reads or copies in it.
func (ps *Panes) Gets(p layout.Placed) bool {
	tab, ok := ps.Doc.Shown.Tab()
	if !ok || !ps.together[tab.ID] {
		return false
	}
	v := ps.Views[p.Pane]
	return v != nil && !v.Copying() && ps.Terms.Typable(ps.Terms.Get(p.Terminal))
}

// Receiving counts the panes that get what is typed; 0 where it goes to one.
func (ps *Panes) Receiving() int {
	n := 0
	for _, p := range ps.Arr.Panes {
		if ps.Gets(p) {
			n++
		}
	}
	return n
}

// Repeat does for every other terminal that gets what is typed what was done for
// the focused one. A terminal in two panes gets it once.
func (ps *Panes) Repeat(do func(t *terminals.Terminal, v *pane.View)) {
	if len(ps.together) == 0 {
		return
	}
	focus, _ := ps.Arr.Focused()
	if !ps.Gets(focus) {
		return
	}
	for _, p := range ps.Arr.Panes {
		if first, _ := ps.Showing(p.Terminal); first.Pane == p.Pane && !p.Focused && ps.Gets(p) {
			do(ps.Terms.Get(p.Terminal), ps.Views[p.Pane])
		}
	}
}
