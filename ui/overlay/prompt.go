package overlay

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Asking is what a prompt asks for. All but Label and Done may be left out.
type Asking struct {
	Label string
	Past  []string // what can be taken instead with up and down, the newest last
	// Changed takes the text after each change, and says how that stands.
	Changed func(text string) string
	// Step goes to the next match of the text, with reverse against the direction.
	Step func(reverse bool) string
	// Done takes the text when it is accepted, or that it was not.
	Done func(text string, ok bool)
}

// Prompt asks for a line of text on the last row of the area.
type Prompt struct {
	Asking
	line editor.Text
	at   int // in Past; its length while none of it is chosen
	note string
}

// NewPrompt gives a prompt with a text to start from; accept runs on Enter.
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

// recall takes another one of Past.
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

// Waiting says on the last row of the area what is under way, until it is closed.
type Waiting struct {
	text string
	stop func()
}

// NewWaiting gives one; stop runs when the person does not want it any more.
func NewWaiting(text string, stop func()) *Waiting { return &Waiting{text, stop} }

// Key implements Overlay: Esc and the like stop it; others do nothing.
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

// Confirm asks whether to go on.
type Confirm struct {
	text    string
	yes, no func()
}

// NewConfirm gives a question; yes runs when it is answered with y, no,
// which may be nil, otherwise.
func NewConfirm(text string, yes, no func()) *Confirm { return &Confirm{text: text, yes: yes, no: no} }

func (q *Confirm) Text() string { return q.text }

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
