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

// keepHidden is how many terminals that are not shown stay subscribed, so that
// going back to their tab shows them at once.
const keepHidden = 8

// Hooks are what the panes have done for them.
type Hooks struct {
	// Arranged follows what else shows, now that the places are computed. Focused
	// is called after it when the focus has gone to another pane or terminal.
	Arranged func()
	Focused  func(from, to ahp.URI)
	// Released takes what was typed while a terminal was being created.
	Released func()
	// Emptied ends the interface as there is nothing to show, Broke as it can't go on.
	Emptied, Broke func(note string)
	// Switched says that another layout is on the screen.
	Switched func()
	// ChatTitle is what a chat is called.
	ChatTitle func(uri ahp.URI) string
	// Around is the Env of a program that is started at the focused pane.
	Around func() func() (map[string]string, func(), error)
	// Run runs a command by name.
	Run func(name string, args []string)
	// Preview gives what draws the screen of the terminal that a list's row stands for.
	Preview func(list *overlay.List, of func(key string) ahp.URI) Preview
}

// Preview draws more of a list's row.
type Preview = func(c *paint.Canvas, r paint.Rect, key string, l look.Look)

// Panes are the tabs and panes on the screen: the layout's document, the places that
// follow from it, the views, and which terminals are followed for them.
type Panes struct {
	Name  string // the layout's
	Doc   Document
	Arr   layout.Arrangement
	Views map[layout.PaneID]*pane.View
	Terms *terminals.List

	Begun   bool // the layout and the list of terminals have come and were acted on
	Holding int  // terminals being created
	Bare    bool // the layout is empty because the person made it so
	// Unseen says that nobody looks: no terminal is followed, taken, given a size or
	// started because of what the layout shows, and none closes but popups.
	Unseen bool

	loop     *loop.Loop
	link     *link.Link
	outer    *outer.Terminal
	do       Hooks
	first    First
	ticks    int                // arrangements so far
	marked   layout.PaneID      // for the commands that take two, "" for none
	then     map[ahp.URI]func() // what follows when a terminal's program ends
	together map[string]bool    // ids of the tabs where what is typed goes to all panes
	layouts  layouts
	seated   map[string]bool // other hosts whose terminals were looked through
}

// First is the first terminal of an empty layout.
type First struct {
	Cwd   string
	given ahp.URI // of Give
}

// Give has Create put a terminal that is there already in the place of one that it would
// make; empty: it makes one.
func Give(ps *Panes, terminal ahp.URI) { ps.first.given = terminal }

// New makes the panes of a layout, whose document Open asks for.
func New(name string, first First, l *loop.Loop, lk *link.Link, o *outer.Terminal, ts *terminals.List, do Hooks) *Panes {
	return &Panes{
		Name: name, Doc: Document{URI: address.Layout(name), Shown: layout.New(name)},
		Views: map[layout.PaneID]*pane.View{}, Terms: ts,
		loop: l, link: lk, outer: o, do: do, first: first,
		then: map[ahp.URI]func(){}, together: map[string]bool{}, layouts: layouts{read: map[ahp.URI]*reading{}},
	}
}

// Open asks for the layout's document.
func (ps *Panes) Open() {
	uri := ps.Doc.URI
	ps.loop.Call("open layout "+ps.Name, func(ctx context.Context) error { return ps.link.Host.Subscribe(ctx, uri) }, nil)
}

// Settle sends what was done to the layout.
func (ps *Panes) Settle() {
	// What a person has folded outlives the view in the layout. What another client folds
	// shows when the pane is made anew.
	for id, v := range ps.Views {
		if ids, changed := v.Folds(); changed {
			ids = ids[max(len(ids)-layout.MaxFolds, 0):]
			ps.Change(func(l layout.Layout) layout.Layout { return l.Fold(id, ids) })
		}
	}
	ps.sendLayout()
	ps.switchLayout()
}

// Idle reports whether the host has answered everything about the layout.
func (ps *Panes) Idle() bool { return ps.Doc.idle() }

// Area is where a tab is drawn: all but the status line.
func (ps *Panes) Area() layout.Rect {
	return layout.Rect(ps.outer.Body())
}

// Apply does an operation on the layout, at once here and then at the host.
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

// Change is apply for operations that can't fail.
func (ps *Panes) Change(f func(layout.Layout) layout.Layout) bool {
	return ps.Apply(func(l layout.Layout) (layout.Layout, error) { return f(l), nil })
}

// sendLayout dispatches the operations that wait.
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

// Focused gives the focused pane as placed, its terminal and its view; t and v
// are nil where there is none.
func (ps *Panes) Focused() (p layout.Placed, t *terminals.Terminal, v *pane.View) {
	p, ok := ps.Arr.Focused()
	if !ok {
		return p, nil, nil
	}
	return p, ps.Terms.Get(p.Terminal), ps.Views[p.Pane]
}

// Freshen computes the places again if something moved.
func (ps *Panes) Freshen() {
	if ps.loop.Dirty&loop.Stale != 0 {
		ps.arrange()
	}
}

// arrange computes the places of panes and what follows from them: which
// terminals to follow, their sizes, their views.
func (ps *Panes) arrange() {
	ps.loop.Dirty &^= loop.Stale
	old, _ := ps.Arr.Focused()
	ps.Arr = layout.Arrangement{Area: ps.Area()}
	if tab, ok := ps.Doc.Shown.Tab(); ok {
		ps.Arr = tab.Arrange(ps.Area())
	}
	// A pane that is opened later in a tab that is gone, or has one pane, is typed into alone.
	maps.DeleteFunc(ps.together, func(id string, _ bool) bool {
		return !slices.ContainsFunc(ps.Doc.Shown.Tabs, func(t layout.Tab) bool { return t.ID == id && len(t.Panes()) > 1 })
	})
	ps.ticks++
	for _, p := range slices.Concat(ps.Arr.Panes, ps.Arr.Bars) { // a header tells of commands
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

// Keep counts a terminal among those that show, which are followed.
func (ps *Panes) Keep(t *terminals.Terminal) { t.Shown = ps.ticks }

// Then does something once when a terminal's program ends.
func (ps *Panes) Then(uri ahp.URI, do func()) { ps.then[uri] = do }

// follow subscribes to the terminals that show and drops those that have not
// shown for long.
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

// Subscribe follows a terminal; done, if not nil, is called when the host has
// answered.
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

// Fit asks the host for the pane's size: when this client's places changed, unless
// another client of this person's decides, and with typed set whenever the
// terminal has another size.
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
		return // another pane of this tab shows it too and decides
	}
	kept := t.Sized && t.Want == terminals.Size{} // upon the key that claimed it
	t.Want = want
	if !kept && (t.Cols != want.Cols || t.Rows != want.Rows) {
		ps.link.Dispatch(t.URI, ahp.TerminalResized{Cols: want.Cols, Rows: want.Rows})
	}
}

// Showing gives the place of the first pane on the screen that shows a
// terminal, the focused one before others.
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

// Under gives the pane with its terminal and view whose body lies at a cell.
func (ps *Panes) Under(x, y int) (p layout.Placed, t *terminals.Terminal, v *pane.View) {
	h := ps.Arr.At(x, y)
	if h.Kind != layout.HitBody {
		return p, nil, nil
	}
	p, _ = ps.Arr.Pane(h.Pane)
	return p, ps.Terms.Get(p.Terminal), ps.Views[p.Pane]
}

// LooksAt reports whether a terminal shows and the outer terminal has the focus,
// as far as it tells.
func (ps *Panes) LooksAt(uri ahp.URI) bool {
	return !ps.outer.Blurred && slices.ContainsFunc(ps.Arr.Panes, func(p layout.Placed) bool { return p.Terminal == uri })
}
