package panes

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
)

// keepHidden is how many hidden terminals stay subscribed, so that they show at once when their
// tab is shown again.
const keepHidden = 8

// Hooks is what Panes has other parts do.
type Hooks struct {
	// Arranged is called when the places were computed, to mark what else shows (Keep). Focused
	// is called later if the focus went to another pane or terminal.
	Arranged func()
	Focused  func(from, to ahp.URI)
	// Released handles the input that was held while a terminal was being created.
	Released func()
	// Emptied ends the interface as there is nothing to show, Broke as it can't continue.
	Emptied, Broke func(note string)
	// Switched is called when another layout is shown.
	Switched func()
	// ChatTitle returns a chat's title.
	ChatTitle func(uri ahp.URI) string
	// PaneEnv returns the Program.Env of a program that is started at the focused pane.
	PaneEnv func() func() (map[string]string, func(), error)
	// Run runs a command by name.
	Run func(name string, args []string)
	// Preview returns what draws the screens of the terminals in a list's rows.
	Preview func(list *overlay.List, of func(key string) ahp.URI) Preview
}

// Preview draws more about a list's row.
type Preview = func(c *paint.Canvas, r paint.Rect, key string, l look.Look)

// Panes is the tabs and panes on the screen: the layout's document, the places of its panes, the
// views, and the subscriptions to their terminals.
type Panes struct {
	Name  string // the layout's
	Doc   Document
	Arr   layout.Arrangement
	Views map[layout.PaneID]*pane.View
	Terms *terminals.List

	Begun   bool // the layout and the list of terminals have arrived and were acted on
	Holding int  // number of terminals being created
	Bare    bool // the person emptied the layout
	// Unseen says that nobody looks at the layout: no terminal is subscribed, claimed, resized or
	// started because the layout shows it, and only popups close.
	Unseen bool

	loop     *loop.Loop
	link     *link.Link
	outer    *outer.Terminal
	do       Hooks
	first    First
	ticks    int                // number of arrangements so far
	marked   layout.PaneID      // for the commands that take two panes, "" for none
	then     map[ahp.URI]func() // called when a terminal's program ends
	together map[string]bool    // ids of the tabs in which all panes get what is typed
	layouts  layouts
	checked  map[string]bool // other hosts that Arrived has acted on
}

// First is how the first terminal of an empty layout is made.
type First struct {
	Cwd   string
	given ahp.URI // set by Give
}

// Give has Create use an existing terminal instead of making one. If terminal is "", Create makes
// one.
func Give(ps *Panes, terminal ahp.URI) { ps.first.given = terminal }

// New makes the Panes of a layout. Open fetches its document.
func New(name string, first First, l *loop.Loop, lk *link.Link, o *outer.Terminal, ts *terminals.List, do Hooks) *Panes {
	return &Panes{
		Name: name, Doc: Document{URI: address.Layout(name), Shown: layout.New(name)},
		Views: map[layout.PaneID]*pane.View{}, Terms: ts,
		loop: l, link: lk, outer: o, do: do, first: first,
		then: map[ahp.URI]func(){}, together: map[string]bool{}, layouts: layouts{read: map[ahp.URI]*reading{}},
	}
}

// Open subscribes to the layout's document.
func (ps *Panes) Open() {
	uri := ps.Doc.URI
	ps.loop.Call("open layout "+ps.Name, func(ctx context.Context) error { return ps.link.Host.Subscribe(ctx, uri) }, nil)
}

// Settle sends the changes of the layout.
func (ps *Panes) Settle() {
	// A person's folds are kept in the layout, beyond the view. Another client's folds show when
	// the view is made anew.
	for id, v := range ps.Views {
		if ids, changed := v.Folds(); changed {
			ids = ids[max(len(ids)-layout.MaxFolds, 0):]
			ps.Change(func(l layout.Layout) layout.Layout { return l.Fold(id, ids) })
		}
	}
	ps.sendLayout()
	ps.switchLayout()
}

// Idle reports whether the host has answered all changes of the layout.
func (ps *Panes) Idle() bool { return ps.Doc.idle() }

// Area is where a tab is drawn: the screen without the status line.
func (ps *Panes) Area() layout.Rect {
	return layout.Rect(ps.outer.Body())
}

// Apply runs an operation on the layout here, and queues it for the host.
func (ps *Panes) Apply(o op) bool {
	changed, err := ps.Doc.apply(o)
	if err != nil {
		ps.loop.Say(status.Warning, "%v", err)
	}
	if changed {
		ps.loop.Dirty |= loop.Places | loop.Chrome
	}
	return changed
}

// Change is Apply for operations that can't fail.
func (ps *Panes) Change(f func(layout.Layout) layout.Layout) bool {
	return ps.Apply(func(l layout.Layout) (layout.Layout, error) { return f(l), nil })
}

// sendLayout dispatches the waiting operations.
func (ps *Panes) sendLayout() {
	if !ps.link.Up() {
		return
	}
	d := &ps.Doc
	if a, ok := d.next(); ok {
		if d.seq, ok = ps.link.Dispatch(d.URI, a); !ok {
			d.waiting, d.sent, d.seq = append(d.sent, d.waiting...), nil, 0
		}
	}
}

// idle reports whether the host has answered everything.
func (d *Document) idle() bool { return d.seq == 0 && len(d.waiting) == 0 }

// Focused returns the focused pane's place, terminal and view; t and v are nil if it has none.
func (ps *Panes) Focused() (p layout.Placed, t *terminals.Terminal, v *pane.View) {
	p, ok := ps.Arr.Focused()
	if !ok {
		return p, nil, nil
	}
	return p, ps.Terms.Get(p.Terminal), ps.Views[p.Pane]
}

// Freshen computes the places again if something has changed them.
func (ps *Panes) Freshen() {
	if ps.loop.Dirty&loop.Stale != 0 {
		ps.arrange()
	}
}

// arrange computes the places of panes and what follows from them: subscriptions, sizes and
// views.
func (ps *Panes) arrange() {
	ps.loop.Dirty &^= loop.Stale
	old, _ := ps.Arr.Focused()
	ps.Arr = layout.Arrangement{Area: ps.Area()}
	if tab, ok := ps.Doc.Shown.Tab(); ok {
		ps.Arr = tab.Arrange(ps.Area())
	}
	// A pane that is opened later in a tab that is gone or has one pane is typed into alone.
	maps.DeleteFunc(ps.together, func(id string, _ bool) bool {
		return !slices.ContainsFunc(ps.Doc.Shown.Tabs, func(t layout.Tab) bool { return t.ID == id && len(t.Panes()) > 1 })
	})
	ps.ticks++
	for _, p := range slices.Concat(ps.Arr.Panes, ps.Arr.Bars) { // headers show commands, so their terminals are subscribed
		if t := ps.Terms.Get(p.Terminal); t != nil {
			t.Shown = ps.ticks
		}
	}
	if ps.Unseen {
		return
	}
	ps.do.Arranged()
	ps.follow()
	ps.look()
	for _, p := range ps.Arr.Panes {
		ps.Fit(p, false)
	}
	if now, _ := ps.Arr.Focused(); now.Pane != old.Pane || now.Terminal != old.Terminal {
		ps.do.Focused(old.Terminal, now.Terminal)
	}
}

// Keep marks a terminal as visible, so that it is subscribed.
func (ps *Panes) Keep(t *terminals.Terminal) { t.Shown = ps.ticks }

// Then calls do once when a terminal's program ends.
func (ps *Panes) Then(uri ahp.URI, do func()) { ps.then[uri] = do }

// follow subscribes to visible terminals and unsubscribes from those that have been hidden for
// longest.
func (ps *Panes) follow() {
	var hidden []*terminals.Terminal
	for _, t := range ps.Terms.ByURI {
		switch {
		case t.Shown == ps.ticks && t.Feed == nil && ps.link.UpAt(t.URI) && !t.Done:
			ps.Subscribe(t, nil)
		case t.Shown != ps.ticks && t.Feed != nil:
			hidden = append(hidden, t)
		}
	}
	if len(hidden) <= keepHidden {
		return
	}
	slices.SortFunc(hidden, func(a, b *terminals.Terminal) int { return cmp.Compare(b.Shown, a.Shown) })
	for _, t := range hidden[keepHidden:] {
		if t.Ready {
			ps.unfollow(t)
			ps.link.Host.Unsubscribe(t.URI)
		}
	}
}

// Subscribe subscribes to a terminal. done, if not nil, is called when the host has answered.
func (ps *Panes) Subscribe(t *terminals.Terminal, done func()) {
	uri := t.URI
	t.Feed = ps.link.Sink.Feed(uri)
	ps.loop.Async("show "+t.Quoted(), func(ctx context.Context) (func(), error) {
		err := ps.link.Host.Subscribe(ctx, uri)
		return func() {
			if t := ps.Terms.Get(uri); t != nil && err != nil {
				ps.unfollow(t)
			}
			if done != nil {
				done()
			}
		}, err
	})
}

func (ps *Panes) unfollow(t *terminals.Terminal) {
	if t.Feed != nil {
		ps.outer.Gallery.Drop(t.Feed)
	}
	t.Feed, t.Ready, t.Want = nil, false, terminals.Size{}
	ps.link.Sink.Drop(t.URI)
}

// look makes the views match the panes of the layout.
func (ps *Panes) look() {
	for id, v := range ps.Views {
		_, leaf, ok := ps.Doc.Shown.Find(id)
		if ok {
			t := ps.Terms.Get(leaf.Terminal)
			ok = t != nil && t.Feed == v.Feed
		}
		if !ok {
			v.Feed.Drop(v)
			delete(ps.Views, id)
		}
	}
	for _, p := range ps.Arr.Panes {
		if t := ps.Terms.Get(p.Terminal); t != nil && t.Feed != nil && ps.Views[p.Pane] == nil {
			ps.Views[p.Pane] = pane.NewView(t.Feed)
			if _, leaf, ok := ps.Doc.Shown.Find(p.Pane); ok {
				ps.Views[p.Pane].SetFolds(leaf.Folds)
			}
		}
	}
}

// Fit sets a terminal's size to its pane's if the pane's size changed, unless another client of
// this person decides; with typed, whenever the sizes differ.
func (ps *Panes) Fit(p layout.Placed, typed bool) {
	t := ps.Terms.Get(p.Terminal)
	want := terminals.Size{Cols: p.Body.W, Rows: p.Body.H}
	if t == nil || t.Want == want && (!typed || t.Sized || t.Cols == want.Cols && t.Rows == want.Rows) {
		return
	}
	if !t.Ready || t.Exited() || p.Body.Empty() || !ps.link.UpAt(t.URI) {
		return
	}
	h := ps.Terms.Holder(t)
	fits := h == command.MyOther || t.Fits()
	if h != command.Me && (!fits || t.Theirs && !typed) {
		return
	}
	if shown, _ := ps.Showing(p.Terminal); shown.Pane != p.Pane {
		return // another pane of this tab shows it and decides
	}
	kept := t.Sized && t.Want == terminals.Size{} // its program's own size is kept until the pane changes
	t.Want = want
	if !kept && (t.Cols != want.Cols || t.Rows != want.Rows) {
		ps.link.Dispatch(t.URI, ahp.TerminalResized{Cols: want.Cols, Rows: want.Rows})
	}
}

// Showing returns the place of the first visible pane that shows a terminal; the focused pane
// comes first.
func (ps *Panes) Showing(uri ahp.URI) (layout.Placed, bool) {
	if p, ok := ps.Arr.Focused(); ok && p.Terminal == uri {
		return p, true
	}
	for _, p := range ps.Arr.Panes {
		if p.Terminal == uri {
			return p, true
		}
	}
	return layout.Placed{}, false
}

// Under returns the pane whose body is at a cell, with its terminal and view.
func (ps *Panes) Under(x, y int) (p layout.Placed, t *terminals.Terminal, v *pane.View) {
	h := ps.Arr.At(x, y)
	if h.Kind != layout.HitBody {
		return p, nil, nil
	}
	p, _ = ps.Arr.Pane(h.Pane)
	return p, ps.Terms.Get(p.Terminal), ps.Views[p.Pane]
}

// LooksAt reports whether a terminal is visible and the outer terminal, as far as known, has the
// focus.
func (ps *Panes) LooksAt(uri ahp.URI) bool {
	return !ps.outer.Blurred && slices.ContainsFunc(ps.Arr.Panes, func(p layout.Placed) bool { return p.Terminal == uri })
}
