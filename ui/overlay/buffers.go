package overlay

import (
	"strconv"
	"strings"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
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

// maxFiltered bounds how much of a buffer the filter reads, in bytes.
const maxFiltered = 4 << 10

func (b Buffer) key() string    { return strconv.Itoa(b.ID) }
func (b Buffer) filter() string { return b.Text[:min(len(b.Text), maxFiltered)] }

// Buffers is the list of what was copied, with the chosen one's text below.
type Buffers struct{ list[Buffer] }

// NewBuffers gives a list of what rows gives at the time.
func NewBuffers(rows func() []Buffer, do BufferDo) *Buffers {
	with := func(f func(int)) func(Buffer) { return func(row Buffer) { f(row.ID) } }
	actions := []action[Buffer]{closes("y", "copy", with(do.Copy)), stays("s", "save", with(do.Save)), stays("x", "delete", with(do.Delete))}
	return &Buffers{list[Buffer]{
		rows: rows, enterKeys: "enter paste", enter: func(row Buffer) bool { do.Paste(row.ID); return true },
		actions: func() []action[Buffer] { return actions },
	}}
}

// Draw implements Overlay.
func (b *Buffers) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	b.match()
	in, cursor := b.frame(c, area, 110, max(len(b.shown)+12, 14), "Paste buffers", l.Pointer, l)
	if in.Empty() {
		return cursor
	}
	rows := in
	if in.H > 6 {
		rows.H = min(max(len(b.shown), 1), in.H/2)
	}
	b.draw(c, rows, "no buffer matches", l, func(r paint.Rect, row Buffer, on func(look.Style) look.Style) {
		facts := row.Size + "  " + row.When
		w := paint.Width(facts)
		c.Text(r.X+1, r.Y, r.W-w-4, paint.Cut(oneLine(row.Text, r.W), r.W-w-4, l.Ellipsis), on(l.Overlay))
		c.Text(r.X+r.W-w-1, r.Y, w, facts, on(l.OverlayMuted))
	})
	b.preview(c, paint.Rect{X: in.X, Y: in.Y + rows.H, W: in.W, H: in.H - rows.H}, l)
	b.drawMenu(c, in, l)
	return cursor
}

// preview draws the start of the chosen buffer's text.
func (b *Buffers) preview(c *paint.Canvas, r paint.Rect, l look.Look) {
	row, ok := b.row()
	if r.H < 2 || !ok {
		return
	}
	c.Fill(paint.Rect{X: r.X, Y: r.Y, W: r.W, H: 1}, l.Horizontal, l.OverlayMuted)
	text := row.Text
	for y := 1; y < r.H && text != ""; y++ {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		c.Text(r.X+1, r.Y+y, r.W-2, paint.Cut(oneLine(line, r.W), r.W-2, l.Ellipsis), l.Overlay)
	}
}

// oneLine is the start of a text as one line of what can be drawn.
func oneLine(text string, w int) string {
	text = text[:min(len(text), 8*max(w, 0))]
	l := editor.Line(strings.TrimLeft(strings.ToValidUTF8(text, ""), "\n"))
	return l.String()
}
