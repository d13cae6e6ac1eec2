package tmux

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/endpoint"
	"tandemux/internal/termcmd"
	"tandemux/ui/layout"
)

// tab puts a terminal into a tab of its own in a session.
func (a *answerer) tab(session, name string, uri ahp.URI) error {
	return a.edit(session, func(l layout.Layout) (layout.Layout, error) {
		l, _, err := l.NewTab(uri)
		if err != nil {
			return l, fmt.Errorf("create window failed: %w", err)
		}
		return l.RenameTab(len(l.Tabs)-1, name), nil
	})
}

// begin starts a program in a tab of its own.
func (a *answerer) begin(c call, session string, r layout.Rect) error {
	uri := endpoint.NewTerminalURI()
	if err := a.create(c, uri, r); err != nil {
		return err
	}
	return a.made(c, uri, a.tab(session, c.value('n'), uri))
}

// teams gives the world once the team may have panes in it.
func (a *answerer) teams(c call) (world, error) {
	if err := a.team(c); err != nil {
		return world{}, err
	}
	return a.world()
}

func (a *answerer) newWindow(c call) error {
	w, err := a.teams(c)
	if err != nil {
		return err
	}
	name, _, _ := strings.Cut(c.value('t'), ":")
	s, err := w.session(name)
	if err != nil {
		return err
	}
	return a.begin(c, s.name, layout.Rect{})
}

func (a *answerer) newSession(c call) error {
	if !c.has('d') {
		return errors.New("new-session without -d: " + focus)
	}
	if c.has('t') {
		return errors.New("new-session -t: " + unknown)
	}
	name := c.value('s')
	if name == "" {
		return errors.New("new-session: say its name with -s")
	}
	if err := termcmd.CheckLayoutName(name); err != nil {
		return err
	}
	w, err := a.teams(c)
	if err != nil {
		return err
	}
	if s, err := w.session("=" + name); err == nil {
		return fmt.Errorf("duplicate session: %s", s.name)
	}
	r := layout.Rect{}
	for flag, to := range map[byte]*int{'x': &r.W, 'y': &r.H} {
		if v := c.value(flag); v != "" && v != "-" {
			if *to, err = cells(v, 0); err != nil {
				return err
			}
		}
	}
	return a.begin(c, name, r)
}

func (w *window) all() (panes []*place) {
	for i := range w.panes {
		panes = append(panes, &w.panes[i])
	}
	return panes
}

func (a *answerer) killWindow(c call, at spot) error {
	return a.away(at.session.name, at.window.all(), c.name)
}

func (a *answerer) killSession(c call) error {
	w, err := a.world()
	if err != nil {
		return err
	}
	s, err := w.session(strings.TrimSuffix(c.value('t'), ":"))
	if err != nil {
		return err
	}
	var panes []*place
	for i := range s.windows {
		panes = append(panes, s.windows[i].all()...)
	}
	return a.away(s.name, panes, c.name)
}

func (a *answerer) hasSession(c call) error {
	w, err := a.world()
	if err == nil {
		_, err = w.session(strings.TrimSuffix(c.value('t'), ":"))
	}
	return err
}

// breakPane gives a pane a window of its own, in its session or another.
func (a *answerer) breakPane(c call) error {
	w, at, err := a.find(c.value('s'))
	if err != nil {
		return err
	}
	if err := a.mine(at.pane, c.name); err != nil {
		return err
	}
	to := at.session
	if name, _, _ := strings.Cut(c.value('t'), ":"); name != "" {
		if to, err = w.session(name); err != nil {
			return err
		}
	}
	uri, id := at.pane.terminal.Resource, at.pane.leaf.Pane
	if to == at.session {
		area, _ := a.screen(at.tab())
		err = a.edit(to.name, func(l layout.Layout) (layout.Layout, error) { return l.BreakOut(area, id) })
	} else if err = a.tab(to.name, c.value('n'), uri); err == nil {
		err = a.unshow(at)
	}
	if err != nil || !c.has('P') {
		return err
	}
	return a.made(c, uri, nil)
}

// unshow takes a pane out of its layout; its program runs on.
func (a *answerer) unshow(at spot) error {
	area, _ := a.screen(at.tab())
	return a.edit(at.session.name, func(l layout.Layout) (layout.Layout, error) { return l.Close(area, at.pane.leaf.Pane), nil })
}

// joinPane brings a pane of the team's beside another one.
func (a *answerer) joinPane(c call) error {
	w, from, err := a.find(c.value('s'))
	if err != nil {
		return err
	}
	to, err := w.target(c.value('t'))
	if err != nil {
		return err
	}
	if from.pane.id == to.pane.id {
		return errors.New("source and target panes must be different")
	}
	if err := errors.Join(a.mine(from.pane, c.name), a.near(to, c.name)); err != nil {
		return err
	}
	area, err := a.area(to)
	if err != nil {
		return err
	}
	beside := to.pane.leaf.Pane
	if from.session.name == to.session.name {
		return a.edit(to.session.name, func(l layout.Layout) (layout.Layout, error) {
			if i, _, ok := l.Find(beside); ok && !l.Tabs[i].CanSplit(area, beside, c.side()) {
				return l, errRoom
			}
			return l.Move(area, from.pane.leaf.Pane, beside, c.side())
		})
	}
	err = a.edit(to.session.name, func(l layout.Layout) (layout.Layout, error) {
		l, _, err := c.beside(l, area, beside, from.pane.terminal.Resource)
		return l, err
	})
	if err != nil {
		return err
	}
	return a.unshow(from)
}

// presets are the arrangements that there are.
var presets = []layout.Preset{layout.EvenHorizontal, layout.EvenVertical, layout.MainHorizontal, layout.MainVertical, layout.Tiled}

func (a *answerer) selectLayout(c call, at spot) error {
	name := layout.Preset(strings.Join(c.args, ""))
	if !c.has('E') && !slices.Contains(presets, name) {
		return fmt.Errorf("select-layout %q: %s", name, unknown)
	}
	return a.edit(at.session.name, func(l layout.Layout) (layout.Layout, error) {
		if at.window.at >= len(l.Tabs) || l.Tabs[at.window.at].ID != at.tab().ID {
			return l, errors.New("can't find window: it is gone")
		}
		l.Active = at.window.at
		if c.has('E') {
			return l.Even(), nil
		}
		return l.Apply(name), nil
	})
}

func (a *answerer) renameWindow(c call, at spot) error {
	if len(c.args) == 0 {
		return errors.New("rename-window: say the name")
	}
	return a.edit(at.session.name, func(l layout.Layout) (layout.Layout, error) { return l.RenameTab(at.window.at, c.args[0]), nil })
}
