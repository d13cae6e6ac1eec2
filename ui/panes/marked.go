package panes

import (
	"fmt"

	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
)

// markPane marks the focused pane for the commands that take two, or takes the
// mark away. There is one mark, and it is this client's.
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

// Marked reports whether a pane is marked.
func (ps *Panes) Marked(id layout.PaneID) bool { return ps.marked == id }

// directions are the places beside a pane by the words of "join-pane".
var directions = map[string]layout.Direction{
	"left": layout.Left, "down": layout.Down, "up": layout.Up, "right": layout.Right,
}

// joinPane moves the marked pane beside the focused one.
func joinPane(ps *Panes, args []string) {
	marked, at := ps.marked, ps.FocusID()
	tab, _ := ps.Doc.Shown.Tab()
	d, ok := roomBeside(tab, ps.Area(), at)
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

// swapMarked exchanges the focused pane with the marked one.
func swapMarked(ps *Panes, _ []string) {
	marked, id := ps.marked, ps.FocusID()
	ps.Change(func(l layout.Layout) layout.Layout { return l.Swap(marked, id) })
	ps.marked = ""
}

// moveToTab moves the focused pane beside the focused one of another tab.
func moveToTab(ps *Panes, args []string) {
	if len(args) == 0 {
		ps.loop.Open(overlay.NewPrompt(fmt.Sprintf("move to tab (1-%d)", len(ps.Doc.Shown.Tabs)), "", func(text string) {
			if text != "" {
				ps.do.Run("move-to-tab", []string{text})
			}
		}))
		return
	}
	n, id := command.Number(args, 0, 1)-1, ps.FocusID()
	tab := ps.Doc.Shown.Tabs[n]
	if n == ps.Doc.Shown.Active {
		ps.loop.Say(status.Info, "this pane is in tab %d already", n+1)
		return
	}
	d, ok := roomBeside(tab, ps.Area(), tab.Focus)
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
