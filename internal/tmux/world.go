package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/endpoint"
	"tandemux/internal/tmux/pane"
	"tandemux/ui/layout"
)

// world is what tmux would call sessions, windows and panes: layouts, tabs, and panes that
// show a terminal. It is a value; nothing in it changes.
type world struct {
	sessions []session
	own      string // the number of the pane that the command runs in
}

// session is a layout.
type session struct {
	id, name string
	layout   layout.Layout
	windows  []window
}

// window is a tab.
type window struct {
	id     string
	at     int // its place among the tabs; as an index from 1 on, as the interface has it
	name   string
	active bool
	panes  []place
}

// place is a pane.
type place struct {
	id       string
	at       int // among the panes, from 0 on
	terminal ahp.TerminalInfo
	leaf     layout.Node
	active   bool
}

// see makes a world of layouts, by name, and the terminals that there are. Panes of
// programs that ended well are gone, as in tmux.
func see(layouts []layout.Layout, names []string, terminals []ahp.TerminalInfo, own string) world {
	w := world{own: own}
	known := map[ahp.URI]ahp.TerminalInfo{}
	for _, t := range terminals {
		known[t.Resource] = t
	}
	for k, l := range layouts {
		s := session{id: pane.Number("$", names[k]), name: names[k], layout: l}
		for i, tab := range l.Tabs {
			win := window{id: pane.Number("@", names[k]+"/"+tab.ID), at: i, name: tab.Name, active: i == l.Active}
			for _, leaf := range tab.Panes() {
				t, ok := known[leaf.Terminal]
				if !ok || t.Lifecycle.Exited() && t.Lifecycle.ExitCode != nil && *t.Lifecycle.ExitCode == 0 {
					continue
				}
				t.Meta = cmp.Or(t.Meta, &ahp.TerminalMeta{})
				active := leaf.Pane == tab.Focus
				win.panes = append(win.panes, place{pane.Number("%", t.Resource), len(win.panes), t, *leaf, active})
				if active && win.name == "" {
					win.name = t.Title
				}
			}
			if len(win.panes) > 0 {
				s.windows = append(s.windows, win)
			}
		}
		if len(s.windows) > 0 {
			if !slices.ContainsFunc(s.windows, func(w window) bool { return w.active }) {
				s.windows[0].active = true
			}
			w.sessions = append(w.sessions, s)
		}
	}
	return w
}

// spot is where a target leads.
type spot struct {
	session *session
	window  *window
	pane    *place
}

// tab is the layout's of the window.
func (s spot) tab() layout.Tab { return s.session.layout.Tabs[s.window.at] }

var (
	errNoTarget = errors.New("no current target: this runs in no pane that a layout shows")
	errToken    = errors.New("tokens in braces are not known here: name the pane by its id")
)

// here is the pane that the command runs in.
func (w *world) here() (spot, error) {
	return w.where(func(s spot) bool { return s.pane.id == w.own }, errNoTarget)
}

// where finds the first pane that is so.
func (w *world) where(is func(spot) bool, missing error) (spot, error) {
	if all := w.every(true, is); len(all) > 0 {
		return all[0], nil
	}
	return spot{}, missing
}

// target finds what -t names: "%7", "@3", "$1", "session:window.pane" or parts of it; ""
// is where the command runs.
func (w *world) target(t string) (spot, error) {
	switch {
	case t == "":
		return w.here()
	case strings.ContainsAny(t, "{}"):
		return spot{}, errToken
	case t[0] == '%':
		return w.where(func(s spot) bool { return s.pane.id == t }, fmt.Errorf("can't find pane: %s", t))
	case t[0] == '@' && !strings.Contains(t, "."):
		return w.inWindow(func(s spot) bool { return s.window.id == t }, "", fmt.Errorf("can't find window: %s", t))
	}
	if name, rest, colon := strings.Cut(t, ":"); colon {
		s, err := w.session(name)
		if err != nil {
			return spot{}, err
		}
		return w.within(s, rest)
	}
	at, err := w.here()
	if err != nil {
		return w.target(t + ":")
	}
	if n, err := strconv.Atoi(t); err == nil && n < len(at.window.panes) && n >= 0 {
		return spot{at.session, at.window, &at.window.panes[n]}, nil
	}
	if found, err := w.within(at.session, t); err == nil {
		return found, nil
	}
	return w.target(t + ":")
}

// session finds one by its name, the unique beginning of one, or its id; "" is this one.
func (w *world) session(name string) (*session, error) {
	if name == "" {
		at, err := w.here()
		return at.session, err
	}
	exact, only := strings.CutPrefix(name, "=")
	var found []*session
	for i := range w.sessions {
		s := &w.sessions[i]
		if s.name == exact || s.id == name {
			return s, nil
		}
		if !only && strings.HasPrefix(s.name, name) {
			found = append(found, s)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return nil, fmt.Errorf("can't find session: %s", exact)
}

// within finds "window.pane" in a session.
func (w *world) within(s *session, rest string) (spot, error) {
	name, number, _ := strings.Cut(rest, ".")
	missing := fmt.Errorf("can't find window: %s", name)
	is := func(at spot) bool {
		win := at.window
		return at.session == s && (name == "" && win.active || name == win.id || name != "" && (name == strconv.Itoa(win.at+1) || strings.TrimPrefix(name, "=") == win.name))
	}
	return w.inWindow(is, number, missing)
}

// inWindow gives a pane of the first window that is so: by its index or id, or where the
// window has its focus.
func (w *world) inWindow(is func(spot) bool, number string, missing error) (spot, error) {
	at, err := w.where(is, missing)
	if err != nil {
		return at, err
	}
	i := slices.IndexFunc(at.window.panes, func(p place) bool {
		return number == "" && p.active || number != "" && (number == p.id || number == strconv.Itoa(p.at))
	})
	if i < 0 && number != "" {
		return spot{}, fmt.Errorf("can't find pane: %s", number)
	}
	at.pane = &at.window.panes[max(i, 0)]
	return at, nil
}

// title is what a pane is called.
func (p *place) title() string {
	return cmp.Or(p.leaf.Name, p.terminal.Title, endpoint.LastPart(p.terminal.Resource))
}
