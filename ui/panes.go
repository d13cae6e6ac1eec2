package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/pane"
	"tandemux/ui/status"
)

// ensure gives the terminal's entry, a new one if there is none.
func (ts *terminals) ensure(uri ahp.URI) *terminal {
	t := ts.byURI[uri]
	if t == nil {
		if ts.byURI == nil {
			ts.byURI = map[ahp.URI]*terminal{}
		}
		t = &terminal{uri: uri, info: ahp.TerminalInfo{Resource: uri}}
		ts.byURI[uri] = t
	}
	return t
}

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
	if m.link != Connected {
		return
	}
	if a, ok := m.doc.next(); ok {
		seq, ok := m.dispatch(m.doc.uri, a)
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
func (m *Model) focused() (p layout.Placed, t *terminal, v *pane.View) {
	p, ok := m.arr.Focused()
	if !ok {
		return p, nil, nil
	}
	return p, m.terms.get(p.Terminal), m.views[p.Pane]
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
		if t := m.terms.get(p.Terminal); t != nil {
			t.shown = m.ticks
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
	var hidden []*terminal
	for _, t := range m.terms.byURI {
		switch {
		case t.shown == m.ticks && t.feed == nil && m.link == Connected && !t.done:
			m.subscribe(t, nil)
		case t.shown != m.ticks && t.feed != nil:
			hidden = append(hidden, t)
		}
	}
	if len(hidden) <= keepHidden {
		return
	}
	slices.SortFunc(hidden, func(a, b *terminal) int { return cmp.Compare(b.shown, a.shown) })
	for _, t := range hidden[keepHidden:] {
		if t.ready {
			m.unfollow(t)
			m.cfg.Host.Unsubscribe(t.uri)
		}
	}
}

// subscribe follows a terminal; done, if not nil, is called when the host has
// answered.
func (m *Model) subscribe(t *terminal, done func(*Model)) {
	uri := t.uri
	t.feed = m.cfg.Sink.feed(uri)
	m.loop.Async("show "+describe(t), func(ctx context.Context) (func(), error) {
		err := m.cfg.Host.Subscribe(ctx, uri)
		return func() {
			if t := m.terms.get(uri); t != nil && err != nil {
				m.unfollow(t)
			}
			if done != nil {
				done(m)
			}
		}, err
	})
}

// unfollow forgets a terminal's feed.
func (m *Model) unfollow(t *terminal) {
	if t.feed != nil {
		m.outer.Gallery.Drop(t.feed)
	}
	t.feed, t.ready, t.want = nil, false, size{}
	m.cfg.Sink.drop(t.uri)
}

// look makes the views match the panes of the layout.
func (m *Model) look() {
	for id, v := range m.views {
		_, leaf, ok := m.doc.shown.Find(id)
		if ok {
			t := m.terms.get(leaf.Terminal)
			ok = t != nil && t.feed == v.Feed
		}
		if !ok {
			delete(m.views, id)
		}
	}
	for _, p := range m.arr.Panes {
		if t := m.terms.get(p.Terminal); t != nil && t.feed != nil && m.views[p.Pane] == nil {
			m.views[p.Pane] = pane.NewView(t.feed)
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
	t := m.terms.get(p.Terminal)
	if t == nil || !t.ready || t.exited() || p.Body.Empty() || m.link != Connected {
		return
	}
	if h := m.terms.holder(t); h != command.Me && (h != command.MyOther || t.theirs && !typed) {
		return
	}
	if shown, _ := m.showing(p.Terminal); shown.Pane != p.Pane {
		return // another pane of this tab shows it too and decides
	}
	want := size{p.Body.W, p.Body.H}
	if !typed && t.want == want {
		return
	}
	t.want = want
	if t.cols != want.cols || t.rows != want.rows {
		m.dispatch(t.uri, ahp.TerminalResized{Cols: want.cols, Rows: want.rows})
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
func (m *Model) dispose(t *terminal) {
	t.done = true
	uri, ended := t.uri, t.exited()
	area := m.area()
	m.change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) })
	what := "end " + describe(t)
	m.loop.Async(what, func(ctx context.Context) (func(), error) {
		err := m.cfg.Host.Dispose(ctx, uri)
		if err != nil && ended {
			err = nil // another client was first
		}
		return func() {
			if t := m.terms.get(uri); t != nil && err != nil {
				t.done = false
			}
		}, err
	})
}

// placement puts a new terminal into a layout.
type placement func(l layout.Layout, uri ahp.URI) (layout.Layout, layout.PaneID, error)

// create makes a terminal and puts it into the layout. What is typed until it
// shows is held back and goes to it.
func (m *Model) create(put placement, argv []string, cwd ahp.URI) {
	uri := newTerminalURI()
	l, id, err := put(m.doc.shown, uri)
	if err != nil {
		m.loop.Say(status.Warning, "%v", err)
		return
	}
	params := ahp.CreateTerminalParams{
		Channel: uri, Cwd: cwd, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: m.terms.me},
	}
	params.Meta = &ahp.CreateMeta{Command: argv}
	if _, t, _ := m.focused(); t != nil {
		params.Meta.CwdOf = t.uri
	}
	if tab, ok := l.Tab(); ok {
		if p, ok := tab.Arrange(m.area()).Pane(id); ok {
			params.Cols, params.Rows = p.Body.W, p.Body.H
		}
	}
	m.kb.holding++
	m.loop.Async("create terminal", func(ctx context.Context) (func(), error) {
		err := m.cfg.Host.Create(ctx, params)
		if err == nil {
			err = m.cfg.Host.Subscribe(ctx, uri)
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
	t := m.terms.ensure(uri)
	if t.born.IsZero() {
		t.born = m.env.Now()
	}
	m.kb.bare = false
	m.apply(func(l layout.Layout) (layout.Layout, error) {
		if _, ok := l.Showing(uri); ok {
			return l, nil // done again on a layout that has it
		}
		l, _, err := put(l, uri)
		return l, err
	})
	if t.exited() {
		m.ended(t) // it ended before it showed
	}
}

// newTab opens a terminal in a tab of its own.
func (m *Model) newTab(argv []string) {
	cwd := m.cwd()
	if cwd == "" {
		cwd = fileURI(m.cfg.Cwd)
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
		return t.cwd
	}
	return ""
}
