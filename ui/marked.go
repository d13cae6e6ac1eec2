package ui

import (
	"fmt"
	"strings"

	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
)

// markPane marks the focused pane for the commands that take two, or takes the
// mark away. There is one mark, and it is this client's.
func markPane(m *Model, _ []string) {
	id := m.focusID()
	m.loop.Dirty |= loop.Chrome
	if m.marked == id {
		m.marked = ""
		m.loop.Say(status.Info, "no pane is marked")
		return
	}
	m.marked = id
	m.loop.Say(status.Info, "marked: %s joins it to the pane that you go to", m.keysOf("join-pane"))
}

// directions are the places beside a pane by the words of "join-pane".
var directions = map[string]layout.Direction{
	"left": layout.Left, "down": layout.Down, "up": layout.Up, "right": layout.Right,
}

// joinPane moves the marked pane beside the focused one.
func joinPane(m *Model, args []string) {
	marked, at := m.marked, m.focusID()
	tab, _ := m.doc.shown.Tab()
	d, ok := roomBeside(tab, m.area(), at)
	if len(args) > 0 {
		d = directions[args[0]]
		ok = tab.CanSplit(m.area(), at, d)
	}
	if !ok {
		m.loop.Say(status.Warning, "join: there is no room beside this pane")
		return
	}
	if m.movePane(marked, at, d) {
		m.marked = ""
	}
}

// roomBeside gives the side of a pane where another one fits: the right where it
// is wide, below where it is not.
func roomBeside(tab layout.Tab, area layout.Rect, at layout.PaneID) (layout.Direction, bool) {
	sides := []layout.Direction{layout.Down, layout.Right}
	if p, ok := tab.Arrange(area).Pane(at); ok && p.Body.W > 3*p.Body.H {
		sides = []layout.Direction{layout.Right, layout.Down}
	}
	for _, d := range sides {
		if tab.CanSplit(area, at, d) {
			return d, true
		}
	}
	return 0, false
}

// movePane puts a pane beside another one, of any tab.
func (m *Model) movePane(id, beside layout.PaneID, d layout.Direction) bool {
	area := m.area()
	return m.apply(func(l layout.Layout) (layout.Layout, error) { return l.Move(area, id, beside, d) })
}

// swapMarked exchanges the focused pane with the marked one.
func swapMarked(m *Model, _ []string) {
	marked, id := m.marked, m.focusID()
	m.change(func(l layout.Layout) layout.Layout { return l.Swap(marked, id) })
	m.marked = ""
}

// moveToTab moves the focused pane beside the focused one of another tab.
func moveToTab(m *Model, args []string) {
	if len(args) == 0 {
		m.loop.Open(overlay.NewPrompt(fmt.Sprintf("move to tab (1-%d)", len(m.doc.shown.Tabs)), "", func(text string) {
			if text != "" {
				m.run("move-to-tab", []string{text})
			}
		}))
		return
	}
	n, id := command.Number(args, 0, 1)-1, m.focusID()
	tab := m.doc.shown.Tabs[n]
	if n == m.doc.shown.Active {
		m.loop.Say(status.Info, "this pane is in tab %d already", n+1)
		return
	}
	d, ok := roomBeside(tab, m.area(), tab.Focus)
	if !ok {
		m.loop.Say(status.Warning, "there is no room in tab %d", n+1)
		return
	}
	m.movePane(id, tab.Focus, d)
}

// otherMarked reports whether a pane other than the focused one is marked.
func (m *Model) otherMarked(focus layout.PaneID) bool {
	if m.marked == "" || m.marked == focus {
		return false
	}
	_, _, ok := m.doc.shown.Find(m.marked)
	return ok
}

// paneFlags are the words that stand in a pane's header besides its name.
func (m *Model) paneFlags(p layout.Placed) string {
	var flags []string
	for _, f := range [...]struct {
		text string
		on   bool
	}{{"marked", m.marked == p.Pane}, {"typing", m.gets(p)}, {"recording", m.recordings.Of(p.Terminal)}} {
		if f.on {
			flags = append(flags, f.text)
		}
	}
	return strings.Join(flags, ", ")
}
