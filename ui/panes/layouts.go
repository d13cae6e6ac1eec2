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

// layouts is the state of what is done with whole layouts: switching, renaming and deleting them.
type layouts struct {
	counts map[ahp.URI]int      // number of terminals in each, as last listed
	last   string               // name of the one shown before, "" for none
	next   string               // name of the one to switch to when the host has confirmed this one, "" for none
	after  func()               // called after the switch
	going  int                  // number of switches in progress; the old layout is still subscribed
	at     layout.PaneID        // the pane to focus there, "" for none
	read   map[ahp.URI]*reading // layouts whose state was asked for
}

// reading is a request for a layout's state.
type reading struct {
	state *ahp.LayoutState // nil until it has arrived
	use   []func(ahp.LayoutState)
}

// layoutNames returns the names of all layouts and the number of terminals in each.
func (ps *Panes) layoutNames() (names []string, terminals map[string]int) {
	terminals = map[string]int{}
	for l, n := range ps.layouts.counts {
		terminals[address.LayoutName(l)] = n
	}
	terminals[ps.Name] = len(ps.Doc.Shown.Terminals())
	return slices.Sorted(maps.Keys(terminals)), terminals
}

// goLayout switches to a layout. A layout with a new name is made.
func (ps *Panes) goLayout(name string) {
	if name == "" || name == ps.Name || !ps.layoutNamed(name) {
		return
	}
	ps.switchTo(name, nil)
}

// switchLayouts switches to the next or previous layout by name, or to the one shown before.
func switchLayouts(ps *Panes, args []string) {
	names, _ := ps.layoutNames()
	at, n := slices.Index(names, ps.Name), len(names)
	ps.goLayout(map[string]string{"next": names[(at+1)%n], "previous": names[(at+n-1)%n], "last": ps.layouts.last}[args[0]])
}

// layoutNamed reports whether a layout can have a name. If not it says why.
func (ps *Panes) layoutNamed(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if len(name) > 64 || strings.Trim(name, letters) != "" || strings.ContainsAny(name, " /") {
		ps.loop.Say(status.Warning, "%q is no name for a layout: use letters, digits, dots, dashes and underscores", name)
		return false
	}
	return true
}

// switchTo switches to another layout when the host has confirmed the changes of this one, then
// calls after.
func (ps *Panes) switchTo(name string, after func()) {
	ps.layouts.next, ps.layouts.after = name, after
}

// switchLayout starts the switch that switchTo asked for, if it can start now. The subscription
// brings the document, and the Panes begin as at the start.
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
			if ps.Doc.URI != old { // else it is on the screen again
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

// Switching reports whether a switch to another layout is waiting or in progress, or a layout is
// being read for something else, such as renaming it.
func (ps *Panes) Switching() bool {
	return ps.layouts.next != "" || ps.layouts.going > 0 || len(ps.layouts.read) > 0
}

// showLayout replaces the layout on the screen by another one, whose document is still to arrive.
func (ps *Panes) showLayout(name string) {
	ps.layouts.last, ps.Name = ps.Name, name
	ps.Doc = Document{URI: address.Layout(name), Shown: layout.New(name)}
	ps.Begun, ps.Bare = false, false
	ps.together, ps.marked = map[string]bool{}, ""
	ps.do.Switched()
	ps.loop.Dirty |= loop.Places | loop.Chrome
}

// readLayout fetches the state of a layout that is not on the screen.
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

// writeLayout writes the next revision of a layout's document.
func (ps *Panes) writeLayout(name string, rev int64, l layout.Layout) {
	l.Name = name
	ps.link.Dispatch(address.Layout(name), revision(rev+1, l))
}

// deleteLayout deletes a layout after a question. Its terminals run on in the background.
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

// emptyLayout writes an empty document, which ends a layout, with its new name if it was renamed.
// Then it says done.
func (ps *Panes) emptyLayout(name, renamed, done string) {
	ps.readLayout(name, func(st ahp.LayoutState) {
		ps.writeLayout(name, st.Rev, ended(name, renamed))
		ps.loop.Say(status.Info, "%s", done)
	})
}

// ended returns an empty layout.
func ended(name, renamed string) layout.Layout {
	l := layout.New(name)
	l.Renamed = renamed
	return l
}

// goAlong switches to the new name of the layout, which somebody renamed.
func goAlong(ps *Panes, name string) {
	if ps.layouts.next != "" {
		return // another switch is waiting
	}
	last := ps.layouts.last
	ps.switchTo(name, func() {
		ps.layouts.last = last
		ps.loop.Say(status.Info, "this layout is called %s now", name)
	})
}

// renameLayout renames the layout on the screen.
func renameLayout(ps *Panes, args []string) {
	name := ps.Name
	ps.loop.Ask(args, "rename layout", name, func(to string) { ps.nameLayout(name, to) })
}

// nameLayout renames a layout. The host identifies layouts by name, so it copies the document to
// the new name, which must be free, and empties the old one.
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
			ps.layouts.last = last // no layout has the old name any more
			ps.emptyLayout(from, to, renamed)
		})
	})
}
