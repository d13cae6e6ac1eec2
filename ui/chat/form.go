package chat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/editor"
	"tandemux/ui/markup"
	"tandemux/ui/transcript"
	"tandemux/ui/words"
)

// form is an input request that is being answered.
type form struct {
	id     string
	since  time.Time // when it was first drawn
	q      ahp.InputRequest
	fields []field
	at     int    // index of the field with the cursor, then "send", then "decline"
	wrong  string // why it could not be sent
}

type field struct {
	ahp.Question
	edit   editor.Text
	yes    bool
	chosen []bool // for each option, whether it is chosen
	cursor int    // index of the option with the cursor
	given  bool
}

// newForm makes a form of a request, with the answers in it.
func newForm(q ahp.InputRequest) form {
	f := form{id: q.ID, q: q}
	for _, k := range q.Questions {
		d := field{Question: k, chosen: make([]bool, len(k.Options))}
		d.take(q.Answers[k.ID])
		f.fields = append(f.fields, d)
	}
	return f
}

// learn takes another client's draft answers to the questions that this client has not answered.
func (f *form) learn(q ahp.InputRequest) {
	f.q = q
	for i := range f.fields {
		if d := &f.fields[i]; !d.given {
			d.take(q.Answers[d.ID])
		}
	}
}

func (d *field) take(raw json.RawMessage) {
	g, ok := transcript.GivenIn(raw)
	if !ok {
		return
	}
	if d.yes = g.Yes; d.edit.String() != g.Text {
		d.edit.Set(g.Text)
	}
	for i, o := range d.Options {
		d.chosen[i] = slices.Contains(g.Options, o.ID)
	}
}

// answer returns the field's value. ok is false if it has none; why then says what is wrong with
// the text, if anything.
func (d *field) answer() (a ahp.Answer, ok bool, why string) {
	value := func(kind string, v any) ahp.Answer {
		b, _ := json.Marshal(v)
		return ahp.Answer{State: ahp.AnswerSubmitted, Value: &ahp.AnswerValue{Kind: kind, Value: b}}
	}
	text := strings.TrimSpace(d.edit.String())
	switch d.Kind {
	case "boolean":
		return value("boolean", d.yes), true, ""
	case "number", "integer":
		if text == "" {
			return a, false, ""
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || d.Kind == "integer" && n != float64(int64(n)) {
			return a, false, transcript.QuestionTitle(d.Question) + ": a number is wanted"
		}
		return value("number", n), true, ""
	case "single-select", "multi-select":
		var ids []string
		for i, o := range d.Options {
			if d.chosen[i] {
				ids = append(ids, o.ID)
			}
		}
		if len(ids) == 0 {
			return a, false, ""
		}
		if d.Kind == "single-select" {
			return value("selected", ids[0]), true, ""
		}
		return value("selected-many", ids), true, ""
	}
	if text == "" {
		return a, false, ""
	}
	return value("text", d.edit.String()), true, ""
}

// rows is the number of places of the cursor: fields, "send" and "decline".
func (f *form) rows() int { return len(f.fields) + 2 }

// field returns the field with the cursor, nil on "send" and "decline".
func (f *form) field() *field {
	if f.at < len(f.fields) {
		return &f.fields[f.at]
	}
	return nil
}

// answers returns the answers of all fields. ok is false if one is missing or wrong; the cursor
// then moves to it.
func (f *form) answers() (all map[string]json.RawMessage, ok bool) {
	all = map[string]json.RawMessage{}
	for i := range f.fields {
		d := &f.fields[i]
		v, ok, why := d.answer()
		if why == "" && !ok && d.Required {
			why = transcript.QuestionTitle(d.Question) + " needs an answer"
		}
		if why != "" {
			f.wrong, f.at = why, i
			return nil, false
		}
		if ok {
			all[d.ID], _ = json.Marshal(v)
		}
	}
	return all, true
}

// key takes an unbound key. It reports whether the key acts as enter.
func (f *form) key(k tea.Key, stroke string) (enter bool) {
	blank := stroke == "space" || stroke == " "
	d := f.field()
	if d == nil {
		switch stroke {
		case "left", "up":
			f.at--
		case "right", "down":
			f.at = min(f.at+1, f.rows()-1)
		}
		return blank
	}
	f.wrong = ""
	switch d.Kind {
	case "boolean":
		switch {
		case blank, stroke == "left", stroke == "right":
			d.yes, d.given = !d.yes, true
		case stroke == "y", stroke == "n":
			d.yes, d.given = stroke == "y", true
		}
	case "single-select", "multi-select":
		if n, err := strconv.Atoi(stroke); err == nil && n >= 1 && n <= len(d.Options) {
			d.cursor = n - 1
			d.choose()
		} else if blank {
			d.choose()
		}
	default:
		d.given = d.edit.Key(k) || d.given
	}
	return false
}

// choose chooses the option with the cursor, or toggles it if several may be chosen.
func (d *field) choose() {
	if d.cursor >= len(d.chosen) {
		return
	}
	d.given = true
	if d.Kind == "multi-select" {
		d.chosen[d.cursor] = !d.chosen[d.cursor]
		return
	}
	clear(d.chosen)
	d.chosen[d.cursor] = true
}

// move moves the cursor among the options of a field, and beyond them to other fields.
func (f *form) move(n int) {
	if d := f.field(); d != nil {
		if to := d.cursor + n; len(d.Options) > 0 && to >= 0 && to < len(d.Options) {
			d.cursor = to
			return
		}
	}
	f.visit(min(max(f.at+n, 0), f.rows()-1))
	if d := f.field(); d != nil && n < 0 {
		d.cursor = max(len(d.Options)-1, 0)
	}
}

// visit moves the cursor to a field.
func (f *form) visit(at int) {
	f.at = at
	if d := f.field(); d != nil {
		d.cursor = 0
	}
}

// enterForm goes to the next field, or sends the form from "send" or "decline".
func (c *Chat) enterForm() {
	f := &c.form
	a := ahp.ChatInputCompleted{RequestID: f.id, Response: ahp.InputDecline}
	switch f.at {
	case len(f.fields):
		if f.q.URL != "" {
			c.do.Link(f.q.URL)
		}
		var ok bool
		if a.Answers, ok = f.answers(); !ok {
			return
		}
		a.Response = ahp.InputAccept
	case len(f.fields) + 1:
	default:
		if d := f.field(); d.Kind == "single-select" && !d.given {
			d.choose()
		}
		f.visit(f.at + 1)
		return
	}
	if !c.do.Dispatch(a) {
		c.do.Say(true, "not sent: the host does not answer")
	}
}

// panel lays out the form in lines of w cells.
func (f *form) panel(w int, active bool, g *markup.Glyphs) panel {
	p := panel{row: -1}
	text := "The agent asks"
	if m := f.q.Message; m != nil && m.Text != "" {
		text = m.Text
	}
	p.add(-1, markup.Wrap([]markup.Run{{Text: words.Lines(text), Role: markup.Warned, Attr: markup.Bold}}, w, markup.Margin{})...)
	if f.q.URL != "" {
		p.add(-1, markup.Wrap([]markup.Run{{Text: words.Line(f.q.URL), Role: markup.LinkText, Link: markup.Address([]byte(words.Line(f.q.URL)))}}, w, markup.Margin{})...)
	}
	for i := range f.fields {
		d := &f.fields[i]
		here := active && f.at == i
		title := []markup.Run{{Text: transcript.QuestionTitle(d.Question), Attr: markup.Bold}}
		if d.Required {
			title = append(title, markup.Run{Text: " *", Role: markup.Warned})
		}
		if m := words.Line(d.Message); m != "" && m != transcript.QuestionTitle(d.Question) {
			title = append(title, markup.Run{Text: "  " + m, Role: markup.Muted})
		}
		p.add(i, markup.Wrap(title, w, markup.Margin{})...)
		p.field(d, here, i, w, g)
	}
	for i, name := range []string{"Send", "Decline"} {
		at := len(f.fields) + i
		r := markup.Run{Text: "[" + name + "]", Role: markup.Muted}
		if f.q.URL != "" && i == 0 {
			r.Text = "[Open and go on]"
		}
		if active && f.at == at {
			r.Role, r.Attr, p.row = markup.Accent, markup.Bold, len(p.lines)
		}
		p.cut(at, w, g.Ellipsis, r)
	}
	if f.wrong != "" {
		p.cut(-1, w, g.Ellipsis, markup.Run{Text: words.Line(f.wrong), Role: markup.Failed})
	}
	return p
}

// field lays out the input of a field.
func (p *panel) field(d *field, here bool, at, w int, g *markup.Glyphs) {
	mark := func(on bool) markup.Run {
		if on {
			return markup.Run{Text: g.Checked + " ", Role: markup.Passed}
		}
		return markup.Run{Text: g.Box + " ", Role: markup.Muted}
	}
	put := func(cursor bool, r ...markup.Run) {
		lead := "  "
		if cursor && here {
			lead = g.Prompt + " "
			p.row = len(p.lines)
		}
		p.cut(at, w, g.Ellipsis, markup.Join([]markup.Run{{Text: lead, Role: markup.Accent}}, r)...)
	}
	switch d.Kind {
	case "boolean":
		put(true, mark(d.yes), markup.Run{Text: map[bool]string{true: "yes", false: "no"}[d.yes]})
	case "single-select", "multi-select":
		for i, o := range d.Options {
			r := []markup.Run{mark(d.chosen[i]), {Text: fmt.Sprintf("%d ", i+1), Role: markup.Muted}, {Text: words.Line(o.Label)}}
			if o.Description != "" {
				r = append(r, markup.Run{Text: "  " + words.Line(o.Description), Role: markup.Muted})
			}
			put(i == d.cursor, r...)
		}
	default:
		text, x := d.edit.Window(max(w-3, 1))
		put(true, markup.Run{Text: text, Attr: markup.Underline})
		if here {
			p.x = 2 + x
		}
	}
}
