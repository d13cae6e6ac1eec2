package panes

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// action is what a command does. It runs only when the command can.
type action = func(ps *Panes, args []string)

// Commands are those about the layout, by name.
func (ps *Panes) Commands() map[string]command.Do {
	return command.Bind(ps, map[string]action{
		"split-right": split(layout.Right),
		"split-down":  split(layout.Down),
		"focus-left":  focus(layout.Left),
		"focus-down":  focus(layout.Down),
		"focus-up":    focus(layout.Up),
		"focus-right": focus(layout.Right),
		"focus-next":  changing(func(_ *Panes, l layout.Layout) layout.Layout { return l.FocusNext(1) }),
		"focus-pane": func(ps *Panes, args []string) {
			tab, _ := ps.Doc.Shown.Tab()
			id := tab.Panes()[command.Number(args, 0, 1)-1].Pane
			ps.Change(func(l layout.Layout) layout.Layout { return l.FocusPane(id) })
		},
		"pane-numbers": paneNumbers,
		"focus-last":   changing(func(_ *Panes, l layout.Layout) layout.Layout { return l.FocusLast() }),

		"resize-left":  resize(layout.Left),
		"resize-down":  resize(layout.Down),
		"resize-up":    resize(layout.Up),
		"resize-right": resize(layout.Right),
		"zoom":         changing(func(_ *Panes, l layout.Layout) layout.Layout { return l.Zoom() }),
		"even":         changing(func(_ *Panes, l layout.Layout) layout.Layout { return l.Even() }),
		"next-layout":  changing(func(ps *Panes, l layout.Layout) layout.Layout { return l.NextPreset(ps.Area()) }),
		"arrange": func(ps *Panes, args []string) {
			ps.Change(func(l layout.Layout) layout.Layout { return l.Apply(layout.Preset(args[0])) })
		},

		"swap-previous": swap(-1),
		"swap-next":     swap(1),
		"rotate": func(ps *Panes, args []string) {
			n := map[string]int{"up": 1, "down": -1}[args[0]]
			ps.Change(func(l layout.Layout) layout.Layout { return l.Rotate(n) })
		},
		"break-out":     inArea(layout.Layout.BreakOut),
		"type-to-all":   func(ps *Panes, _ []string) { ps.typeTogether() },
		"stack":         inArea(layout.Layout.Stack),
		"unstack":       inArea(layout.Layout.Unstack),
		"new-stacked":   newAt(layout.Layout.NewStacked),
		"mark-pane":     markPane,
		"join-pane":     joinPane,
		"swap-marked":   swapMarked,
		"move-to-tab":   asking("move-to-tab", "move to tab", moveToTab),
		"floating":      toggleFloats,
		"new-floating":  newFloat,
		"popup":         popup,
		"float-pane":    inArea(layout.Layout.Lift),
		"move-floating": moveFloat,
		"rename-pane":   renamePane,

		"new-tab":      func(ps *Panes, args []string) { ps.NewTab(ps.program(args)) },
		"new-on":       newOn,
		"next-tab":     changing(func(_ *Panes, l layout.Layout) layout.Layout { return l.NextTab(1) }),
		"previous-tab": changing(func(_ *Panes, l layout.Layout) layout.Layout { return l.NextTab(-1) }),
		"last-tab":     changing(func(_ *Panes, l layout.Layout) layout.Layout { return l.LastTab() }),
		"go-tab": asking("go-tab", "go to tab", func(ps *Panes, n int) {
			ps.Change(func(l layout.Layout) layout.Layout { return l.GoTab(n) })
		}),
		"rename-tab":     renameTab,
		"move-tab":       asking("move-tab", "move tab to", func(ps *Panes, n int) { ps.MoveTab(func(int, int) int { return n }) }),
		"move-tab-left":  func(ps *Panes, _ []string) { ps.MoveTab(func(at, n int) int { return (at + n - 1) % n }) },
		"move-tab-right": func(ps *Panes, _ []string) { ps.MoveTab(func(at, n int) int { return (at + 1) % n }) },

		"layouts":       openLayouts,
		"switch-layout": switchLayouts,
		"rename-layout": renameLayout,
	})
}

// toggleFloats shows the tab's floating panes and goes to the top one, hides them
// when the focus is on one, and opens the first.
func toggleFloats(ps *Panes, _ []string) {
	tab, ok := ps.Doc.Shown.Tab()
	switch {
	case !ok || len(tab.Floats) == 0:
		newFloat(ps, nil)
	case tab.Hidden || !tab.Floating(tab.Focus):
		ps.Change(layout.Layout.ShowFloats)
	default:
		ps.Change(layout.Layout.HideFloats)
	}
}

// newFloat opens a terminal above the tiled panes.
func newFloat(ps *Panes, args []string) { ps.Create(layout.Layout.NewFloat, ps.program(args)) }

// popup runs a program above the tiled panes that takes its pane along.
func popup(ps *Panes, args []string) {
	ps.Create(func(l layout.Layout, uri string) (layout.Layout, layout.PaneID, error) {
		if t := ps.Terms.Get(uri); t != nil {
			t.Popup = true
		}
		return l.NewFloat(uri)
	}, ps.program(args))
}

// inArea changes the layout at the focused pane, where there has to be room.
func inArea(change func(layout.Layout, layout.Rect, layout.PaneID) (layout.Layout, error)) action {
	return func(ps *Panes, _ []string) {
		id, area := ps.FocusID(), ps.Area()
		ps.Apply(func(l layout.Layout) (layout.Layout, error) { return change(l, area, id) })
	}
}

func moveFloat(ps *Panes, args []string) {
	p, ok := ps.Arr.Focused()
	if !ok || !p.Floating() {
		return // zoomed, or alone for want of room
	}
	r, n := p.Frame, command.Number(args, 1, 1)
	switch directions[args[0]] {
	case layout.Left:
		r.X -= n
	case layout.Right:
		r.X += n
	case layout.Up:
		r.Y -= n
	case layout.Down:
		r.Y += n
	}
	ps.PlaceFloat(p.Pane, r)
}

// PlaceFloat puts a floating pane's frame somewhere.
func (ps *Panes) PlaceFloat(id layout.PaneID, r layout.Rect) {
	area := ps.Area()
	ps.Change(func(l layout.Layout) layout.Layout { return l.PlaceFloat(area, id, r) })
}

// changing is a change of the layout that can't fail.
func changing(f func(*Panes, layout.Layout) layout.Layout) action {
	return func(ps *Panes, _ []string) {
		ps.Change(func(l layout.Layout) layout.Layout { return f(ps, l) })
	}
}

func focus(d layout.Direction) action {
	return changing(func(ps *Panes, l layout.Layout) layout.Layout { return l.Focus(ps.Area(), d) })
}

func resize(d layout.Direction) action {
	return func(ps *Panes, args []string) {
		n, id, area := command.Number(args, 0, 1), ps.FocusID(), ps.Area()
		ps.Change(func(l layout.Layout) layout.Layout { return l.Resize(area, id, d, n) })
	}
}

func swap(n int) action {
	return func(ps *Panes, _ []string) {
		id := ps.FocusID()
		ps.Change(func(l layout.Layout) layout.Layout { return l.SwapNext(id, n) })
	}
}

// asking is a command with the number of a tab, counted from 0 when it is done, for which
// it asks where it has none.
func asking(name, label string, do func(ps *Panes, n int)) action {
	return func(ps *Panes, args []string) {
		if len(args) > 0 {
			do(ps, command.Number(args, 0, 1)-1)
			return
		}
		ps.loop.Open(overlay.NewPrompt(fmt.Sprintf("%s (1-%d)", label, len(ps.Doc.Shown.Tabs)), "", func(text string) {
			if text != "" {
				ps.do.Run(name, []string{text})
			}
		}))
	}
}

// MoveTab gives the active tab another place, which to gives from its place and the
// number of tabs.
func (ps *Panes) MoveTab(to func(at, n int) int) {
	tab, _ := ps.Doc.Shown.Tab()
	ps.Change(func(l layout.Layout) layout.Layout {
		i := placeOf(l, tab)
		return l.MoveTab(i, to(i, len(l.Tabs)))
	})
}

// placeOf gives a tab's place in a layout, -1 for none.
func placeOf(l layout.Layout, tab layout.Tab) int {
	return slices.IndexFunc(l.Tabs, func(t layout.Tab) bool { return t.ID == tab.ID })
}

// numbersTime is how long the numbers of panes show.
const numbersTime = 2 * time.Second

// paneNumbers shows the numbers of the panes on the screen until one is chosen, another
// key is pressed or the time has passed.
func paneNumbers(ps *Panes, _ []string) {
	o := &overlay.Numbers{
		Panes: func() (all []overlay.Number) {
			tab, _ := ps.Doc.Shown.Tab()
			for i, leaf := range tab.Panes() {
				if p, ok := ps.Arr.Spot(leaf.Pane); ok {
					all = append(all, overlay.Number{Rect: paint.Rect(p.Rect()), N: i + 1, Note: fmt.Sprintf("%dx%d", p.Body.W, p.Body.H), Focused: p.Focused})
				}
			}
			return all
		},
		Pick: func(n int) { ps.do.Run("focus-pane", []string{strconv.Itoa(n)}) },
	}
	ps.loop.Open(o)
	ps.loop.After(numbersTime, func() {
		if ps.loop.Overlay == o {
			ps.loop.Close()
		}
	})
}

// renamePane names the focused pane's terminal, for all clients, or the pane with
// a chat.
func renamePane(ps *Panes, args []string) {
	id := ps.FocusID()
	_, leaf, _ := ps.Doc.Shown.Find(id)
	t, now := ps.Terms.Get(leaf.Terminal), leaf.Name
	if t != nil && t.Info.Meta != nil {
		now = cmp.Or(now, words.Clean(t.Info.Meta.Name))
	}
	rename := func(name string) {
		if _, _, ok := ps.Doc.Shown.Find(id); !ok {
			ps.loop.Say(status.Warning, "the pane is gone")
			return
		}
		if t != nil {
			ps.link.Dispatch(t.URI, ahp.TerminalTitleChanged{Title: strings.TrimSpace(words.Clean(name))})
			name = "" // it would hide the terminal's
		}
		ps.Change(func(l layout.Layout) layout.Layout { return l.RenamePane(id, name) })
	}
	ps.loop.Ask(args, "rename pane", now, rename)
}

func renameTab(ps *Panes, args []string) {
	tab, _ := ps.Doc.Shown.Tab()
	rename := func(name string) {
		if placeOf(ps.Doc.Shown, tab) < 0 {
			ps.loop.Say(status.Warning, "the tab is gone")
		}
		ps.Change(func(l layout.Layout) layout.Layout { return l.RenameTab(placeOf(l, tab), name) })
	}
	ps.loop.Ask(args, "rename tab", tab.Name, rename)
}

// Context says how the layout and the focused pane stand, for commands.
func (ps *Panes) Context() command.Context {
	l := &ps.Doc.Shown
	c := command.Context{Layout: command.Layout{
		Tabs: len(l.Tabs), LastTab: len(l.Recent) > 0, TabsFull: len(l.Tabs) >= layout.MaxTabs,
	}}
	names, _ := ps.layoutNames()
	c.Layouts, c.LastLayout = len(names), slices.Contains(names, ps.layouts.last)
	tab, ok := l.Tab()
	if !ok {
		return c
	}
	area, id := ps.Area(), tab.Focus
	c.Panes = len(tab.Panes())
	c.LastPane, c.PanesFull = len(tab.Recent) > 0, c.Panes >= layout.MaxPanes
	for d, to := range map[layout.Direction]*bool{
		layout.Left: &c.Left, layout.Down: &c.Down, layout.Up: &c.Up, layout.Right: &c.Right,
	} {
		_, *to = tab.Neighbour(area, id, d)
	}
	c.Marked, c.Floating = ps.otherMarked(id), tab.Floating(id)
	c.Stacked = tab.Stacked(id)
	c.RoomRight, c.RoomDown = tab.CanSplit(area, id, layout.Right), tab.CanSplit(area, id, layout.Down)
	_, t, v := ps.Focused()
	if t != nil {
		c.Holder, c.Exited = ps.Terms.Holder(t), t.Exited()
		c.HandBack = t.Info.Meta != nil && t.Info.Meta.HandBack != nil
		c.Shared = len(t.Shares()) > 0
	}
	if v != nil {
		c.Scroll, c.History, c.Copying, c.Chosen = v.Back(), v.Feed.History(), v.Copying(), v.Selected()
		_, c.Detects, c.View.Commands = v.Feed.LastCommand()
		c.FullScreen = v.Feed.Modes().AltScreen
		c.Previous, c.Next = v.Neighbours()
	}
	return c
}
