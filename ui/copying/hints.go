package copying

import (
	"context"
	"slices"

	"tandemux/ui/clipboard"
	"tandemux/ui/hints"
	"tandemux/ui/loop"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// acts is the values of the argument of the command hints.
var acts = map[string]hints.Act{"copy": hints.Copy, "insert": hints.Insert, "open": hints.Open}

// hints labels the paths, addresses and the like in the focused pane. Meanwhile output doesn't
// scroll the view.
func (cp *Copying) hints(args []string) {
	_, _, v := cp.panes.Focused()
	if v == nil {
		return
	}
	act := hints.Copy
	if len(args) > 0 {
		act = acts[args[0]]
	}
	all := hintsOf(pane.Texts(v))
	if len(all) == 0 {
		cp.loop.Say(status.Info, "no path, address, hash or number shows here")
		return
	}
	from := v.Position()
	pane.Hold(v)
	at := pane.PlaceOf(v)
	anew := func() (all []hints.Hint, row paint.Rect, moved bool) {
		if now := pane.PlaceOf(v); now != at {
			at, all, row, moved = now, hintsOf(pane.Texts(v)), cp.outer.Status(), true
		}
		return all, row, moved
	}
	cp.loop.Open(hints.New(all, act, cp.outer.Status(), anew, func(h *hints.Hint, act hints.Act) {
		cp.loop.Dirty |= loop.All
		v.Restore(from)
		if h != nil {
			cp.loop.Close()
			cp.take(h, act)
		}
	}))
}

// hintsOf returns the hints of texts, the lowest first. Equal texts share one hint.
func hintsOf(texts []pane.Text) (all []hints.Hint) {
	at := map[string]int{}
	for _, t := range slices.Backward(texts) {
		add := func(from, to int, text string, k hints.Kind) {
			var parts []hints.Part
			for i, p := range t.Where(from, to) {
				parts = append(parts, hints.Part{X: p.X, Y: p.Y, Text: p.Text, First: i == 0})
			}
			if len(parts) == 0 {
				return
			}
			i, ok := at[text]
			if !ok {
				i = len(all)
				at[text] = i
				all = append(all, hints.Hint{Text: text, Kind: k})
			}
			all[i].Parts = append(all[i].Parts, parts...)
		}
		found := hints.Find(t.Bytes)
		for _, l := range t.Links {
			add(l.From, l.To, l.URI, hints.URL)
			found = slices.DeleteFunc(found, func(m hints.Match) bool { return m.From < l.To && l.From < m.To })
		}
		for _, m := range slices.Backward(found) {
			add(m.From, m.To, string(t.Bytes[m.From:m.To]), m.Kind)
		}
	}
	return all
}

// take does with a hint what was chosen.
func (cp *Copying) take(h *hints.Hint, act hints.Act) {
	switch {
	case act == hints.Copy:
		cp.clip.Copy(clipboard.Copied{Text: h.Text, What: paint.Cut(words.Clean(h.Text), maxQuoted, cp.outer.Look.Ellipsis)})
	case act == hints.Insert:
		cp.clip.Type(h.Text)
	case h.Kind == hints.URL:
		cp.OpenLink(h.Text)
	case h.Kind == hints.Path && cp.desk != nil:
		// Its name may end with a line number. It is relative to the focused pane's directory.
		at, area := cp.panes.FocusID(), cp.panes.Area()
		loop.Get(cp.loop, "edit "+words.Clean(h.Text), func(context.Context) ([]string, error) {
			name, line := hints.Split(h.Text)
			return cp.desk.EditFile(name, line)
		}, func(argv []string) {
			cp.panes.Create(cp.panes.Beside(area, at), panes.Program{Argv: argv, Cwd: cp.panes.Cwd()})
		})
	default:
		cp.loop.Say(status.Info, "only addresses and paths are opened: %s", h.Text)
	}
}
