package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tandemux/internal/fileuri"
	"tandemux/ui/layout"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// statusData returns what the status line shows.
func (m *Model) statusData() status.Data {
	d := status.Data{
		Line: m.line.line, Layout: m.panes.Name, Active: m.panes.Doc.Shown.Active,
		Host: m.cfg.Machine, Hints: m.hints(), Alarm: m.line.misread != "", Pending: m.keys.Pending(),
	}
	d.Message, d.Kind = m.loop.Note()
	d.Asked = m.line.asked.Now()
	d.Alert, d.AlertStyle = m.alerts.Text(m.keys.Of("answer-agent"))
	if d.Alert != "" && !d.Alarm {
		d.Hints = nil // the alert needs the room
	}
	d.Clients = m.alerts.Clients()
	m.clock(&d)
	for _, t := range m.panes.Doc.Shown.Tabs {
		tab := status.Tab{Name: m.panes.TabName(t), Zoom: t.Zoom}
		tab.Mark, tab.MarkStyle = m.alerts.Mark(m.alerts.Tab(t).Kind)
		d.Tabs = append(d.Tabs, tab)
	}
	p, t, v := m.panes.Focused()
	if v != nil {
		if d.Scroll = v.Back(); d.Scroll > 0 {
			d.History = v.Feed.History()
		}
		if v.Copying() {
			d.Mode = m.copying.State()
		}
	}
	if n := m.panes.Receiving(); n > 0 && d.Mode == "" {
		d.Mode = "typing into " + words.Plural(n, "pane")
	}
	if t != nil && m.recordings.Of(t.URI) && d.Mode == "" {
		d.Mode = "recording"
	}
	m.focusData(&d, p, t)
	if t != nil {
		d.Host = cmp.Or(t.Host(), d.Host)
		d.Badge, d.BadgeStyle = m.panes.Badge(t)
		d.Command, _, d.CommandStyle = m.screen.LastCommand(t)
		d.Cwd = words.Clean(words.Shorten(fileuri.Path(t.Cwd), m.cfg.home()))
	}
	if e := m.agents.Focused(); e != nil {
		d.Badge, d.BadgeStyle = m.agents.Badge(e)
		if d.Scroll, d.History = e.Back(); d.Scroll == 0 {
			d.History = 0
		}
		if e.Reading() && d.Mode == "" {
			d.Mode = "reading"
		}
		if cwd := m.agents.Cwd(e); cwd != "" {
			d.Cwd = cwd
		}
	}
	trouble := m.typing.Trouble(p.Terminal)
	switch {
	case (d.Message == "" || d.Kind == status.Info) && m.mouse.Pointed() != "":
		d.Message, d.Kind = words.Clean(m.mouse.Pointed()), status.Info
	case d.Message == "" && trouble != "":
		d.Message, d.Kind = trouble, status.Warning
	case d.Message == "" && t.Ask() != nil:
		d.Message, d.Kind = m.agents.AskText(t)+": "+m.keys.Of("answer-agent")+" answers", status.Warning
	case d.Message == "" && t != nil && t.Exited():
		d.Message, d.Kind, d.Badge = t.ExitText()+": enter or x closes the pane", status.Info, ""
	case d.Message == "" && m.panes.Arr.TooSmall:
		d.Message, d.Kind = "too small for all panes", status.Warning
	}
	return d
}

// openMenu opens the menu of the focused pane, the active tab or the status line.
func (m *Model) openMenu(of string, x, y int) {
	title := m.panes.Name
	tab, _ := m.panes.Doc.Shown.Tab()
	switch p, _, _ := m.panes.Focused(); of {
	case "pane":
		title = m.panes.NameOf(p.Name, p.Terminal)
	case "tab":
		title = m.panes.TabName(tab)
	}
	m.keys.OpenMenu(of, title, x, y)
}

// menuHere opens a menu by the name of its subject, at its place on the screen.
func (m *Model) menuHere(of string) {
	x, y := 0, max(m.outer.Status().Y, m.outer.Body().Y)
	switch p, _ := m.panes.Arr.Focused(); of {
	case "pane":
		x, y = p.Body.X, p.Body.Y
	case "tab":
		x = m.mouse.ActiveTab().From
	}
	m.openMenu(of, x, y)
}

// paneInfo describes the focused pane and where it is.
func (m *Model) paneInfo() string {
	d := m.statusData()
	said := []string{
		"layout " + d.Layout, fmt.Sprintf("tab %d %s", d.Active+1, d.Tabs[d.Active].Name), fmt.Sprintf("pane %d of %d", d.Pane, d.Panes), d.Title,
		fmt.Sprintf("%dx%d", d.Cols, d.Rows), d.Cwd, d.Command, d.Badge,
	}
	return strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" || s == "0x0" }), ", ")
}

// focusData sets what the status line shows about the focused pane.
func (m *Model) focusData(d *status.Data, p layout.Placed, t *terminals.Terminal) {
	d.Title = m.panes.NameOf(p.Name, p.Terminal)
	if t != nil {
		d.Cols, d.Rows = t.Cols, t.Rows
	}
	tab, ok := m.panes.Doc.Shown.Tab()
	if !ok {
		return
	}
	for i, leaf := range tab.Panes() {
		d.Panes = i + 1
		if leaf.Pane == tab.Focus {
			d.Pane = i + 1
		}
	}
}
