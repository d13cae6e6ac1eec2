package panes

import (
	"fmt"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/layout"
	"tandemux/ui/look"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// NameOf is what a pane is called that shows a terminal or a chat: its own name, or
// theirs.
func (ps *Panes) NameOf(name string, uri ahp.URI) string {
	if name != "" {
		return words.Clean(name)
	}
	if address.IsChat(uri) {
		return ps.do.ChatTitle(uri)
	}
	if t := ps.Terms.Get(uri); t != nil {
		return t.Title()
	}
	return ""
}

// TabName is what a tab is called: its own name, or its focused pane's.
func (ps *Panes) TabName(t layout.Tab) string {
	if t.Name != "" {
		return words.Clean(t.Name)
	}
	leaf := t.Focused()
	if leaf == nil {
		return ""
	}
	return ps.NameOf(leaf.Name, leaf.Terminal)
}

// Badge says who holds a terminal and what for, and how that is drawn.
func (ps *Panes) Badge(t *terminals.Terminal) (string, look.Style) {
	shown := false
	if t != nil {
		_, shown = ps.Doc.Shown.Showing(t.URI)
	}
	return ps.Terms.Badge(t, shown, &ps.outer.Look)
}

// Where says which tab shows a terminal or chat, "" for none.
func (ps *Panes) Where(uri ahp.URI) string {
	id, ok := ps.Doc.Shown.Showing(uri)
	if !ok || uri == "" {
		return ""
	}
	i, _, _ := ps.Doc.Shown.Find(id)
	return fmt.Sprintf("tab %d", i+1)
}
