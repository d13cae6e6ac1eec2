package panes

import (
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
)

// together is typing into all panes of a tab. It is about this keyboard, so it is
// no part of the layout: another client that shows the tab types as before, and
// who attaches anew types into one pane.
type together struct {
	tabs map[string]bool // ids of the tabs where it is on
}

// on reports whether what is typed goes to all panes of the tab.
func (g *together) on(t layout.Tab) bool { return g.tabs[t.ID] }

// toggle switches it for a tab and reports whether it is on now.
func (g *together) toggle(t layout.Tab) bool {
	if g.tabs[t.ID] {
		delete(g.tabs, t.ID)
		return false
	}
	if g.tabs == nil {
		g.tabs = map[string]bool{}
	}
	g.tabs[t.ID] = true
	return true
}

// prune ends it in tabs that are gone or have one pane: a pane that is opened
// there later is typed into alone.
func (g *together) prune(l layout.Layout) {
	if len(g.tabs) == 0 {
		return
	}
	left := make(map[string]bool, len(g.tabs))
	for _, t := range l.Tabs {
		if g.tabs[t.ID] && len(t.Panes()) > 1 {
			left[t.ID] = true
		}
	}
	g.tabs = left
}

// typeTogether switches typing into all panes of the active tab.
func (ps *Panes) typeTogether() {
	tab, ok := ps.Doc.Shown.Tab()
	if !ok {
		return
	}
	ps.loop.Dirty |= loop.Chrome
	if !ps.together.toggle(tab) {
		ps.loop.Say(status.Info, "typing into one pane again")
		return
	}
	ps.loop.Say(status.Warning, "typing into all panes of this tab that are yours: %s ends it", ps.do.Keys("type-to-all"))
}

// Gets reports whether a pane gets what is typed into the focused one: it shows,
// its terminal is this person's, and nobody reads or copies in it.
func (ps *Panes) Gets(p layout.Placed) bool {
	tab, ok := ps.Doc.Shown.Tab()
	if !ok || !ps.together.on(tab) {
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
	if len(ps.together.tabs) == 0 {
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
