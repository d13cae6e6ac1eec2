package ui

import (
	"slices"

	"tandemux/ahp"
	"tandemux/ahp/palette"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
)

// anytime are the commands that are none of what is open in the interface.
var anytime = []string{"detach", "suspend", "redraw", "reload-config"}

// asked does a command that the person sent here from elsewhere, as if its key had been
// pressed. It is refused where a key would mean something else: while something is open or
// asked. An error says why nothing was done.
func (m *Model) asked(p palette.Params) (done palette.Result, err error) {
	ps := m.panes
	if _, is := m.loop.Overlay.(overlay.Passing); is {
		m.loop.Close() // it makes room for what comes
	}
	switch {
	case m.leaving != nil:
		return done, ahp.Conflict("%s: this interface is closing", p.Command)
	case p.Channel != ps.Doc.URI:
		return done, ahp.NotFound("%s: this interface shows layout %s", p.Command, ps.Name)
	case (m.loop.Overlay != nil || m.copying.Asks()) && !slices.Contains(anytime, p.Command):
		return done, ahp.Conflict("%s: something is open in this interface, or it asks something", p.Command)
	case p.KeepFocus || p.With != "":
		return done, ahp.InvalidParams("%s: an interface does it where its focus is: neither keepFocus nor with goes with it", p.Command)
	}
	if err := command.Check(p.Command, p.Args); err != nil {
		return done, ahp.InvalidParams("%v", err)
	}
	if p.Pane != "" {
		id, ok := find(&ps.Doc.Shown, p.Pane)
		if !ok {
			return done, ahp.NotFound("layout %s has no pane %s", ps.Name, p.Pane)
		}
		ps.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(id) })
		ps.Freshen()
	}
	m.loop.Unsay()
	if why := m.perform(p.Command, p.Args); why != "" {
		return done, ahp.Conflict("%s: %s", p.Command, why)
	}
	if q, is := m.loop.Overlay.(*overlay.Confirm); is {
		m.loop.Close()
		if !p.Yes {
			return done, asks(p.Command, q)
		}
		q.Key(yes)
	}
	text, kind := m.loop.Note()
	if text != "" && kind != status.Info {
		return done, ahp.Conflict("%s: %s", p.Command, text)
	}
	done.Said = text
	if i, leaf, ok := ps.Doc.Shown.Find(ps.FocusID()); ok {
		done.Tab, done.Pane, done.Terminal = ps.Doc.Shown.Tabs[i].ID, string(ps.FocusID()), leaf.Terminal
	}
	return done, nil
}
