package status

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Data is the content of the status line.
type Data struct {
	Line   Line // the segments and their places
	Layout string
	Tabs   []Tab
	Active int
	Host   string // machine
	Focused
	Asked
	Time, Date string

	// Alert is the text of an alert; "" for none.
	Alert      string
	AlertStyle look.Style
	Clients    int // number of clients that show this layout

	Pending string // the keys of an incomplete chord, "" for none
	Mode    string // "copy" and the like, "" for none
	Message string
	Kind    Kind
	// Hints is texts of decreasing length. The first that fits is shown beside the segments, or
	// instead of those on the right.
	Hints []string
	Alarm bool // the hints are warnings
}

// Focused is what the line shows about the focused pane and its terminal.
type Focused struct {
	Title           string
	Cwd             string // shortened with "~"
	Pane, Panes     int    // number of the pane, from 1, and number of panes
	Cols, Rows      int    // 0 for none
	Scroll, History int    // lines that it is scrolled back, and the most

	Badge      string // "" for none
	BadgeStyle look.Style
	// Command describes the result of the last command; "" for none.
	Command      string
	CommandStyle look.Style
}

// Asked is what the line shows about the machine that the interface runs on; "" for nothing.
type Asked struct{ Git, Battery, Script string }

type Tab struct {
	Name string
	Zoom bool
	// Mark is one cell that marks an alert in the tab; "" for none.
	Mark      string
	MarkStyle look.Style
}

// Kind is the kind of a message.
type Kind uint8

// The kinds.
const (
	Info Kind = iota
	Warning
	Error
)

// Hit is the place of a tab's label.
type Hit struct {
	From, To int // half-open range of columns
	Tab      int
}

// leastTab is the width of the active tab beside a message, in cells.
const leastTab = 8

// maxLabel is the largest width of a tab's label, in cells.
const maxLabel = 20

// item is a segment to be drawn.
type item struct {
	seg   *Segment
	text  string // with a blank at either side; "" for nothing
	style look.Style
}

// Draw draws the line into a row. It returns the places of the tabs, and whether the message was
// cut.
func Draw(c *paint.Canvas, r paint.Rect, d Data, l look.Look) (tabs []Hit, cut bool) {
	if r.Empty() {
		return nil, false
	}
	line := d.Line
	if line.left == nil && line.right == nil {
		line = standard
	}
	c.Fill(r, ' ', l.Status)
	left, right := items(line.left, &d, &l), items(line.right, &d, &l)
	room := r.W
	for i := range left {
		room -= left[i].fitLeft(r.W, room)
	}
	message, active := d.Message, 0
	if d.Active < len(d.Tabs) {
		active = paint.Width(d.Tabs[d.Active].label(d.Active+1, &l))
	}
	hint := hintWidth(&d, room-active-width(right, claimRank))
	if message == "" && hint > 0 && width(right, claimRank)+hint+active > room {
		// No hint fits beside the claim.
		message, hint = pickHint(&d, room-active), 0
	}
	t := strip{tabs: d.Tabs}
	if slices.ContainsFunc(slices.Concat(left, right), func(it item) bool { return it.seg.fit == elastic }) {
		for i, tab := range d.Tabs {
			t.labels = append(t.labels, tab.label(i+1, &l))
		}
	}
	if message != "" {
		// A message gets the room; the beginning of the active tab stays.
		t.choose(d.Active, max(room-paint.Width(message)-2, min(active, room/3, leastTab)))
		room -= t.width
		w := min(paint.Width(message)+2, room)
		room = fitRight(right, room-w, &l) + w // segments may use the rest
	} else {
		t.choose(d.Active, max(room-min(width(right, lastRank), max(room/2, 0))-hint, min(active, room)))
		room = fitRight(right, room-t.width-hint, &l) + hint
	}
	x := r.X
	hits := drawItems(c, &x, r, left, &t, &d, &l)
	cut = d.Message != "" && paint.Width(message)+2 > room
	if message == "" {
		message = pickHint(&d, room)
	}
	if message != "" {
		drawMessage(c, paint.Rect{X: x, Y: r.Y, W: room, H: 1}, message, &d, &l)
	}
	x += max(room, 0)
	return append(hits, drawItems(c, &x, r, right, &t, &d, &l)...), cut
}

// DrawWhole draws a message that Draw cut into the last rows of an area.
func DrawWhole(c *paint.Canvas, area paint.Rect, message string, kind Kind, l look.Look) {
	rows := strings.Split(ansi.Wrap(message, max(area.W-2, 1), ""), "\n")
	rows = rows[:min(len(rows), area.H)]
	for i, row := range rows {
		r := paint.Rect{X: area.X, Y: area.Y + area.H - len(rows) + i, W: area.W, H: 1}
		style := kind.style(&l)
		c.Fill(r, ' ', style)
		c.Text(r.X+1, r.Y, r.W-1, row, style)
	}
}

func (k Kind) style(l *look.Look) look.Style {
	return map[Kind]look.Style{Info: l.Message, Warning: l.Warn, Error: l.Error}[k]
}

// width is the width of the items on the right with a rank up to rank. Hints leave room for those
// up to claimRank.
func width(list []item, rank int) int {
	want := 0
	for i := range list {
		if w := paint.Width(list[i].text); w > 0 && list[i].seg.rank <= rank {
			want += w + 2
		}
	}
	return want
}

// hintWidth is the width of the shortest hint. For a warning it is that of the longest hint that
// fits beside the claim.
func hintWidth(d *Data, room int) int {
	if len(d.Hints) == 0 {
		return 0
	}
	hint := d.Hints[len(d.Hints)-1]
	if d.Alarm {
		hint = cmp.Or(pickHint(d, room), hint)
	}
	return paint.Width(hint) + 2
}

// pickHint returns the first hint that fits, "" for none.
func pickHint(d *Data, room int) string {
	for _, hint := range d.Hints {
		if paint.Width(hint)+2 <= room {
			return hint
		}
	}
	return ""
}

func items(slots []slot, d *Data, l *look.Look) []item {
	out := make([]item, 0, len(slots))
	for _, s := range slots {
		for _, seg := range s {
			if seg.fit == elastic {
				out = append(out, item{seg: seg})
				break
			}
			if text := seg.text(d); text != "" {
				out = append(out, item{seg, text, seg.style(d, l)})
				break
			}
		}
	}
	return out
}

// fitLeft shortens an item on the left and returns its width.
func (it *item) fitLeft(line, room int) int {
	if it.text == "" {
		return 0
	}
	it.text = paint.Cut(" "+it.text+" ", min(room, max(line/it.seg.share, 4)), "")
	return paint.Width(it.text)
}

// fitRight shortens the items on the right in the order of their ranks, and returns the remaining
// room.
func fitRight(list []item, room int, l *look.Look) int {
	var order []*item
	for i := range list {
		if list[i].text != "" {
			order = append(order, &list[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *item) int { return cmp.Compare(a.seg.rank, b.seg.rank) })
	for _, it := range order {
		w, cut := paint.Width(it.text), paint.Cut
		least := w + 2
		switch it.seg.fit {
		case cutEnd:
			least = min(w, leastEnd) + 2
		case cutFront:
			least, cut = min(w+2, leastFront), paint.CutFront
		}
		if room < least {
			it.text = ""
			continue
		}
		it.text = " " + cut(it.text, room-2, l.Ellipsis) + " "
		room -= paint.Width(it.text)
	}
	return room
}

// drawItems draws the items of a side from x on, and moves x after them.
func drawItems(c *paint.Canvas, x *int, r paint.Rect, list []item, t *strip, d *Data, l *look.Look) []Hit {
	var hits []Hit
	for i := range list {
		if list[i].seg.fit == elastic {
			hits = t.draw(c, *x, r, d.Active, l)
			*x += t.width
			continue
		}
		*x += c.Text(*x, r.Y, r.X+r.W-*x, list[i].text, list[i].style)
	}
	return hits
}

func drawMessage(c *paint.Canvas, r paint.Rect, text string, d *Data, l *look.Look) {
	style := d.Kind.style(l)
	if d.Message == "" {
		style = l.Message
		if d.Alarm {
			style = l.Warn
		}
	}
	text = " " + paint.Cut(text, r.W-2, l.Ellipsis) + " "
	c.Text(max(r.X, r.X+r.W-paint.Width(text)), r.Y, r.W, text, style)
}

func (t Tab) label(number int, l *look.Look) string {
	text := " " + strconv.Itoa(number)
	if t.Name != "" {
		text += " " + paint.Cut(t.Name, maxLabel, l.Ellipsis)
	}
	if t.Zoom {
		text += " Z"
	}
	if t.Mark != "" {
		text += " " + t.Mark
	}
	return text + " "
}

// strip is the visible tabs.
type strip struct {
	tabs     []Tab
	labels   []string
	from, to int
	width    int // including the marks for further tabs
}

// choose chooses the tabs that fit, always with the active one.
func (t *strip) choose(active, room int) {
	if len(t.labels) == 0 || room <= 0 {
		t.labels = nil
		return
	}
	widths := make([]int, len(t.labels))
	for i, s := range t.labels {
		widths[i] = paint.Width(s)
	}
	t.from, t.to = window(widths, active, room)
	if t.from > 0 {
		t.width++
	}
	for _, w := range widths[t.from:t.to] {
		t.width += w
	}
	if t.to < len(t.labels) {
		t.width++
	}
	t.width = min(t.width, room)
}

func (t *strip) draw(c *paint.Canvas, x int, r paint.Rect, active int, l *look.Look) []Hit {
	if len(t.labels) == 0 {
		return nil
	}
	var hits []Hit
	end := min(x+t.width, r.X+r.W)
	if t.from > 0 {
		x += c.Text(x, r.Y, end-x, "<", l.StatusMuted)
	}
	for i := t.from; i < t.to; i++ {
		style := l.Tab
		if i == active {
			style = l.TabActive
		}
		n := c.Text(x, r.Y, end-x, t.labels[i], style)
		if mark := t.tabs[i].Mark; mark != "" && n == paint.Width(t.labels[i]) {
			w := paint.Width(mark)
			c.Text(x+n-1-w, r.Y, w, mark, t.tabs[i].MarkStyle)
		}
		hits = append(hits, Hit{From: x, To: x + n, Tab: i})
		x += n
	}
	if t.to < len(t.labels) {
		c.Text(x, r.Y, end-x, ">", l.StatusMuted)
	}
	return hits
}

// window chooses the tabs around the active one that fit in w cells.
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
