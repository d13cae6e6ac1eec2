package copying

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"tandemux/ahp"
	"tandemux/ahp/find"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/pane"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// around is how many lines before and after a found line are shown.
const around = 5

// searchAll searches all terminals and lists the lines found.
func (cp *Copying) searchAll(args []string) {
	cp.loop.Ask(args, "search all terminals", "", func(pattern string) {
		if pattern = cmp.Or(pattern, cp.loop.LastSearch()); pattern == "" {
			return
		}
		cp.loop.Searched(pattern)
		p := find.SearchParams{Channel: ahp.RootURI, Pattern: pattern, Context: around}
		loop.Await(cp.loop, "search all terminals", fmt.Sprintf("searching all terminals for %q", pattern), func(ctx context.Context) (got find.SearchResult, err error) {
			err = cp.link.Host.Call(ctx, find.MethodSearch, p, &got)
			return got, err
		}, func(got find.SearchResult) {
			if len(got.Items) == 0 {
				cp.loop.Say(status.Info, "%q is in no terminal", pattern)
				return
			}
			cp.openFound(pattern, got)
		})
	})
}

// openFound lists the found lines by terminal.
func (cp *Copying) openFound(pattern string, got find.SearchResult) {
	title := fmt.Sprintf("%s with %q", words.Plural(len(got.Items), "line"), pattern)
	if got.Partial {
		title = "The first " + title
	}
	var rows []overlay.Row
	for i, h := range got.Items {
		name := cp.titleOf(h.Terminal)
		if i == 0 || got.Items[i-1].Terminal != h.Terminal {
			where := cp.panes.Where(h.Terminal)
			rows = append(rows, overlay.Row{Cells: []overlay.Cell{{Text: strings.TrimSpace(name + "  " + where), Style: cp.outer.Look.OverlayAccent}}})
		}
		text := words.Line(h.Text)
		rows = append(rows, overlay.Row{
			Key: fmt.Sprint(i), Filter: text + " " + name,
			Cells: []overlay.Cell{{Text: "  " + text}}, Facts: []string{name, words.Plural(h.Line, "line") + " above the end"},
		})
	}
	list := &overlay.List{Source: overlay.Source{
		Title: title, Width: 170, Columns: []overlay.Column{{Fills: true}}, Rows: func() []overlay.Row { return rows }, EnterKeys: "enter go to",
		Enter: func(key string) bool { cp.goFound(got.Items[overlay.Index(key)], pattern); return true },
		Preview: func(c *paint.Canvas, r paint.Rect, key string, l look.Look) {
			if key != "" {
				drawFound(c, r, &got.Items[overlay.Index(key)], l)
			}
		},
	}}
	cp.loop.Open(list)
}

func (cp *Copying) titleOf(uri ahp.URI) string {
	if t := cp.panes.Terms.Get(uri); t != nil {
		return t.Title()
	}
	return "a terminal that is gone"
}

// drawFound draws a found line and the lines around it.
func drawFound(c *paint.Canvas, r paint.Rect, h *find.SearchHit, l look.Look) {
	c.Fill(r, ' ', l.Overlay)
	y := r.Y
	row := func(text string, style look.Style) {
		if y < r.Y+r.H {
			c.Text(r.X+1, y, r.W-2, paint.Cut(words.Lines(text), r.W-2, l.Ellipsis), style)
			y++
		}
	}
	for _, text := range h.Before[max(len(h.Before)-(r.H-1)/2, 0):] {
		row(text, l.OverlayMuted)
	}
	row(h.Text, l.Overlay)
	for _, text := range h.After {
		row(text, l.OverlayMuted)
	}
}

// goFound shows a terminal in copy mode with the cursor on a found line.
func (cp *Copying) goFound(h find.SearchHit, pattern string) {
	t := cp.panes.Terms.Get(h.Terminal)
	if t == nil || t.Done {
		cp.loop.Say(status.Warning, "the terminal is gone")
		return
	}
	show := func() {
		cp.panes.Show(t.URI)
		cp.panes.Freshen()
		cp.lineFound(t, h, pattern)
	}
	if t.Feed != nil && t.Ready {
		show()
		return
	}
	cp.panes.Keep(t)
	cp.panes.Subscribe(t, show)
	cp.loop.Dirty |= loop.Stale
}

// lineFound moves copy mode's cursor to a found line.
func (cp *Copying) lineFound(t *terminals.Terminal, h find.SearchHit, pattern string) {
	p, at, v := cp.panes.Focused()
	if at != t || v == nil {
		return
	}
	if !v.GoText(pane.Sought{Text: h.Text, Below: h.Line, Pattern: pattern}, paint.Rect(p.Body)) {
		cp.loop.Say(status.Info, "that line is not there any more")
	}
	cp.loop.Dirty |= loop.Panes | loop.Chrome
}
