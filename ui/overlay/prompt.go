package overlay

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Prompt asks for a line of text on the last row of the area.
type Prompt struct {
	label  string
	line   editor.Text
	accept func(text string)
}

// NewPrompt gives a prompt with a text to start from; accept runs on Enter.
func NewPrompt(label, text string, accept func(text string)) *Prompt {
	return &Prompt{label: label, line: editor.Line(text), accept: accept}
}

// Key implements Overlay.
func (p *Prompt) Key(k tea.Key) bool {
	switch editor.Stroke(k) {
	case "esc", "ctrl+c", "ctrl+g":
		return true
	case "enter":
		p.accept(p.line.String())
		return true
	}
	p.line.Key(k)
	return false
}

// Paste implements Overlay.
func (p *Prompt) Paste(text string) { p.line.Insert(text) }

// Draw implements Overlay.
func (p *Prompt) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	return lastRow(c, area, p.label, &p.line, "", l)
}

// lastRow draws a label and the line that is written behind it on the last row of
// the area, and a note at its end.
func lastRow(c *paint.Canvas, area paint.Rect, label string, line *editor.Text, note string, l look.Look) paint.Cursor {
	r := paint.Rect{X: area.X, Y: area.Y + area.H - 1, W: area.W, H: 1}
	c.Fill(r, ' ', l.Hint)
	x := r.X + c.Text(r.X, r.Y, r.W, " "+paint.Cut(label, area.W/2, l.Ellipsis)+" ", l.HintKey)
	room := r.X + r.W - x
	note = paint.Cut(note, room/2, l.Ellipsis)
	if w := paint.Width(note); w > 0 {
		c.Text(r.X+r.W-w-1, r.Y, w, note, l.HintKey)
		room -= w + 2
	}
	text, at := line.Window(room - 1)
	c.Text(x, r.Y, room, text, l.Hint)
	return paint.Cursor{X: x + at, Y: r.Y, Visible: true, Default: true}
}

// Confirm asks whether to go on.
type Confirm struct {
	text    string
	yes, no func()
}

// NewConfirm gives a question; yes runs when it is answered with y, no,
// which may be nil, otherwise.
func NewConfirm(text string, yes, no func()) *Confirm { return &Confirm{text: text, yes: yes, no: no} }

// Key implements Overlay: y goes on; n, Esc, Enter and q leave; other keys wait
// for an answer.
func (q *Confirm) Key(k tea.Key) bool {
	switch editor.Stroke(k) {
	case "y", "Y":
		q.yes()
		return true
	case "n", "N", "q", "esc", "enter", "ctrl+c":
		if q.no != nil {
			q.no()
		}
		return true
	}
	return false
}

// Paste implements Overlay: a paste is no answer.
func (q *Confirm) Paste(string) {}

// Draw implements Overlay.
func (q *Confirm) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	r := paint.Rect{X: area.X, Y: area.Y + area.H - 1, W: area.W, H: 1}
	c.Fill(r, ' ', l.Warn)
	keys := " y/n "
	n := c.Text(r.X, r.Y, r.W, " "+paint.Cut(q.text, r.W-len(keys)-1, l.Ellipsis), l.Warn)
	style := l.Warn
	style.Attrs |= l.HintKey.Attrs
	n += c.Text(r.X+n, r.Y, r.W-n, keys, style)
	return paint.Cursor{X: min(r.X+n, r.X+r.W-1), Y: r.Y, Visible: true, Default: true}
}
