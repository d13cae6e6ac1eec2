package overlay

import (
	tea "charm.land/bubbletea/v2"

	"tandemux/internal/approval"
	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/paint"
)

// Asked is a question of an agent and its handlers.
type Asked struct {
	Title string // who asks
	View  approval.View
	// Answer is called with the answer; the overlay closes then.
	Answer func(approval.Option)
	// Chat shows the chat that asks; nil if there is none.
	Chat func()
	// Say shows why a key does nothing.
	Say func(string)
}

// Approval asks the person whether an agent may do something. All of the question must be shown
// before it can be allowed.
type Approval struct {
	Asked
	read    *approval.Reading
	answers paint.Rect // as last drawn
	rows    []int      // the option in each row
}

func NewApproval(a Asked) *Approval {
	return &Approval{Asked: a, read: approval.NewReading(a.View)}
}

func (o *Approval) Key(k tea.Key) bool {
	s := editor.Stroke(k)
	switch s {
	case "esc", "ctrl+c", "ctrl+g", "q":
		return true
	case "up", "ctrl+p", "k":
		o.read.Move(-1, len(o.View.Options))
	case "down", "ctrl+n", "j":
		o.read.Move(1, len(o.View.Options))
	case "pgdown", "space", " ", "ctrl+f", "ctrl+d":
		o.read.Page(1)
	case "pgup", "ctrl+b", "ctrl+u":
		o.read.Page(-1)
	case "enter":
		switch {
		case !o.read.Whole():
			o.read.Page(1)
		case o.read.At >= 0:
			return o.answer(o.View.Options[o.read.At])
		default:
			o.Say("choose an answer: a key, or the arrows")
		}
	case "c":
		if o.Chat != nil {
			o.Chat()
			return true
		}
	default:
		if option, ok := o.View.Find(s); ok {
			return o.answer(option)
		}
	}
	return false
}

func (o *Approval) answer(option approval.Option) bool {
	if why := o.read.Can(option); why != "" {
		o.Say(why)
		return false
	}
	o.Answer(option)
	return true
}

func (o *Approval) Click(x, y int) bool {
	i := y - o.answers.Y
	return o.answers.Contains(x, y) && i < len(o.rows) && o.answer(o.View.Options[o.rows[i]])
}

func (o *Approval) Wheel(n int) { o.read.Scroll(n) }

func (o *Approval) Draw(c *paint.Canvas, area paint.Rect, l look.Look) paint.Cursor {
	w := max(min(100, area.W-2), 1)
	answers := o.options(w - 2)
	h := min(len(o.View.Rows(w-4))+len(answers)+2, area.H)
	footer := "esc leaves it waiting"
	if o.Chat != nil {
		footer = "c chat  " + footer
	}
	in := box(c, centred(area, w, h), o.Title, footer, l)
	f := o.read.Lay(in.W-2, in.H, len(answers))
	for i, r := range f.Rows {
		n := c.Text(in.X+1, in.Y+i, in.W-2, r.Lead, l.OverlayMuted)
		c.Text(in.X+1+n, in.Y+i, in.W-2-n, r.Text, questionStyle(r.Kind, &l))
	}
	y := in.Y + len(f.Rows)
	if !f.Options {
		more := l.Ellipsis + " " + f.More()
		c.Text(in.X+1, y, in.W-2, paint.Cut(more, in.W-2, l.Ellipsis), l.OverlayAccent)
		return paint.Cursor{}
	}
	o.answers, o.rows = paint.Rect{X: in.X, Y: y, W: in.W, H: in.Y + in.H - y}, nil
	from := 0
	for i, a := range answers {
		if a.option == o.read.At && i >= o.answers.H {
			from = i - o.answers.H + 1
		}
	}
	for _, a := range answers[from:min(from+o.answers.H, len(answers))] {
		style := l.Overlay
		if a.option == o.read.At {
			style = l.Selected
		}
		row := paint.Rect{X: in.X, Y: y + len(o.rows), W: in.W, H: 1}
		c.Fill(row, ' ', style)
		n := c.Text(row.X+1, row.Y, row.W-2, a.key, style)
		c.Text(row.X+1+n, row.Y, row.W-2-n, a.text, style)
		o.rows = append(o.rows, a.option)
	}
	return paint.Cursor{}
}

type answerRow struct {
	option    int
	key, text string
}

// options lays out the answers in rows of w cells.
func (o *Approval) options(w int) []answerRow {
	var out []answerRow
	for i, a := range o.View.Options {
		key := a.Key + "  "
		for _, text := range approval.Wrap(a.Text(), w-2-len(key), w-2-len(key)) {
			out = append(out, answerRow{i, key, text})
			key = "   "
		}
	}
	return out
}

func questionStyle(k approval.Kind, l *look.Look) look.Style {
	s := l.Overlay
	switch k {
	case approval.Asked, approval.Warning:
		s = l.OverlayAccent
	case approval.Detail:
		s = l.OverlayMuted
	case approval.Added:
		s = l.MarkPassed
	case approval.Removed:
		s = l.MarkFailed
	}
	s.BG = l.Overlay.BG
	return s
}
