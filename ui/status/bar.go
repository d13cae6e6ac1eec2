package status

import (
	"strconv"

	"cotty/ui/look"
	"cotty/ui/paint"
)

// Data is what the status line shows.
type Data struct {
	Layout string
	Tabs   []Tab
	Active int

	Badge      string // of the focused terminal; "" for none
	BadgeStyle look.Style
	// Command says how the focused terminal's last command did; "" for none.
	Command      string
	CommandStyle look.Style
	Cwd          string // shortened with "~" already

	Pending string // keys pressed of a chord, "" for none
	Mode    string // "copy" and the like, "" for none
	Message string
	Kind    Kind
}

// Tab is a tab's label.
type Tab struct {
	Name  string
	Panes int
	Zoom  bool
}

// Kind is what kind of message is shown.
type Kind uint8

// The kinds.
const (
	Info Kind = iota
	Warning
	Error
)

// Hit is where a tab was drawn.
type Hit struct {
	From, To int // half-open range of columns
	Tab      int
}

// maxLabel bounds a tab's label, in cells.
const maxLabel = 20

// Draw draws the line into a row and gives where the tabs are.
func Draw(c *paint.Canvas, r paint.Rect, d Data, l look.Look) []Hit {
	if r.Empty() {
		return nil
	}
	c.Fill(r, ' ', l.Status)
	left, end := r.X, r.X+r.W
	if d.Pending != "" {
		left += c.Text(left, r.Y, end-left, " "+d.Pending+" ", l.Prefix)
	} else if d.Mode != "" {
		left += c.Text(left, r.Y, end-left, " "+d.Mode+" ", l.Warn)
	} else {
		left += c.Text(left, r.Y, min(end-left, max(r.W/4, 4)), " "+d.Layout+" ", l.StatusLayout)
	}
	if d.Message != "" {
		// A message needs its room; the active tab stays.
		room := end - left - paint.Width(d.Message) - 2
		if d.Active < len(d.Tabs) {
			room = max(room, min(paint.Width(d.Tabs[d.Active].label(d.Active+1, l)), (end-left)/3))
		}
		hits, used := tabs(c, paint.Rect{X: left, Y: r.Y, W: room, H: 1}, d, l)
		message(c, paint.Rect{X: left + used, Y: r.Y, W: end - left - used, H: 1}, d, l)
		return hits
	}
	right := min(right(d), max((end-left)/2, 0))
	hits, used := tabs(c, paint.Rect{X: left, Y: r.Y, W: end - left - right, H: 1}, d, l)
	corner(c, paint.Rect{X: left + used, Y: r.Y, W: end - left - used, H: 1}, d, l)
	return hits
}

// right is the room that command, badge and directory want.
func right(d Data) int {
	w := 0
	if d.Command != "" {
		w += paint.Width(d.Command) + 2
	}
	if d.Badge != "" {
		w += paint.Width(d.Badge) + 2
	}
	if d.Cwd != "" {
		w += paint.Width(d.Cwd) + 2
	}
	return w
}

func message(c *paint.Canvas, r paint.Rect, d Data, l look.Look) {
	style := map[Kind]look.Style{Info: l.Message, Warning: l.Warn, Error: l.Error}[d.Kind]
	text := " " + paint.Cut(d.Message, r.W-2, l.Ellipsis) + " "
	c.Text(max(r.X, r.X+r.W-paint.Width(text)), r.Y, r.W, text, style)
}

// corner draws command, badge and directory at the right end. The badge gets
// its room first.
func corner(c *paint.Canvas, r paint.Rect, d Data, l look.Look) {
	room := r.W
	badge := ""
	if d.Badge != "" {
		badge = " " + paint.Cut(d.Badge, room-2, l.Ellipsis) + " "
		room -= paint.Width(badge)
	}
	command := ""
	if w := paint.Width(d.Command) + 2; d.Command != "" && w <= room {
		command = " " + d.Command + " "
		room -= w
	}
	cwd := ""
	if d.Cwd != "" && room >= 10 {
		cwd = " " + cutFront(d.Cwd, room-2, l.Ellipsis) + " "
		room -= paint.Width(cwd)
	}
	x := r.X + max(room, 0)
	on := func(s look.Style) look.Style {
		s.BG = l.Status.BG
		s.Attrs |= l.Status.Attrs
		return s
	}
	x += c.Text(x, r.Y, r.X+r.W-x, command, on(d.CommandStyle))
	x += c.Text(x, r.Y, r.X+r.W-x, badge, on(d.BadgeStyle))
	c.Text(x, r.Y, r.X+r.W-x, cwd, l.StatusMuted)
}

// cutFront shortens s at its front.
func cutFront(s string, w int, mark string) string {
	if paint.Width(s) <= w {
		return s
	}
	runes := []rune(s)
	for len(runes) > 0 && paint.Width(mark)+paint.Width(string(runes)) > w {
		runes = runes[1:]
	}
	return mark + string(runes)
}

func (t Tab) label(number int, l look.Look) string {
	text := " " + strconv.Itoa(number)
	if t.Name != "" {
		text += " " + paint.Cut(t.Name, maxLabel, l.Ellipsis)
	}
	if t.Zoom {
		text += " Z"
	}
	return text + " "
}

// tabs draws the tabs that fit, the active one always, and gives the room that
// they took.
func tabs(c *paint.Canvas, r paint.Rect, d Data, l look.Look) ([]Hit, int) {
	if len(d.Tabs) == 0 || r.W <= 0 {
		return nil, 0
	}
	labels := make([]string, len(d.Tabs))
	widths := make([]int, len(d.Tabs))
	for i, t := range d.Tabs {
		labels[i] = t.label(i+1, l)
		widths[i] = paint.Width(labels[i])
	}
	from, to := window(widths, d.Active, r.W)
	var hits []Hit
	x := r.X
	if from > 0 {
		x += c.Text(x, r.Y, r.W, "<", l.StatusMuted)
	}
	for i := from; i < to; i++ {
		style := l.Tab
		if i == d.Active {
			style = l.TabActive
		}
		n := c.Text(x, r.Y, r.X+r.W-x, labels[i], style)
		hits = append(hits, Hit{From: x, To: x + n, Tab: i})
		x += n
	}
	if to < len(labels) {
		x += c.Text(x, r.Y, r.X+r.W-x, ">", l.StatusMuted)
	}
	return hits, x - r.X
}

// window chooses the tabs around the active one that fit into w cells.
func window(widths []int, active, w int) (from, to int) {
	from, to = active, active+1
	room := w - widths[active] - 2
	for {
		grown := false
		if to < len(widths) && widths[to] <= room {
			room -= widths[to]
			to++
			grown = true
		}
		if from > 0 && widths[from-1] <= room {
			from--
			room -= widths[from]
			grown = true
		}
		if !grown {
			return from, to
		}
	}
}
