package ui

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/emulator"
	"tandemux/emulator/input"
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
func (m *Model) typeTogether() {
	tab, ok := m.doc.shown.Tab()
	if !ok {
		return
	}
	m.loop.Dirty |= loop.Chrome
	if !m.together.toggle(tab) {
		m.loop.Say(status.Info, "typing into one pane again")
		return
	}
	m.loop.Say(status.Warning, "typing into all panes of this tab that are yours: %s ends it", m.keysOf("type-to-all"))
}

// gets reports whether a pane gets what is typed into the focused one: it shows,
// its terminal is this person's, and nobody reads or copies in it.
func (m *Model) gets(p layout.Placed) bool {
	tab, ok := m.doc.shown.Tab()
	if !ok || !m.together.on(tab) {
		return false
	}
	v := m.views[p.Pane]
	return v != nil && !v.Copying() && m.terms.Typable(m.terms.Get(p.Terminal))
}

// receiving counts the panes that get what is typed; 0 where it goes to one.
func (m *Model) receiving() int {
	n := 0
	for _, p := range m.arr.Panes {
		if m.gets(p) {
			n++
		}
	}
	return n
}

// repeat does for every other terminal that gets what is typed what was done for
// the focused one. A terminal in two panes gets it once.
func (m *Model) repeat(do func(t *terminals.Terminal, v *pane.View)) {
	if len(m.together.tabs) == 0 {
		return
	}
	focus, _ := m.arr.Focused()
	if !m.gets(focus) {
		return
	}
	for _, p := range m.arr.Panes {
		if first, _ := m.showing(p.Terminal); first.Pane == p.Pane && !p.Focused && m.gets(p) {
			do(m.terms.Get(p.Terminal), m.views[p.Pane])
		}
	}
}

// encode gives the bytes of a key as a program in those modes expects it. With
// rest set its ESC went to the program already.
func encode(k tea.Key, ev input.Event, rest bool, modes emulator.Modes) []byte {
	data := input.AppendKey(nil, k, ev, modes)
	if rest && len(data) > 1 && data[0] == 0x1b {
		data = data[1:]
	}
	return data
}
