package tmux

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/endpoint"
	"tandemux/internal/tmux/pane"
	"tandemux/ui/layout"
)

// errRoom has the words by which agents know it.
var errRoom = errors.New("no space for new pane")

// side is where a pane comes that a call makes.
func (c call) side() layout.Direction {
	switch before := c.has('b'); {
	case c.has('h') && before:
		return layout.Left
	case c.has('h'):
		return layout.Right
	case before:
		return layout.Up
	}
	return layout.Down
}

// cells reads a length: "70%" of a whole, or "20".
func cells(text string, whole int) (int, error) {
	number, share := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("size %q: want cells or a percentage", text)
	}
	if share {
		n = whole * n / 100
	}
	return n, nil
}

// wide gives a pane as many cells along an axis as there is room for.
func wide(l layout.Layout, area layout.Rect, id layout.PaneID, axis layout.Axis, want int) layout.Layout {
	length := func(l layout.Layout) int {
		i, _, _ := l.Find(id)
		p, _ := l.Tabs[i].Arrange(area).Pane(id)
		if axis == layout.Row {
			return p.Body.W
		}
		return p.Body.H
	}
	off := func(l layout.Layout) int { return max(want-length(l), length(l)-want) }
	sides := []layout.Direction{layout.Left, layout.Right}
	if axis == layout.Column {
		sides = []layout.Direction{layout.Up, layout.Down}
	}
	best := l
	for _, d := range sides {
		if next := l.Resize(area, id, d, off(l)); off(next) < off(best) {
			best = next
		}
	}
	return best
}

// beside puts a new pane beside another one.
func (c call) beside(l layout.Layout, area layout.Rect, at layout.PaneID, uri ahp.URI) (layout.Layout, layout.PaneID, error) {
	i, _, ok := l.Find(at)
	if !ok {
		return l, "", errors.New("can't find the pane: it is gone")
	}
	t := l.Tabs[i]
	t.Zoom = false
	whole, _ := t.Arrange(area).Pane(at)
	if !t.CanSplit(area, at, c.side()) {
		return l, "", errRoom
	}
	next, id, err := l.Split(area, at, c.side(), uri)
	if err != nil {
		return l, "", fmt.Errorf("%w: %w", errRoom, err)
	}
	size := c.value('l')
	if p := c.value('p'); p != "" {
		size = p + "%"
	}
	if size == "" {
		return next, id, nil
	}
	axis, length := layout.Column, whole.Body.H
	if c.has('h') {
		axis, length = layout.Row, whole.Body.W
	}
	n, err := cells(size, length)
	if err != nil {
		return l, "", err
	}
	return wide(next, area, id, axis, n), id, nil
}

// shown is the size that a pane will have.
func shown(l layout.Layout, area layout.Rect, id layout.PaneID) layout.Rect {
	i, _, ok := l.Find(id)
	if !ok {
		return layout.Rect{}
	}
	t := l.Tabs[i]
	t.Zoom = false
	p, _ := t.Arrange(area).Pane(id)
	return p.Body
}

// window finds what -t names in a window that may be rearranged, and that one's area.
func (a *answerer) window(c call) (at spot, area layout.Rect, err error) {
	if _, at, err = a.find(c.value('t')); err == nil {
		err = a.near(at, c.name)
	}
	if err == nil {
		area, err = a.area(at)
	}
	return at, area, err
}

func (a *answerer) splitWindow(c call) error {
	if err := a.team(c); err != nil {
		return err
	}
	at, area, err := a.window(c)
	if err != nil {
		return err
	}
	uri := endpoint.NewTerminalURI()
	next, id, err := c.beside(at.session.layout, area, at.pane.leaf.Pane, uri)
	if err != nil {
		return err
	}
	if err := a.create(c, uri, shown(next, area, id)); err != nil {
		return err
	}
	err = a.edit(at.session.name, func(l layout.Layout) (layout.Layout, error) {
		l, _, err := c.beside(l, area, at.pane.leaf.Pane, uri)
		return l, err
	})
	return a.made(c, uri, err)
}

// made tells of a new pane, or ends the terminal that there is no pane for.
func (a *answerer) made(c call, uri ahp.URI, err error) error {
	if err != nil {
		return errors.Join(err, a.end(uri))
	}
	if !c.has('P') {
		return nil
	}
	if err := a.open(); err != nil {
		return err
	}
	w, err := a.world()
	if err != nil {
		return err
	}
	id := pane.Number("%", uri)
	at, err := w.where(func(s spot) bool { return s.pane.id == id }, fmt.Errorf("pane %s ended at once", id))
	if err != nil {
		return err
	}
	format := cmp.Or(c.value('F'), "#{session_name}:#{window_index}.#{pane_index}")
	return a.print(at, format)
}

func (a *answerer) respawnPane(c call, at spot) error {
	old := at.pane.terminal
	if !c.has('k') && !old.Lifecycle.Exited() {
		return fmt.Errorf("respawn pane failed: pane %s still active", at.pane.id)
	}
	uri := pane.Next(old.Resource)
	if len(c.args) == 0 {
		c.args = old.Meta.Command
	}
	area, err := a.area(at)
	if err != nil {
		return err
	}
	if err := a.create(c, uri, shown(at.session.layout, area, at.pane.leaf.Pane)); err != nil {
		return err
	}
	err = a.edit(at.session.name, func(l layout.Layout) (layout.Layout, error) { return l.Show(at.pane.leaf.Pane, uri) })
	if err != nil {
		return errors.Join(err, a.end(uri))
	}
	err = a.end(old.Resource)
	if err == nil && at.pane.leaf.Name != "" {
		err = a.call(uri, at.pane.leaf.Name)
	}
	return err
}

// call names a teammate's terminal as its pane is, so that verbs find it. One that is another's,
// or is none that verbs take, is the pane's alone.
func (a *answerer) call(uri ahp.URI, name string) error {
	err := a.leader.Act(a.ctx, uri, ahp.TerminalTitleChanged{Title: name})
	if _, refused := errors.AsType[*client.RejectedError](err); refused {
		return nil
	}
	return err
}

// away takes panes of the team's out of a layout and ends their programs.
func (a *answerer) away(name string, panes []*place, doing string) error {
	for _, p := range panes {
		if p.id == a.own {
			return fmt.Errorf("%s: pane %s is where this runs", doing, p.id)
		}
		if err := a.mine(p, doing); err != nil {
			return err
		}
	}
	err := a.edit(name, func(l layout.Layout) (layout.Layout, error) {
		for _, p := range panes {
			if i, _, ok := l.Find(p.leaf.Pane); ok {
				area, _ := a.screen(l.Tabs[i])
				l = l.Close(area, p.leaf.Pane)
			}
		}
		return l, nil
	})
	for _, p := range panes {
		if err == nil {
			err = a.end(p.terminal.Resource)
		}
	}
	return err
}

func (a *answerer) killPane(c call, at spot) error {
	panes := []*place{at.pane}
	if c.has('a') {
		panes = slices.DeleteFunc(at.window.all(), func(p *place) bool { return p.id == at.pane.id })
	}
	return a.away(at.session.name, panes, c.name)
}

func (a *answerer) selectPane(c call) error {
	if c.value('T') == "" {
		return nil // its looks, or the focus: neither changes
	}
	_, at, err := a.find(c.value('t'))
	if err != nil {
		return err
	}
	if err := a.ours(at, c.name); err != nil {
		return err
	}
	if at.pane.id != a.own {
		if err := a.call(at.pane.terminal.Resource, c.value('T')); err != nil {
			return err
		}
	}
	return a.edit(at.session.name, func(l layout.Layout) (layout.Layout, error) {
		return l.RenamePane(at.pane.leaf.Pane, c.value('T')), nil
	})
}

// steps are the flags of resize-pane that move a border.
var steps = map[byte]layout.Direction{'D': layout.Down, 'L': layout.Left, 'R': layout.Right, 'U': layout.Up}

func (a *answerer) resizePane(c call) error {
	at, area, err := a.window(c)
	if err != nil {
		return err
	}
	id, by := at.pane.leaf.Pane, 1
	if len(c.args) > 0 {
		if by, err = cells(c.args[0], 0); err != nil {
			return err
		}
	}
	return a.edit(at.session.name, func(l layout.Layout) (layout.Layout, error) {
		for flag, d := range steps {
			if c.has(flag) {
				l = l.Resize(area, id, d, by)
			}
		}
		for _, to := range []struct {
			flag  byte
			axis  layout.Axis
			whole int
		}{{'x', layout.Row, area.W}, {'y', layout.Column, area.H}} {
			if !c.has(to.flag) {
				continue
			}
			n, err := cells(c.value(to.flag), to.whole)
			if err != nil {
				return l, err
			}
			l = wide(l, area, id, to.axis, n)
		}
		return l, nil
	})
}
