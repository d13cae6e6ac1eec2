package ui

import (
	"context"
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
// and deleting. The host has no list of them: they are those that show a
// terminal, and the one on the screen.
type layouts struct {
	next  string                       // to go to when the host has all of this one, "" for none
	after func(*Model)                 // to do then
	read  map[ahp.URI]*ahp.LayoutState // states asked for; nil until they have come
}

// layoutNames gives the layouts, and how many terminals each shows.
func (m *Model) layoutNames() (names []string, terminals map[string]int) {
	terminals = map[string]int{m.cfg.Layout: len(m.doc.shown.Terminals())}
	for _, uri := range m.terms.Order {
		t := m.terms.Get(uri)
		if t == nil || t.Info.Meta == nil {
			continue
		}
		for _, l := range t.Info.Meta.Layouts {
			if l != m.doc.uri {
				terminals[address.LayoutName(l)]++
			}
		}
	}
	for name := range terminals {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, terminals
}

// openLayouts shows the layouts, or goes to the one named.
func openLayouts(m *Model, args []string) {
	if len(args) > 0 {
		m.goLayout(args[0])
		return
	}
	rows := func() []overlay.Layout {
		names, terminals := m.layoutNames()
		rows := make([]overlay.Layout, len(names))
		for i, name := range names {
			rows[i] = overlay.Layout{Name: name, Facts: words.Plural(terminals[name], "terminal"), Here: name == m.cfg.Layout}
		}
		return rows
	}
	m.loop.Open(overlay.NewLayouts(rows, m.cfg.Layout, overlay.LayoutDo{
		Go:     m.goLayout,
		Rename: m.askLayoutName,
		Delete: m.deleteLayout,
		New: func() {
			m.loop.Open(overlay.NewPrompt("new layout", "", m.goLayout))
		},
	}))
}

// goLayout goes to a layout, making it if there is none of that name.
func (m *Model) goLayout(name string) {
	if name == "" || name == m.cfg.Layout || !m.layoutNamed(name) {
		return
	}
	m.switchTo(name, nil)
}

// layoutNamed reports whether a layout can have that name, and says why not.
func (m *Model) layoutNamed(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if len(name) > 64 || strings.Trim(name, letters) != "" || strings.ContainsAny(name, " /") {
		m.loop.Say(status.Warning, "%q is no name for a layout: use letters, digits, dots, dashes and underscores", name)
		return false
	}
	return true
}

// switchTo goes to another layout once the host has confirmed what was done in
// this one, then does something more.
func (m *Model) switchTo(name string, after func(*Model)) {
	m.layouts.next, m.layouts.after = name, after
}

// switchLayout goes to the layout that waits to be gone to. Its subscription
// brings the document, and with that it begins as at the start.
func (m *Model) switchLayout() {
	if m.layouts.next == "" || !m.doc.idle() || !m.link.Up() || m.kb.holding > 0 || !m.begun {
		return
	}
	name, after, old := m.layouts.next, m.layouts.after, m.doc.uri
	m.layouts.next, m.layouts.after = "", nil
	m.showLayout(name)
	uri := m.doc.uri
	m.loop.Async("open layout "+name, func(ctx context.Context) (func(), error) {
		err := m.link.Host.Subscribe(ctx, uri)
		return func() {
			m.link.Host.Unsubscribe(old)
			if err != nil {
				m.leave(Exit{Reason: Ended, Note: "layout " + name + " can't be opened: " + err.Error()})
				return
			}
			if after != nil {
				after(m)
			}
		}, err
	})
}

// showLayout forgets the layout on the screen and waits for another one's
// document.
func (m *Model) showLayout(name string) {
	m.cfg.Layout, m.cfg.Command = name, nil
	m.doc = document{uri: address.Layout(name), shown: layout.New(name)}
	m.begun, m.kb.bare = false, false
	m.together, m.marked, m.mouse = together{}, "", mouse{}
	m.loop.Dirty |= loop.Places | loop.Chrome
}

// readLayout gets the state of a layout that is not on the screen.
func (m *Model) readLayout(name string, use func(*Model, ahp.LayoutState)) {
	uri := address.Layout(name)
	if m.layouts.read == nil {
		m.layouts.read = map[ahp.URI]*ahp.LayoutState{}
	}
	m.layouts.read[uri] = nil
	m.loop.Async("read layout "+name, func(ctx context.Context) (func(), error) {
		err := m.link.Host.Subscribe(ctx, uri)
		return func() {
			st := m.layouts.read[uri]
			delete(m.layouts.read, uri)
			if err == nil && st != nil {
				use(m, *st)
			}
			if m.doc.uri != uri {
				m.link.Host.Unsubscribe(uri)
			}
		}, err
	})
}

// other takes the state of a layout that is not on the screen.
func (ls *layouts) other(uri ahp.URI, st ahp.LayoutState) {
	if _, asked := ls.read[uri]; asked {
		ls.read[uri] = &st
	}
}

// writeLayout replaces a layout's document by the next revision.
func (m *Model) writeLayout(name string, rev int64, l layout.Layout) {
	l.Name = name
	m.link.Dispatch(address.Layout(name), ahp.LayoutChanged{Rev: rev + 1, Doc: l.Encode(), Terminals: l.Terminals()})
}

// deleteLayout takes a layout away. Its terminals run on in the background.
func (m *Model) deleteLayout(name string) {
	names, terminals := m.layoutNames()
	if len(names) < 2 {
		m.loop.Say(status.Info, "%s is the only layout; the last one stays", name)
		return
	}
	deleted := "layout " + name + " is deleted; " + m.keysOf("terminals") + " shows its terminals"
	question := "delete layout " + name + "? " + words.Plural(terminals[name], "terminal") + " in it will run on in the background"
	m.loop.Open(overlay.NewConfirm(question, func() {
		if name != m.cfg.Layout {
			m.emptyLayout(name, deleted)
			return
		}
		at := slices.Index(names, name)
		m.switchTo(names[max(at-1, 1-at)], func(m *Model) { m.emptyLayout(name, deleted) })
	}, nil))
}

// emptyLayout writes that a layout shows nothing, which ends it, and says what
// that was for.
func (m *Model) emptyLayout(name, done string) {
	m.readLayout(name, func(m *Model, st ahp.LayoutState) {
		m.writeLayout(name, st.Rev, layout.New(name))
		m.loop.Say(status.Info, "%s", done)
	})
}

// renameLayout gives the layout on the screen another name.
func renameLayout(m *Model, args []string) {
	if len(args) > 0 {
		m.nameLayout(m.cfg.Layout, strings.Join(args, " "))
		return
	}
	m.askLayoutName(m.cfg.Layout)
}

func (m *Model) askLayoutName(name string) {
	m.loop.Open(overlay.NewPrompt("rename layout", name, func(to string) { m.nameLayout(name, to) }))
}

// nameLayout renames a layout: the host knows layouts by their names, so its
// document moves to another one that must be free.
func (m *Model) nameLayout(from, to string) {
	if to == "" || to == from || !m.layoutNamed(to) {
		return
	}
	if names, _ := m.layoutNames(); slices.Contains(names, to) {
		m.loop.Say(status.Warning, "there is a layout %s already", to)
		return
	}
	renamed := "layout " + from + " is called " + to + " now"
	if from != m.cfg.Layout {
		m.readLayout(from, func(m *Model, st ahp.LayoutState) {
			l, err := layout.Decode(st.Doc)
			if err != nil {
				m.loop.Fail("rename layout "+from, err)
				return
			}
			m.readLayout(to, func(m *Model, free ahp.LayoutState) {
				m.writeLayout(to, free.Rev, l)
				m.emptyLayout(from, renamed)
			})
		})
		return
	}
	m.readLayout(to, func(m *Model, free ahp.LayoutState) {
		m.writeLayout(to, free.Rev, m.doc.shown)
		m.switchTo(to, func(m *Model) { m.emptyLayout(from, renamed) })
	})
}
