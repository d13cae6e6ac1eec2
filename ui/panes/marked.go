package panes

import (
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
)

// markPane marks the focused pane for the commands that take two panes, or unmarks it. There is
// one mark for this client.
func markPane(ps *Panes, _ []string) {
	id := ps.FocusID()
	ps.loop.Dirty |= loop.Chrome
	if ps.marked == id {
		ps.marked = ""
		ps.loop.Say(status.Info, "no pane is marked")
		return
	}
	ps.marked = id
	ps.loop.Say(status.Info, "marked: %s joins it to the pane that you go to", ps.loop.Keys("join-pane"))
}

// Mark marks a pane; "" removes the mark.
func (ps *Panes) Mark(id layout.PaneID) { ps.marked = id }

func (ps *Panes) Marked(id layout.PaneID) bool { return ps.marked == id }

// directions is the sides of a pane by the words of "join-pane".
var directions = map[string]layout.Direction{
	"left": layout.Left, "down": layout.Down, "up": layout.Up, "right": layout.Right,
}

// joinPane moves the marked pane beside the focused one.
func joinPane(ps *Panes, args []string) {
	marked, at := ps.marked, ps.FocusID()
	tab, _ := ps.Doc.Shown.Tab()
	d, ok := tab.RoomBeside(ps.Area(), at)
	if len(args) > 0 {
		d = directions[args[0]]
		ok = tab.CanSplit(ps.Area(), at, d)
	}
	if !ok {
		ps.loop.Say(status.Warning, "join: there is no room beside this pane")
		return
	}
	if ps.movePane(marked, at, d) {
		ps.marked = ""
	}
}

// swapMarked swaps the focused pane and the marked one.
func swapMarked(ps *Panes, _ []string) {
	marked, id := ps.marked, ps.FocusID()
	ps.Change(func(l layout.Layout) layout.Layout { return l.Swap(marked, id) })
	ps.marked = ""
}

// moveToTab moves the focused pane beside the focused pane of the tab with index n.
func moveToTab(ps *Panes, n int) {
	id := ps.FocusID()
	tab := ps.Doc.Shown.Tabs[n]
	if n == ps.Doc.Shown.Active {
		ps.loop.Say(status.Info, "this pane is in tab %d already", n+1)
		return
	}
	d, ok := tab.RoomBeside(ps.Area(), tab.Focus)
	if !ok {
		ps.loop.Say(status.Warning, "there is no room in tab %d", n+1)
		return
	}
	ps.movePane(id, tab.Focus, d)
}

// otherMarked reports whether a pane other than the focused one is marked.
func (ps *Panes) otherMarked(focus layout.PaneID) bool {
	if ps.marked == "" || ps.marked == focus {
		return false
	}
	_, _, ok := ps.Doc.Shown.Find(ps.marked)
	return ok
}

// typeTogether toggles typing into all panes of the active tab. It concerns this keyboard, so it
// is not in the layout: other clients, and this one after attaching again, type into one pane.
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

// Gets reports whether a pane gets what is typed into the focused one: its tab types together, it
// shows, this person may type into its terminal, and it is not in copy mode.
func (ps *Panes) Gets(p layout.Placed) bool {
	tab, ok := ps.Doc.Shown.Tab()
	if !ok || !ps.together[tab.ID] {
		return false
	}
	v := ps.Views[p.Pane]
	return v != nil && !p.Body.Empty() && !v.Copying() && ps.Terms.Typable(ps.Terms.Get(p.Terminal))
}

// Receiving counts the panes that get what is typed; 0 if only one does.
func (ps *Panes) Receiving() int {
	n := 0
	for _, p := range ps.Arr.Panes {
		if ps.Gets(p) {
			n++
		}
	}
	return n
}

// Repeat calls do for every other terminal that gets what is typed into the focused one, once for
// each terminal.
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
