package panes

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// layouts is what is done with layouts as wholes: going to another one, naming
// and deleting. They are those that show something, and the one on the screen.
type layouts struct {
	counts map[ahp.URI]int      // how much each shows, but for changes of now
	last   string               // that was on the screen before, "" for none
	next   string               // to go to when the host has all of this one, "" for none
	after  func()               // to do then
	going  int                  // being opened; the one before is not let go of yet
	at     layout.PaneID        // to be focused there, "" for none
	read   map[ahp.URI]*reading // those that are asked for their states
}

// reading is a layout whose state was asked for.
type reading struct {
	state *ahp.LayoutState // nil until it has come
	use   []func(ahp.LayoutState)
}

// layoutNames gives the layouts, and how many terminals each shows.
func (ps *Panes) layoutNames() (names []string, terminals map[string]int) {
	terminals = map[string]int{}
	for l, n := range ps.layouts.counts {
		terminals[address.LayoutName(l)] = n
	}
	terminals[ps.Name] = len(ps.Doc.Shown.Terminals())
	return slices.Sorted(maps.Keys(terminals)), terminals
}

// goLayout goes to a layout, making it if there is none of that name.
func (ps *Panes) goLayout(name string) {
	if name == "" || name == ps.Name || !ps.layoutNamed(name) {
		return
	}
	ps.switchTo(name, nil)
}

// switchLayouts goes to the next layout by name, the one before, or the one shown last.
func switchLayouts(ps *Panes, args []string) {
	names, _ := ps.layoutNames()
	at, n := slices.Index(names, ps.Name), len(names)
	ps.goLayout(map[string]string{"next": names[(at+1)%n], "previous": names[(at+n-1)%n], "last": ps.layouts.last}[args[0]])
}

// layoutNamed reports whether a layout can have that name, and says why not.
func (ps *Panes) layoutNamed(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if len(name) > 64 || strings.Trim(name, letters) != "" || strings.ContainsAny(name, " /") {
		ps.loop.Say(status.Warning, "%q is no name for a layout: use letters, digits, dots, dashes and underscores", name)
		return false
	}
	return true
}

// switchTo goes to another layout once the host has confirmed what was done in
// this one, then does something more.
func (ps *Panes) switchTo(name string, after func()) {
	ps.layouts.next, ps.layouts.after = name, after
}

// switchLayout goes to the layout that waits to be gone to. Its subscription
// brings the document, and with that it begins as at the start.
func (ps *Panes) switchLayout() {
	if ps.layouts.next == "" || !ps.Doc.idle() || !ps.link.Up() || ps.Holding > 0 || !ps.Begun {
		return
	}
	name, after, old := ps.layouts.next, ps.layouts.after, ps.Doc.URI
	ps.layouts.next, ps.layouts.after = "", nil
	ps.showLayout(name)
	uri := ps.Doc.URI
	ps.layouts.going++
	ps.loop.Async("open layout "+name, func(ctx context.Context) (func(), error) {
		err := ps.link.Host.Subscribe(ctx, uri)
		return func() {
			ps.layouts.going--
			if ps.Doc.URI != old { // it is not back on the screen meanwhile
				ps.link.Host.Unsubscribe(old)
			}
			if err != nil {
				ps.do.Broke("layout " + name + " can't be opened: " + err.Error())
				return
			}
			if after != nil {
				after()
			}
		}, err
	})
}

// Switching reports whether another layout is about to be shown, or just is, or one is being read
// that something is to be done with, such as giving it another name.
func (ps *Panes) Switching() bool {
	return ps.layouts.next != "" || ps.layouts.going > 0 || len(ps.layouts.read) > 0
}

// showLayout forgets the layout on the screen and waits for another one's
// document.
func (ps *Panes) showLayout(name string) {
	ps.layouts.last, ps.Name = ps.Name, name
	ps.Doc = Document{URI: address.Layout(name), Shown: layout.New(name)}
	ps.Begun, ps.Bare = false, false
	ps.together, ps.marked = map[string]bool{}, ""
	ps.do.Switched()
	ps.loop.Dirty |= loop.Places | loop.Chrome
}

// readLayout gets the state of a layout that is not on the screen.
func (ps *Panes) readLayout(name string, use func(ahp.LayoutState)) {
	uri := address.Layout(name)
	if r := ps.layouts.read[uri]; r != nil {
		r.use = append(r.use, use)
		return
	}
	r := &reading{use: []func(ahp.LayoutState){use}}
	ps.layouts.read[uri] = r
	ps.loop.Async("read layout "+name, func(ctx context.Context) (func(), error) {
		err := ps.link.Host.Subscribe(ctx, uri)
		return func() {
			delete(ps.layouts.read, uri)
			if err == nil && r.state != nil {
				for _, use := range r.use {
					use(*r.state)
				}
			}
			if ps.Doc.URI != uri {
				ps.link.Host.Unsubscribe(uri)
			}
		}, err
	})
}

// writeLayout replaces a layout's document by the next revision.
func (ps *Panes) writeLayout(name string, rev int64, l layout.Layout) {
	l.Name = name
	ps.link.Dispatch(address.Layout(name), revision(rev+1, l))
}

// deleteLayout takes a layout away. Its terminals run on in the background.
func (ps *Panes) deleteLayout(name string) {
	names, terminals := ps.layoutNames()
	if len(names) < 2 {
		ps.loop.Say(status.Info, "%s is the only layout; the last one stays", name)
		return
	}
	deleted := "layout " + name + " is deleted; " + ps.loop.Keys("terminals") + " shows its terminals"
	question := "delete layout " + name + "? " + words.Plural(terminals[name], "terminal") + " in it will run on in the background"
	ps.loop.Open(overlay.NewConfirm(question, func() {
		if name != ps.Name {
			ps.emptyLayout(name, "", deleted)
			return
		}
		at := slices.Index(names, name)
		ps.switchTo(names[max(at-1, 1-at)], func() { ps.emptyLayout(name, "", deleted) })
	}, nil))
}

// emptyLayout writes that a layout shows nothing, which ends it, or that it is called
// otherwise now, and says what that was for.
func (ps *Panes) emptyLayout(name, renamed, done string) {
	ps.readLayout(name, func(st ahp.LayoutState) {
		ps.writeLayout(name, st.Rev, ended(name, renamed))
		ps.loop.Say(status.Info, "%s", done)
	})
}

// ended is a layout that shows nothing.
func ended(name, renamed string) layout.Layout {
	l := layout.New(name)
	l.Renamed = renamed
	return l
}

// goAlong goes on with the layout under its new name, which somebody gave it.
func goAlong(ps *Panes, name string) {
	if ps.layouts.next != "" {
		return // it goes elsewhere already
	}
	last := ps.layouts.last
	ps.switchTo(name, func() {
		ps.layouts.last = last
		ps.loop.Say(status.Info, "this layout is called %s now", name)
	})
}

// renameLayout gives the layout on the screen another name.
func renameLayout(ps *Panes, args []string) {
	name := ps.Name
	ps.loop.Ask(args, "rename layout", name, func(to string) { ps.nameLayout(name, to) })
}

// nameLayout renames a layout: the host knows layouts by their names, so its
// document moves to another one that must be free.
func (ps *Panes) nameLayout(from, to string) {
	if to == "" || to == from || !ps.layoutNamed(to) {
		return
	}
	if names, _ := ps.layoutNames(); slices.Contains(names, to) {
		ps.loop.Say(status.Warning, "there is a layout %s already", to)
		return
	}
	renamed := "layout " + from + " is called " + to + " now"
	if from != ps.Name {
		ps.readLayout(from, func(st ahp.LayoutState) {
			l, err := layout.Decode(st.Doc)
			if err != nil {
				ps.loop.Fail("rename layout "+from, err)
				return
			}
			ps.readLayout(to, func(free ahp.LayoutState) {
				ps.writeLayout(to, free.Rev, l)
				ps.emptyLayout(from, to, renamed)
			})
		})
		return
	}
	ps.readLayout(to, func(free ahp.LayoutState) {
		ps.writeLayout(to, free.Rev, ps.Doc.Shown)
		if ps.Unseen {
			ps.writeLayout(from, ps.Doc.confirmed.Rev, ended(from, to))
			ps.Name = to
			return
		}
		last := ps.layouts.last
		ps.switchTo(to, func() {
			ps.layouts.last = last // the old name is nobody's
			ps.emptyLayout(from, to, renamed)
		})
	})
}
