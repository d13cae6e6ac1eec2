package overlay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Overlay is something on top of the panes that gets the keys.
type Overlay interface {
	// Key handles a key and reports whether the overlay is done.
	Key(k tea.Key) (done bool)
	// Draw draws it within the area and returns the cursor.
	Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor
}

// Pasting is an overlay that takes pasted text.
type Pasting interface{ Paste(text string) }

// Passing is an overlay that some keys close; they then go to what is below.
type Passing interface {
	Passes(k tea.Key) bool
}

// Clicker is an overlay that handles the mouse.
type Clicker interface {
	// Click handles a press at a cell, Wheel a notch: -1 is up, 1 is down.
	Click(x, y int) (done bool)
	Wheel(n int)
}

// Pointing is a Clicker that follows the mouse. Point reports whether it must be drawn again,
// Release whether it is done.
type Pointing interface {
	Clicker
	Point(x, y int) bool
	Release(x, y int) (done bool)
}

// Frame draws a frame around the inside of a rectangle, except for the line between its upper
// corners, where a title goes.
func Frame(c *paint.Canvas, r paint.Rect, l *look.Lines, s look.Style) {
	right, bottom := r.X+r.W-1, r.Y+r.H-1
	fill := func(x, y, w, h int, glyph rune) { c.Fill(paint.Rect{X: x, Y: y, W: w, H: h}, glyph, s) }
	fill(r.X, bottom, r.W, 1, l.Horizontal)
	fill(r.X, r.Y, 1, r.H, l.Vertical)
	fill(right, r.Y, 1, r.H, l.Vertical)
	fill(r.X, r.Y, 1, 1, l.TopLeft)
	fill(right, r.Y, 1, 1, l.TopRight)
	fill(r.X, bottom, 1, 1, l.BottomLeft)
	fill(right, bottom, 1, 1, l.BottomRight)
}

// box draws an empty framed box with a title and a footer and returns its inside.
func box(c *paint.Canvas, r paint.Rect, title, footer string, l look.Look) paint.Rect {
	c.Fill(r, ' ', l.Overlay)
	if r.W < 4 || r.H < 3 {
		return r
	}
	right, bottom := r.X+r.W-1, r.Y+r.H-1
	c.Fill(paint.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}, l.Horizontal, l.OverlayBox)
	Frame(c, r, &l.Lines, l.OverlayBox)
	if title != "" {
		c.Text(r.X+2, r.Y, r.W-4, " "+paint.Cut(title, r.W-6, l.Ellipsis)+" ", l.OverlayAccent)
	}
	if footer != "" {
		text := " " + paint.Cut(footer, r.W-6, l.Ellipsis) + " "
		c.Text(right-1-paint.Width(text), bottom, r.W-4, text, l.OverlayMuted)
	}
	return paint.Rect{X: r.X + 1, Y: r.Y + 1, W: r.W - 2, H: r.H - 2}
}

// centred returns a rectangle of at most w×h cells in the area, centred horizontally and a little
// above the middle.
func centred(area paint.Rect, w, h int) paint.Rect {
	w, h = min(w, area.W), min(h, area.H)
	return paint.Rect{X: area.X + (area.W-w)/2, Y: area.Y + (area.H-h)/3, W: w, H: h}
}

// tallBox is the largest number of visible rows of a Box's text.
const tallBox = 8

// Box asks for a text of several lines at the bottom of the area.
type Box struct {
	label  string
	text   editor.Text
	accept func(text string)
}

// NewBox makes a Box with an initial text. accept is called on Enter.
func NewBox(label, text string, accept func(text string)) *Box {
	b := &Box{label: label, accept: accept}
	b.text.Insert(text)
	return b
}

func (b *Box) Key(k tea.Key) bool {
	switch editor.Stroke(k) {
	case "esc", "ctrl+c", "ctrl+g":
		return true
	case "enter":
		b.accept(b.text.String())
		return true
	case "alt+enter", "ctrl+j":
		b.text.Insert("\n")
	case "up":
		b.text.Vertical(-1)
	case "down":
		b.text.Vertical(1)
	default:
		b.text.Key(k)
	}
	return false
}

func (b *Box) Paste(text string) { b.text.Insert(text) }

func (b *Box) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	h := min(max(b.text.Layout(max(area.W-4, 1)), 1), tallBox, max(area.H-2, 1))
	in := box(c, paint.Rect{X: area.X, Y: area.Y + area.H - h - 2, W: area.W, H: h + 2}, b.label, "enter done  alt+enter new line  esc leave", l)
	rows, x, y := b.text.View(max(in.W-2, 1), max(in.H, 1))
	for i, row := range rows {
		c.Text(in.X+1, in.Y+i, in.W-2, row, l.Overlay)
	}
	return paint.Cursor{X: in.X + 1 + x, Y: in.Y + y, Visible: true, Default: true}
}

// HintRow says what a key would do now.
type HintRow struct {
	Keys string
	Text string
	Off  bool // its command can't run now
	Keep bool // it is always on the first page
}

// brief abbreviates the modifiers of keys in a hint.
var brief = strings.NewReplacer("ctrl+", "^", "shift+", "S-", "alt+", "M-")

// MoreKey turns a hint's pages.
const MoreKey = "pgdown"

// Hint draws, on the last rows of the area, what can follow the keys pressed so far, those that
// can run now first. If not all fit there are pages, counted from 0 and around, and the last cell
// says how many rows follow. It takes no keys.
func Hint(c *paint.Canvas, area paint.Rect, rows []HintRow, page int, l look.Look) {
	if len(rows) == 0 || area.Empty() {
		return
	}
	keys, text := 0, 0
	for _, row := range rows {
		keys, text = max(keys, paint.Width(brief.Replace(row.Keys))), max(text, paint.Width(row.Text))
	}
	most := max((area.W-1)/(keys+text+3), 1)
	h := min((len(rows)+most-1)/most, max(area.H*2/3, 1))
	n := min(most, (len(rows)+h-1)/h)
	rows = hintPage(rows, n*h, page)
	w := (area.W - 1) / n
	r := paint.Rect{X: area.X, Y: area.Y + area.H - h, W: area.W, H: h}
	c.Fill(r, ' ', l.Hint)
	for i, row := range rows {
		x, y := r.X+1+i/h*w, r.Y+i%h
		style := l.Hint
		if row.Off {
			style.Attrs |= look.Faint
		}
		k := brief.Replace(row.Keys)
		c.Text(x+keys-paint.Width(k), y, keys, k, l.HintKey)
		c.Text(x+keys+1, y, w-keys-2, paint.Cut(row.Text, w-keys-2, l.Ellipsis), style)
	}
}

// hintPage returns the rows of a page of n rows. Rows that can't run come last. If there are
// several pages, rows with Keep come first, and the last row is for the next page.
func hintPage(rows []HintRow, n, page int) []HintRow {
	paged := len(rows) > n
	rank := func(r HintRow) int {
		switch {
		case r.Keep && paged:
			return 0
		case r.Off:
			return 2
		}
		return 1
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b HintRow) int { return cmp.Compare(rank(a), rank(b)) })
	if !paged || n < 2 {
		return rows[:min(len(rows), n)]
	}
	n--
	pages := (len(rows) + n - 1) / n
	from := page % pages * n
	to := min(from+n, len(rows))
	more := HintRow{Keys: "pgdn", Text: fmt.Sprintf("%d more", len(rows)-to)}
	if to == len(rows) {
		more.Text = "back to the first"
	}
	return append(rows[from:to:to], more)
}
