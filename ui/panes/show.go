package panes

import (
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/ui/address"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// leastChat is how wide a chat is at least, in cells, to be put beside another pane.
const leastChat = 60

// Show goes to the pane that shows a terminal or a chat. It makes one beside the focused
// one where there is none, or a tab where there is no room for that: a chat wants to be
// read.
func (ps *Panes) Show(uri ahp.URI) {
	area := ps.Area()
	ps.Bare = false
	ps.Apply(func(l layout.Layout) (layout.Layout, error) {
		if id, ok := l.Showing(uri); ok {
			return l.FocusPane(id), nil
		}
		if tab, ok := l.Tab(); ok {
			d, fits := tab.RoomBeside(area, tab.Focus)
			if address.IsChat(uri) {
				p, _ := tab.Arrange(area).Pane(tab.Focus)
				d, fits = layout.Right, (p.Body.W-1)/2 >= leastChat && tab.CanSplit(area, tab.Focus, layout.Right)
			}
			if fits {
				l, _, err := l.Split(area, tab.Focus, d, uri)
				return l, err
			}
		}
		l, _, err := l.NewTab(uri)
		return l, err
	})
}

// Bring takes a terminal or a chat into the active tab, out of another one if that
// shows it.
func (ps *Panes) Bring(uri ahp.URI) {
	id, shown := ps.Doc.Shown.Showing(uri)
	i, _, _ := ps.Doc.Shown.Find(id)
	here := shown && i == ps.Doc.Shown.Active
	switch t := ps.Terms.Get(uri); {
	case here && t != nil:
		ps.loop.Say(status.Info, "%s is in this tab already", t.Quoted())
		return
	case here || !shown:
		ps.Show(uri)
		return
	}
	tab, _ := ps.Doc.Shown.Tab()
	d, ok := tab.RoomBeside(ps.Area(), tab.Focus)
	if !ok {
		ps.loop.Say(status.Warning, "there is no room in this tab")
		return
	}
	ps.movePane(id, tab.Focus, d)
}

// movePane puts a pane beside another one, of any tab.
func (ps *Panes) movePane(id, beside layout.PaneID, d layout.Direction) bool {
	area := ps.Area()
	return ps.Apply(func(l layout.Layout) (layout.Layout, error) { return l.Move(area, id, beside, d) })
}

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
	if host := hosted.Host(uri); host != "" {
		return words.Clean(host + ":" + uri[strings.LastIndexByte(uri, '/')+1:])
	}
	return ""
}

// Absent says why nothing is to be had of another host's terminal or chat now, "" where
// its host is connected.
func (ps *Panes) Absent(uri ahp.URI) string {
	host := hosted.Host(uri)
	if host == "" || ps.link.UpAt(uri) {
		return ""
	}
	if _, is := ps.link.Hosts.Find(host); !is {
		return words.Clean(link.UnknownHostError(host).Error())
	}
	text, s := "no connection to "+words.Clean(host), ps.link.Hosts.Standing(host)
	text += " since " + s.Since.Format("15:04")
	if !s.Next.IsZero() && s.Err != nil {
		text += ": " + words.Clean(s.Err.Error())
	}
	return text
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
		if !ps.link.UpAt(t.URI) && t.Host() != "" {
			return "away since " + ps.link.Hosts.Standing(t.Host()).Since.Format("15:04"), ps.outer.Look.Warn
		}
		if since := ps.link.Hosts.Standing(t.Host()).Silent; !since.IsZero() {
			return "no answer since " + since.Format("15:04:05"), ps.outer.Look.Warn
		}
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
