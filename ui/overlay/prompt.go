package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Asking is what a prompt asks for. Only Label and Done are required.
type Asking struct {
	Label string
	Past  []string // earlier texts for up and down, the newest last
	// Changed is called with the text after each change, and returns a note to show.
	Changed func(text string) string
	// Step goes to the next match, with reverse in the opposite direction, and returns a note to
	// show.
	Step func(reverse bool) string
	// Done is called with the text if it was accepted; ok is false if not.
	Done func(text string, ok bool)
}

// Prompt asks for a line of text on the last row of the area.
type Prompt struct {
	Asking
	line editor.Text
	at   int // index in Past; its length for the typed text
	note string
}

// NewPrompt makes a prompt with an initial text. accept is called on Enter.
func NewPrompt(label, text string, accept func(text string)) *Prompt {
	p := NewSearch(Asking{Label: label, Done: func(text string, ok bool) {
		if ok {
			accept(text)
		}
	}})
	p.line = editor.Line(text)
	return p
}

func NewSearch(a Asking) *Prompt { return &Prompt{Asking: a, at: len(a.Past), line: editor.Line("")} }

func (p *Prompt) Key(k tea.Key) bool {
	s, was := editor.Stroke(k), p.line.String()
	switch {
	case s == "esc", s == "ctrl+c", s == "ctrl+g", p.Step != nil && was == "" && (s == "backspace" || s == "ctrl+h"):
		p.Done("", false)
		return true
	case s == "enter":
		p.Done(was, true)
		return true
	case p.Step != nil && (s == "ctrl+s" || s == "ctrl+n"):
		p.note = p.Step(false)
	case p.Step != nil && (s == "ctrl+r" || s == "ctrl+p"):
		p.note = p.Step(true)
	case s == "up" && p.at > 0:
		p.recall(p.at - 1)
	case s == "down" && p.at < len(p.Past):
		p.recall(p.at + 1)
	default:
		if p.line.Key(k); p.line.String() != was {
			p.changed()
		}
	}
	return false
}

func (p *Prompt) changed() {
	if p.Changed != nil {
		p.note = p.Changed(p.line.String())
	}
}

// recall shows the text of Past with an index.
func (p *Prompt) recall(at int) {
	text := ""
	if p.at = at; at < len(p.Past) {
		text = p.Past[at]
	}
	p.line = editor.Line(text)
	p.changed()
}

func (p *Prompt) Paste(text string) {
	p.line.Insert(text)
	p.changed()
}

func (p *Prompt) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	r := paint.Rect{X: area.X, Y: area.Y + area.H - 1, W: area.W, H: 1}
	c.Fill(r, ' ', l.Hint)
	x := r.X + c.Text(r.X, r.Y, r.W, " "+paint.Cut(p.Label, area.W/2, l.Ellipsis)+" ", l.HintKey)
	room := r.X + r.W - x
	note := paint.Cut(p.note, room/2, l.Ellipsis)
	if w := paint.Width(note); w > 0 {
		c.Text(r.X+r.W-w-1, r.Y, w, note, l.HintKey)
		room -= w + 2
	}
	text, at := p.line.Window(room - 1)
	c.Text(x, r.Y, room, text, l.Hint)
	return paint.Cursor{X: x + at, Y: r.Y, Visible: true, Default: true}
}

// Waiting shows on the last row of the area what is in progress.
type Waiting struct {
	text string
	stop func()
}

// NewWaiting makes a Waiting. stop is called if the person cancels it.
func NewWaiting(text string, stop func()) *Waiting { return &Waiting{text, stop} }

// Key implements Overlay: Esc, ctrl+c and ctrl+g stop it; other keys do nothing.
func (w *Waiting) Key(k tea.Key) bool {
	switch editor.Stroke(k) {
	case "esc", "ctrl+c", "ctrl+g":
		w.stop()
		return true
	}
	return false
}

func (w *Waiting) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	const keys = " esc stop "
	r := paint.Rect{X: area.X, Y: area.Y + area.H - 1, W: area.W, H: 1}
	c.Fill(r, ' ', l.Hint)
	c.Text(r.X, r.Y, r.W, " "+paint.Cut(w.text, r.W-len(keys)-2, l.Ellipsis), l.HintKey)
	c.Text(max(r.X, r.X+r.W-len(keys)), r.Y, len(keys), keys, l.Hint)
	return paint.Cursor{}
}

// Confirm asks a yes-no question.
type Confirm struct {
	text    string
	yes, no func()
}

// NewConfirm makes a question. yes is called if it is answered with y; else no, which may be nil.
func NewConfirm(text string, yes, no func()) *Confirm { return &Confirm{text: text, yes: yes, no: no} }

func (q *Confirm) Text() string { return q.text }

// Key implements Overlay: y is yes; n, q, Esc, Enter and ctrl+c are no; other keys do nothing.
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

func (q *Confirm) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	const keys = " y/n "
	rows := strings.Split(ansi.Wrap(q.text, max(area.W-len(keys)-1, 1), ""), "\n")
	rows = rows[:min(len(rows), max(area.H, 1))]
	r := paint.Rect{X: area.X, Y: area.Y + area.H - len(rows), W: area.W, H: len(rows)}
	c.Fill(r, ' ', l.Warn)
	n, y := 0, r.Y
	for i, row := range rows {
		y = r.Y + i
		n = c.Text(r.X, y, r.W, " "+row, l.Warn)
	}
	style := l.Warn
	style.Attrs |= l.HintKey.Attrs
	n += c.Text(r.X+n, y, r.W-n, keys, style)
	return paint.Cursor{X: min(r.X+n, r.X+r.W-1), Y: y, Visible: true, Default: true}
}
