package overlay

import (
	"slices"
	"strings"

	"tandemux/ui/look"
	"tandemux/ui/paint"
	"tandemux/ui/words"
)

// Sizes of a list with a preview, in cells.
const (
	listWide    = 120 // smallest width with the preview beside the rows; else it is below
	listRows    = 66  // width of the rows beside a preview
	leastScreen = 5   // smallest number of rows of a preview below
)

func (o *List) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	o.match()
	if area.H > 8 {
		area.H-- // the status line shows what a list's actions say
	}
	w, strips := min(o.Width, area.W-2), 1
	if o.Strip > 0 {
		strips = max(w/o.Strip, 1)
		w = min(w, strips*o.Strip+2)
	}
	h := max((o.total+strips-1)/strips+4, 8)
	switch {
	case o.Preview != nil:
		h = max(h, area.H*3/4)
	case strips == 1:
		h = min(h, max(area.H*4/5, 16))
	}
	r := centred(area, w, h)
	in := box(c, r, o.Title, o.footer(r.W-6), l)
	if in.H < 2 || in.W < 4 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, l.Pointer, l.OverlayAccent)
	text, at := o.query.Window(in.W - 4)
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	if text == "" {
		c.Text(in.X+3, in.Y, in.W-4, "type to filter", l.OverlayMuted)
	}
	cursor := paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
	in.Y, in.H = in.Y+1, in.H-1

	rows, facts, screen := o.divide(in)
	o.drawRows(c, rows, strips, l)
	if key := o.key(); key != "" {
		factsLine(c, facts, l, o.shown[o.chosen].Facts...)
		if !screen.Empty() {
			o.Preview(c, screen, key, l)
		}
	}
	o.drawMenu(c, area, in, l)
	return cursor
}

// divide returns the places of the rows, the chosen row's facts and its preview; those without
// room are empty.
func (o *List) divide(r paint.Rect) (list, facts, screen paint.Rect) {
	hasFacts := slices.ContainsFunc(o.shown, func(r Row) bool { return r.Facts != nil })
	switch {
	case o.Preview != nil && r.W >= listWide && r.H >= leastScreen:
		x, w := r.X+listRows+1, r.W-listRows-1
		return paint.Rect{X: r.X, Y: r.Y, W: listRows, H: r.H}, paint.Rect{X: x, Y: r.Y, W: w, H: 1}, paint.Rect{X: x, Y: r.Y + 1, W: w, H: r.H - 1}
	case o.Preview != nil && r.H >= 2*leastScreen:
		h := min(max(len(o.shown), 3), r.H-1-leastScreen, max(r.H/2, 3))
		return paint.Rect{X: r.X, Y: r.Y, W: r.W, H: h}, paint.Rect{X: r.X, Y: r.Y + h, W: r.W, H: 1}, paint.Rect{X: r.X, Y: r.Y + h + 1, W: r.W, H: r.H - h - 1}
	case hasFacts && r.H > 3:
		return paint.Rect{X: r.X, Y: r.Y, W: r.W, H: r.H - 1}, paint.Rect{X: r.X, Y: r.Y + r.H - 1, W: r.W, H: 1}, paint.Rect{}
	}
	return r, paint.Rect{}, paint.Rect{}
}

// drawRows draws the rows that fit in r, in strips beside each other.
func (o *List) drawRows(c *paint.Canvas, r paint.Rect, strips int, l look.Look) {
	o.inside, o.strip = r, r.W/strips
	room := r.H * strips
	o.top = max(min(max(o.top, o.chosen-room+1), o.chosen, len(o.shown)-room), 0)
	if len(o.shown) == 0 {
		text := "nothing matches"
		if o.total == 0 && o.None != "" {
			text = o.None
		}
		c.Text(r.X+1, r.Y, r.W-2, paint.Cut(text, r.W-2, l.Ellipsis), l.OverlayMuted)
	}
	widths, gap := o.widths(o.strip - 2)
	for i := range min(room, len(o.shown)-o.top) {
		row := &o.shown[o.top+i]
		at := paint.Rect{X: r.X + i/r.H*o.strip, Y: r.Y + i%r.H, W: o.strip, H: 1}
		on := func(s look.Style) look.Style {
			if s.BG != 0 && s.BG != l.Overlay.BG { // the background has a meaning
				return s
			}
			if o.top+i == o.chosen && row.Key != "" {
				return l.Selected
			}
			s.BG = l.Overlay.BG
			return s
		}
		c.Fill(at, ' ', on(l.Overlay))
		x := at.X + 1
		for n, cell := range row.Cells {
			if widths[n] == 0 {
				continue
			}
			col, style := o.Columns[n], cell.Style
			if style == (look.Style{}) {
				if style = l.Overlay; col.Muted {
					style = l.OverlayMuted
				}
			}
			cut := paint.Cut
			if col.Front {
				cut = paint.CutFront
			}
			text, off := cut(cell.Text, widths[n], l.Ellipsis), 0
			if col.Right {
				off = widths[n] - paint.Width(text)
			}
			c.Text(x+off, at.Y, widths[n], text, on(style))
			if x += widths[n] + gap; col.Most == 1 {
				x -= gap - 1
			}
		}
	}
}

// widths shares a row of w cells among the columns. The gap between them is one blank, or two if
// there is room.
func (o *List) widths(w int) (got []int, gap int) {
	most := make([]int, len(o.Columns))
	got = make([]int, len(o.Columns))
	fill, left := 0, w+1
	for i, col := range o.Columns {
		for _, r := range o.shown {
			if i < len(r.Cells) {
				most[i] = max(most[i], paint.Width(r.Cells[i].Text))
			}
		}
		if col.Fills {
			fill = i
			left -= min(col.Least, w) + 1
			continue
		}
		if col.Most > 0 {
			most[i] = min(most[i], col.Most)
		}
	}
	for i, col := range o.Columns {
		n := most[i]
		if col.Least > 0 {
			n = min(n, col.Least)
		}
		if i == 0 { // the first column identifies the row
			n = min(n, left-1)
		}
		if n > 0 && n < left && !col.Fills {
			got[i] = n
			left -= n + 1
		}
	}
	others := 0
	for i := range got {
		if more := min(most[i]-got[i], left); got[i] > 0 && more > 0 {
			got[i] += more
			left -= more
		}
		if got[i] > 0 && o.Columns[i].Most != 1 { // a mark is directly beside its text
			others++
		}
	}
	got[fill], gap = max(left, 0)+min(o.Columns[fill].Least, w), 1
	if got[fill]-others >= most[fill] {
		got[fill], gap = got[fill]-others, 2
	}
	return got, gap
}

// footer describes the keys, in at most w cells.
func (o *List) footer(w int) string {
	keys, leave := "", "esc leave"
	if o.EnterKeys != "" {
		keys = o.EnterKeys + "  "
	}
	actions := o.offered()
	if len(actions) == 0 {
		return keys + leave
	}
	all := keys
	for _, a := range actions {
		all += "alt+" + a.Letter + " " + a.Label + "  "
	}
	keys += "tab actions"
	for _, text := range []string{all + "tab actions", keys + "  " + leave} {
		if paint.Width(text) <= w {
			return text
		}
	}
	return keys
}

// drawMenu draws the actions, if they are open, over the list in r, or over the whole area if the
// list is too short.
func (o *List) drawMenu(c *paint.Canvas, area, r paint.Rect, l look.Look) {
	actions := o.offered()
	if !o.menu || len(actions) == 0 {
		return
	}
	if r.H < len(actions)+2 {
		r = area
	}
	w, n := len("esc back")+6, 0
	for _, a := range actions {
		w, n = max(w, paint.Width(a.Label)+len(a.Letter)+6), max(n, len(a.Letter))
	}
	in := box(c, centred(r, w, len(actions)+2), "", "esc back", l)
	for i, a := range actions[:min(len(actions), in.H)] {
		c.Text(in.X+1, in.Y+i, in.W-2, a.Letter, l.HintKeyOn(l.Overlay))
		c.Text(in.X+n+2, in.Y+i, in.W-n-3, paint.Cut(a.Label, in.W-n-3, l.Ellipsis), l.Overlay)
	}
}

// factsLine draws the facts about the chosen row.
func factsLine(c *paint.Canvas, r paint.Rect, l look.Look, facts ...string) {
	if r.Empty() {
		return
	}
	c.Fill(r, l.Horizontal, l.OverlayBox)
	facts = slices.DeleteFunc(slices.Clone(facts), func(s string) bool { return s == "" })
	if text := strings.Join(facts, " "+l.Separator+" "); text != "" {
		c.Text(r.X+1, r.Y, r.W-2, " "+paint.Cut(text, r.W-4, l.Ellipsis)+" ", l.OverlayMuted)
	}
}

// DrawText draws the beginning of a text.
func DrawText(c *paint.Canvas, r paint.Rect, text string, l look.Look) {
	c.Fill(r, ' ', l.Overlay)
	for y := 0; y < r.H && text != ""; y++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		line = words.Lines(line[:min(len(line), 8*max(r.W, 0))])
		c.Text(r.X+1, r.Y+y, r.W-2, paint.Cut(line, r.W-2, l.Ellipsis), l.Overlay)
	}
}
