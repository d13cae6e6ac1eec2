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

// leastChat is the smallest width, in cells, of a chat beside another pane.
const leastChat = 60

// Show focuses the pane that shows a terminal or a chat. If there is none it makes one beside the
// focused pane or, if there is no room, in a new tab; a chat needs more room than a terminal.
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

// Bring moves a terminal or a chat into the active tab, or shows it there.
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

// movePane moves a pane beside another one of any tab.
func (ps *Panes) movePane(id, beside layout.PaneID, d layout.Direction) bool {
	area := ps.Area()
	return ps.Apply(func(l layout.Layout) (layout.Layout, error) { return l.Move(area, id, beside, d) })
}

// NameOf is the name of a pane that shows a terminal or a chat: its own, or else theirs.
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

// Absent says why another host's terminal or chat is unavailable, "" if its host is connected.
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

// TabName is a tab's name: its own, or else its focused pane's.
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

// Badge says who holds a terminal and why, and returns the style of that text.
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

// Where says which tab shows a terminal or chat, "" if none does.
func (ps *Panes) Where(uri ahp.URI) string {
	id, ok := ps.Doc.Shown.Showing(uri)
	if !ok || uri == "" {
		return ""
	}
	i, _, _ := ps.Doc.Shown.Find(id)
	return fmt.Sprintf("tab %d", i+1)
}
