package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
)

// keepHidden is how many terminals that are not shown stay subscribed, so that
// going back to their tab shows them at once.
const keepHidden = 8

// area is where a tab is drawn: all but the status line.
func (m *Model) area() layout.Rect {
	return layout.Rect{W: m.outer.W, H: max(m.outer.H-1, 0)}
}

// apply does an operation on the layout, at once here and then at the host.
func (m *Model) apply(o op) bool {
	changed, err := m.doc.apply(o)
	if err != nil {
		m.loop.Say(status.Warning, "%v", err)
	}
	if changed {
		m.loop.Dirty |= loop.Places | loop.Chrome
	}
	return changed
}

// change is apply for operations that can't fail.
func (m *Model) change(f func(layout.Layout) layout.Layout) bool {
	return m.apply(func(l layout.Layout) (layout.Layout, error) { return f(l), nil })
}

// keepFolds puts what a person has folded into the layout, where it outlives the
// view. What another client folds shows when the pane is made anew.
func (m *Model) keepFolds() {
	for id, v := range m.views {
		if ids, changed := v.Folds(); changed {
			ids = ids[max(len(ids)-layout.MaxFolds, 0):]
			m.change(func(l layout.Layout) layout.Layout { return l.Fold(id, ids) })
		}
	}
}

// sendLayout dispatches the operations that wait.
func (m *Model) sendLayout() {
	if !m.link.Up() {
		return
	}
	if a, ok := m.doc.next(); ok {
		seq, ok := m.link.Dispatch(m.doc.uri, a)
		if !ok {
			m.doc.unsent()
			return
		}
		m.doc.dispatched(seq)
	}
}

// idle reports whether the host has answered everything.
func (d *document) idle() bool { return d.seq == 0 && len(d.waiting) == 0 }

// focused gives the focused pane as placed, its terminal and its view; t and v
// are nil where there is none.
func (m *Model) focused() (p layout.Placed, t *terminals.Terminal, v *pane.View) {
	p, ok := m.arr.Focused()
	if !ok {
		return p, nil, nil
	}
	return p, m.terms.Get(p.Terminal), m.views[p.Pane]
}

// freshen computes the places again if something moved.
func (m *Model) freshen() {
	if m.loop.Dirty&loop.Stale != 0 {
		m.arrange()
	}
}

// arrange computes the places of panes and what follows from them: which
// terminals to follow, their sizes, their views.
func (m *Model) arrange() {
	m.loop.Dirty &^= loop.Stale
	old, _ := m.arr.Focused()
	m.arr = layout.Arrangement{Area: m.area()}
	if tab, ok := m.doc.shown.Tab(); ok {
		m.arr = tab.Arrange(m.area())
	}
	m.together.prune(m.doc.shown)
	m.attending.stale = true
	m.ticks++
	for _, p := range m.arr.Panes {
		if t := m.terms.Get(p.Terminal); t != nil {
			t.Shown = m.ticks
		}
	}
	m.followChats()
	m.follow()
	m.look()
	for _, p := range m.arr.Panes {
		m.fit(p, false)
	}
	if now, _ := m.arr.Focused(); now.Pane != old.Pane || now.Terminal != old.Terminal {
		m.focusMoved(old.Terminal, now.Terminal)
	}
}

// follow subscribes to the terminals that show and drops those that have not
// shown for long.
func (m *Model) follow() {
	var hidden []*terminals.Terminal
	for _, t := range m.terms.ByURI {
		switch {
		case t.Shown == m.ticks && t.Feed == nil && m.link.Up() && !t.Done:
			m.subscribe(t, nil)
		case t.Shown != m.ticks && t.Feed != nil:
			hidden = append(hidden, t)
		}
	}
	if len(hidden) <= keepHidden {
		return
	}
	slices.SortFunc(hidden, func(a, b *terminals.Terminal) int { return cmp.Compare(b.Shown, a.Shown) })
	for _, t := range hidden[keepHidden:] {
		if t.Ready {
			m.unfollow(t)
			m.link.Host.Unsubscribe(t.URI)
		}
	}
}

// subscribe follows a terminal; done, if not nil, is called when the host has
// answered.
func (m *Model) subscribe(t *terminals.Terminal, done func(*Model)) {
	uri := t.URI
	t.Feed = m.link.Sink.Feed(uri)
	m.loop.Async("show "+t.Quoted(), func(ctx context.Context) (func(), error) {
		err := m.link.Host.Subscribe(ctx, uri)
		return func() {
			if t := m.terms.Get(uri); t != nil && err != nil {
				m.unfollow(t)
			}
			if done != nil {
				done(m)
			}
		}, err
	})
}

// unfollow forgets a terminal's feed.
func (m *Model) unfollow(t *terminals.Terminal) {
	if t.Feed != nil {
		m.outer.Gallery.Drop(t.Feed)
	}
	t.Feed, t.Ready, t.Want = nil, false, terminals.Size{}
	m.link.Sink.Drop(t.URI)
}

// look makes the views match the panes of the layout.
func (m *Model) look() {
	for id, v := range m.views {
		_, leaf, ok := m.doc.shown.Find(id)
		if ok {
			t := m.terms.Get(leaf.Terminal)
			ok = t != nil && t.Feed == v.Feed
		}
		if !ok {
			delete(m.views, id)
		}
	}
	for _, p := range m.arr.Panes {
		if t := m.terms.Get(p.Terminal); t != nil && t.Feed != nil && m.views[p.Pane] == nil {
			m.views[p.Pane] = pane.NewView(t.Feed)
			if _, leaf, ok := m.doc.shown.Find(p.Pane); ok {
				m.views[p.Pane].SetFolds(leaf.Folds)
			}
		}
	}
}

// fit asks the host for the pane's size: when this client's places changed, unless
// another client of this person's decides, and with typed set whenever the
// terminal has another size.
func (m *Model) fit(p layout.Placed, typed bool) {
	t := m.terms.Get(p.Terminal)
	if t == nil || !t.Ready || t.Exited() || p.Body.Empty() || !m.link.Up() {
		return
	}
	if h := m.terms.Holder(t); h != command.Me && (h != command.MyOther || t.Theirs && !typed) {
		return
	}
	if shown, _ := m.showing(p.Terminal); shown.Pane != p.Pane {
		return // another pane of this tab shows it too and decides
	}
	want := terminals.Size{Cols: p.Body.W, Rows: p.Body.H}
	if !typed && t.Want == want {
		return
	}
	t.Want = want
	if t.Cols != want.Cols || t.Rows != want.Rows {
		m.link.Dispatch(t.URI, ahp.TerminalResized{Cols: want.Cols, Rows: want.Rows})
	}
}

// showing gives the place of the first pane on the screen that shows a
// terminal, the focused one before others.
func (m *Model) showing(uri ahp.URI) (layout.Placed, bool) {
	if p, ok := m.arr.Focused(); ok && p.Terminal == uri {
		return p, true
	}
	for _, p := range m.arr.Panes {
		if p.Terminal == uri {
			return p, true
		}
	}
	return layout.Placed{}, false
}

// removePane takes a terminal's panes out of the layout.
func (m *Model) removePane(uri ahp.URI) {
	area := m.area()
	if m.change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) }) {
		m.emptied()
	}
}

// dispose ends a terminal and closes its panes.
func (m *Model) dispose(t *terminals.Terminal) {
	t.Done = true
	uri, ended := t.URI, t.Exited()
	area := m.area()
	m.change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) })
	what := "end " + t.Quoted()
	m.loop.Async(what, func(ctx context.Context) (func(), error) {
		err := m.link.Host.Dispose(ctx, uri)
		if err != nil && ended {
			err = nil // another client was first
		}
		return func() {
			if t := m.terms.Get(uri); t != nil && err != nil {
				t.Done = false
			}
		}, err
	})
}

// placement puts a new terminal into a layout.
type placement func(l layout.Layout, uri ahp.URI) (layout.Layout, layout.PaneID, error)

// create makes a terminal and puts it into the layout. What is typed until it
// shows is held back and goes to it.
func (m *Model) create(put placement, argv []string, cwd ahp.URI) {
	uri := address.New(ahp.TerminalScheme)
	l, id, err := put(m.doc.shown, uri)
	if err != nil {
		m.loop.Say(status.Warning, "%v", err)
		return
	}
	params := ahp.CreateTerminalParams{
		Channel: uri, Cwd: cwd, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: m.terms.Me},
	}
	params.Meta = &ahp.CreateMeta{Command: argv}
	if _, t, _ := m.focused(); t != nil {
		params.Meta.CwdOf = t.URI
	}
	if tab, ok := l.Tab(); ok {
		if p, ok := tab.Arrange(m.area()).Pane(id); ok {
			params.Cols, params.Rows = p.Body.W, p.Body.H
		}
	}
	m.kb.holding++
	m.loop.Async("create terminal", func(ctx context.Context) (func(), error) {
		err := m.link.Host.Create(ctx, params)
		if err == nil {
			err = m.link.Host.Subscribe(ctx, uri)
		}
		return func() {
			if err == nil {
				m.created(uri, put)
			}
			m.kb.holding--
			m.release()
			if err != nil && len(m.doc.shown.Tabs) == 0 && m.kb.holding == 0 {
				m.leave(Exit{Reason: Emptied, Note: "no terminal could be created: " + strings.TrimPrefix(err.Error(), "create terminal: ")})
			}
		}, err
	})
}

func (m *Model) created(uri ahp.URI, put placement) {
	t := m.terms.Ensure(uri)
	if t.Born.IsZero() {
		t.Born = m.env.Now()
	}
	m.kb.bare = false
	m.apply(func(l layout.Layout) (layout.Layout, error) {
		if _, ok := l.Showing(uri); ok {
			return l, nil // done again on a layout that has it
		}
		l, _, err := put(l, uri)
		return l, err
	})
	if t.Exited() {
		m.ended(t) // it ended before it showed
	}
}

// newTab opens a terminal in a tab of its own.
func (m *Model) newTab(argv []string) {
	cwd := m.cwd()
	if cwd == "" {
		cwd = address.File(m.cfg.Cwd)
	}
	m.create(func(l layout.Layout, uri ahp.URI) (layout.Layout, layout.PaneID, error) {
		return l.NewTab(uri)
	}, argv, cwd)
}

// split opens a terminal beside the focused pane.
func (m *Model) split(d layout.Direction) {
	at, area := m.focusID(), m.area()
	m.create(func(l layout.Layout, uri ahp.URI) (layout.Layout, layout.PaneID, error) {
		if _, _, ok := l.Find(at); !ok {
			return l.NewTab(uri) // the pane beside is gone
		}
		return l.Split(area, at, d, uri)
	}, nil, m.cwd())
}

// focusID is the focused pane's id, "" without one.
func (m *Model) focusID() layout.PaneID {
	tab, ok := m.doc.shown.Tab()
	if !ok {
		return ""
	}
	return tab.Focus
}

// cwd is the focused terminal's working directory, where new terminals start.
func (m *Model) cwd() ahp.URI {
	if _, t, _ := m.focused(); t != nil {
		return t.Cwd
	}
	return ""
}
