package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"cotty/ui/look"
	"cotty/ui/paint"
)

// Buffer is a row of the list of paste buffers.
type Buffer struct {
	ID   int
	Text string // all of it
	Size string // in words
	When string
}

// BufferDo is what the list can do with a buffer.
type BufferDo struct {
	Paste, Copy, Delete, Save func(id int)
}

// Buffers is the list of what was copied, with the chosen one's text beside or
// below.
type Buffers struct {
	rows   func() []Buffer
	do     BufferDo
	pick   picker
	typing bool
	shown  []Buffer
	inside paint.Rect // of the rows, as last drawn
}

// NewBuffers gives a list of what rows gives at the time.
func NewBuffers(rows func() []Buffer, do BufferDo) *Buffers { return &Buffers{rows: rows, do: do} }

// maxFiltered bounds how much of a buffer the filter reads, in bytes.
const maxFiltered = 4 << 10

func (b *Buffers) match() {
	all := b.rows()
	at := matching(len(all), b.pick.query.String(), func(i int) string {
		return all[i].Text[:min(len(all[i].Text), maxFiltered)]
	})
	b.shown = b.shown[:0]
	for _, i := range at {
		b.shown = append(b.shown, all[i])
	}
	b.pick.chosen = min(b.pick.chosen, max(len(b.shown)-1, 0))
}

// Key implements Overlay.
func (b *Buffers) Key(k tea.Key) bool {
	b.match()
	stroke := stroke(k)
	if n, ok := listMoves[stroke]; ok {
		b.pick.move(n, len(b.shown))
		return false
	}
	if !b.typing {
		switch stroke {
		case "j":
			b.pick.move(1, len(b.shown))
			return false
		case "k":
			b.pick.move(-1, len(b.shown))
			return false
		case "q":
			return true
		case "/":
			b.typing = true
			return false
		}
		if done, known := b.verb(stroke); known {
			return done
		}
	}
	switch stroke {
	case "enter":
		return b.choose()
	case "esc", "ctrl+c":
		if b.typing {
			b.typing, b.pick = false, picker{}
			return false
		}
		return true
	}
	if b.pick.query.key(k) {
		b.typing = b.pick.query.String() != ""
		b.pick.chosen = 0
	}
	return false
}

// verb handles the letters that act.
func (b *Buffers) verb(stroke string) (done, known bool) {
	act := map[string]func(int){"y": b.do.Copy, "d": b.do.Delete, "x": b.do.Delete, "s": b.do.Save}[stroke]
	if act == nil {
		return false, false
	}
	if b.pick.chosen < len(b.shown) {
		act(b.shown[b.pick.chosen].ID)
	}
	return stroke == "y", true
}

func (b *Buffers) choose() bool {
	if b.pick.chosen >= len(b.shown) {
		return false
	}
	b.do.Paste(b.shown[b.pick.chosen].ID)
	return true
}

// Paste implements Overlay.
func (b *Buffers) Paste(text string) {
	b.pick.query.insert(text)
	b.typing, b.pick.chosen = true, 0
}

// Click implements Clicker: it chooses a row; the chosen one is pasted.
func (b *Buffers) Click(x, y int) bool {
	i := b.pick.top + y - b.inside.Y
	if !b.inside.Contains(x, y) || i >= len(b.shown) {
		return false
	}
	again := i == b.pick.chosen
	b.pick.chosen = i
	return again && b.choose()
}

// Wheel implements Clicker.
func (b *Buffers) Wheel(up bool) {
	if up {
		b.pick.move(-1, len(b.shown))
	} else {
		b.pick.move(1, len(b.shown))
	}
}

// Draw implements Overlay.
func (b *Buffers) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	b.match()
	r := centred(area, min(110, area.W-2), min(max(len(b.shown)+12, 14), area.H))
	in := box(c, r, "Paste buffers", "enter paste  y copy  d delete  s save  / filter", l)
	if in.H < 2 || in.W < 4 {
		return paint.Cursor{}
	}
	c.Text(in.X+1, in.Y, in.W-2, l.Pointer, l.OverlayAccent)
	text, at := b.pick.query.view(in.W - 4)
	if text == "" && !b.typing {
		c.Text(in.X+3, in.Y, in.W-4, "type to filter", l.OverlayMuted)
	}
	c.Text(in.X+3, in.Y, in.W-4, text, l.Overlay)
	rows := in.H - 1
	if rows > 6 {
		rows = min(max(len(b.shown), 1), rows/2)
	}
	b.inside = paint.Rect{X: in.X, Y: in.Y + 1, W: in.W, H: rows}
	b.pick.scroll(rows, len(b.shown))
	if len(b.shown) == 0 {
		c.Text(in.X+3, in.Y+1, in.W-4, "no buffer matches", l.OverlayMuted)
	}
	for i := range min(rows, len(b.shown)-b.pick.top) {
		b.row(c, paint.Rect{X: in.X, Y: b.inside.Y + i, W: in.W, H: 1}, b.pick.top+i, l)
	}
	b.preview(c, paint.Rect{X: in.X, Y: b.inside.Y + rows, W: in.W, H: in.H - 1 - rows}, l)
	return paint.Cursor{X: in.X + 3 + at, Y: in.Y, Visible: true, Default: true}
}

// row draws a buffer: its start, how much it is, how old.
func (b *Buffers) row(c *paint.Canvas, r paint.Rect, i int, l look.Look) {
	style, muted := l.Overlay, l.OverlayMuted
	if i == b.pick.chosen {
		style, muted = l.Selected, l.Selected
	}
	c.Fill(r, ' ', style)
	row := b.shown[i]
	facts := row.Size + "  " + row.When
	w := paint.Width(facts)
	c.Text(r.X+1, r.Y, r.W-w-4, paint.Cut(oneLine(row.Text, r.W), r.W-w-4, l.Ellipsis), style)
	c.Text(r.X+r.W-w-1, r.Y, w, facts, muted)
}

// preview draws the start of the chosen buffer's text.
func (b *Buffers) preview(c *paint.Canvas, r paint.Rect, l look.Look) {
	if r.H < 2 || b.pick.chosen >= len(b.shown) {
		return
	}
	c.Fill(paint.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}, l.Horizontal, l.OverlayMuted)
	text := b.shown[b.pick.chosen].Text
	for y := 1; y < r.H && text != ""; y++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		c.Text(r.X+1, r.Y+y, r.W-2, paint.Cut(oneLine(line, r.W), r.W-2, l.Ellipsis), l.Overlay)
	}
}

// oneLine is the start of a text as one line of what can be drawn.
func oneLine(text string, w int) string {
	text = text[:min(len(text), 8*max(w, 0))]
	l := newLine(strings.TrimLeft(strings.ToValidUTF8(text, ""), "\n"))
	return l.String()
}
