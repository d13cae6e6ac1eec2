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

// action is what a command does. It is called only if the command can run now.
type action = func(ps *Panes, args []string)

// Commands returns the commands about the layout, by name.
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

// toggleFloats shows the tab's floating panes and focuses the topmost, or hides them if one has
// the focus. If there is none it opens one.
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

// newFloat opens a terminal in a new floating pane.
func newFloat(ps *Panes, args []string) { ps.Create(layout.Layout.NewFloat, ps.program(args)) }

// popup runs a program in a new floating pane, which closes when the program ends.
func popup(ps *Panes, args []string) {
	ps.Create(func(l layout.Layout, uri string) (layout.Layout, layout.PaneID, error) {
		if t := ps.Terms.Get(uri); t != nil {
			t.Popup = true
		}
		return l.NewFloat(uri)
	}, ps.program(args))
}

// inArea makes a command of a change at the focused pane that needs room.
func inArea(change func(layout.Layout, layout.Rect, layout.PaneID) (layout.Layout, error)) action {
	return func(ps *Panes, _ []string) {
		id, area := ps.FocusID(), ps.Area()
		ps.Apply(func(l layout.Layout) (layout.Layout, error) { return change(l, area, id) })
	}
}

func moveFloat(ps *Panes, args []string) {
	p, ok := ps.Arr.Focused()
	if !ok || !p.Floating() {
		return // the pane is zoomed, or shown alone for lack of room
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

// PlaceFloat moves and resizes a floating pane.
func (ps *Panes) PlaceFloat(id layout.PaneID, r layout.Rect) {
	area := ps.Area()
	ps.Change(func(l layout.Layout) layout.Layout { return l.PlaceFloat(area, id, r) })
}

// changing makes a command of a change of the layout that can't fail.
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

// asking makes a command of a function of a tab's index. Its argument is the tab's number,
// counted from 1; without one it asks for the number.
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

// MoveTab moves the active tab to the index that to returns for its index and the number of tabs.
func (ps *Panes) MoveTab(to func(at, n int) int) {
	tab, _ := ps.Doc.Shown.Tab()
	ps.Change(func(l layout.Layout) layout.Layout {
		i := placeOf(l, tab)
		return l.MoveTab(i, to(i, len(l.Tabs)))
	})
}

// placeOf returns a tab's index in a layout, -1 if it is not there.
func placeOf(l layout.Layout, tab layout.Tab) int {
	return slices.IndexFunc(l.Tabs, func(t layout.Tab) bool { return t.ID == tab.ID })
}

// numbersTime is how long the numbers of panes show.
const numbersTime = 2 * time.Second

// paneNumbers shows the panes' numbers until one is chosen, another key is pressed or the time
// has passed.
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

// renamePane renames the focused pane's terminal, for all clients, or the pane of a chat.
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
			name = "" // a pane's name would hide the terminal's
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

// Context returns the state of the layout and the focused pane, which decides what commands can
// run.
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
