package chat

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/ui/editor"
	"tandemux/ui/words"
)

// form is an input request that is being answered.
type form struct {
	id     string
	since  time.Time // when it was first drawn
	q      ahp.InputRequest
	fields []field
	at     int    // the field, then "send", then "decline"
	wrong  string // why it was not sent
}

// field is a question.
type field struct {
	ahp.Question
	edit   editor.Text
	yes    bool
	chosen []bool // of its options
	cursor int    // the option that the cursor is on
	given  bool
}

// newForm makes a form of a request, with the answers that it has.
func newForm(q ahp.InputRequest) form {
	f := form{id: q.ID, q: q}
	for _, k := range q.Questions {
		d := field{Question: k, chosen: make([]bool, len(k.Options))}
		d.take(q.Answers[k.ID])
		f.fields = append(f.fields, d)
	}
	return f
}

// learn takes answers that another client drafted to questions that this one has
// not touched.
func (f *form) learn(q ahp.InputRequest) {
	f.q = q
	for i := range f.fields {
		if d := &f.fields[i]; !d.given {
			d.take(q.Answers[d.ID])
		}
	}
}

// take shows an answer.
func (d *field) take(raw json.RawMessage) {
	var a ahp.Answer
	if len(raw) == 0 || ahp.Unmarshal(raw, &a) != nil || a.Value == nil {
		return
	}
	var one string
	var many []string
	switch a.Value.Kind {
	case "boolean":
		json.Unmarshal(a.Value.Value, &d.yes) //nolint:errcheck // then it is false
		return
	case "selected-many":
		json.Unmarshal(a.Value.Value, &many) //nolint:errcheck // then there are none
	case "selected":
		if json.Unmarshal(a.Value.Value, &one) == nil {
			many = []string{one}
		}
	case "number":
		d.edit.Set(string(a.Value.Value))
	default:
		if json.Unmarshal(a.Value.Value, &one) == nil {
			d.edit.Set(one)
		}
	}
	for i, o := range d.Options {
		d.chosen[i] = slices.Contains(many, o.ID)
	}
}

// answer is the field's value; ok is false when it has none, why says that what
// was typed is none.
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
			return a, false, questionTitle(d.Question) + ": a number is wanted"
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

// questionTitle names a question.
func questionTitle(q ahp.Question) string {
	for _, s := range []string{q.Title, q.Message, q.ID} {
		if s = words.Line(s); s != "" {
			return s
		}
	}
	return "Answer"
}

// answerText is an answer in words.
func answerText(q ahp.Question, raw json.RawMessage) string {
	d := field{Question: q, chosen: make([]bool, len(q.Options))}
	d.take(raw)
	switch q.Kind {
	case "boolean":
		if len(raw) == 0 {
			return ""
		}
		return map[bool]string{true: "yes", false: "no"}[d.yes]
	case "single-select", "multi-select":
		var labels []string
		for i, o := range q.Options {
			if d.chosen[i] {
				labels = append(labels, o.Label)
			}
		}
		return strings.Join(labels, ", ")
	}
	return d.edit.String()
}

// complete answers the request.
func (c *Chat) complete(response string) {
	f := &c.form
	a := ahp.ChatInputCompleted{RequestID: f.id, Response: response}
	if response == ahp.InputAccept {
		a.Answers = map[string]json.RawMessage{}
		for i := range f.fields {
			d := &f.fields[i]
			v, ok, why := d.answer()
			if why == "" && !ok && d.Required {
				why = questionTitle(d.Question) + " needs an answer"
			}
			if why != "" {
				f.wrong, f.at, c.dirty = why, i, true
				return
			}
			if ok {
				a.Answers[d.ID], _ = json.Marshal(v)
			}
		}
	}
	if !c.do.Dispatch(a) {
		c.do.Say(true, "not sent: the host does not answer")
	}
}

// rows is how many things of the form the cursor can be on.
func (f *form) rows() int { return len(f.fields) + 2 }

// formKeys are what keys do in a form; those of a field's text go to that.
func (c *Chat) formKey(k tea.Key, stroke string) {
	f := &c.form
	c.dirty = true
	if f.at >= len(f.fields) {
		switch stroke {
		case "space", " ":
			c.formEnter()
		case "left", "up":
			f.at--
		case "right", "down":
			f.at = min(f.at+1, f.rows()-1)
		}
		return
	}
	d := &f.fields[f.at]
	f.wrong = ""
	switch d.Kind {
	case "boolean":
		switch stroke {
		case "space", " ", "left", "right":
			d.yes, d.given = !d.yes, true
		case "y", "n":
			d.yes, d.given = stroke == "y", true
		}
	case "single-select", "multi-select":
		if n, err := strconv.Atoi(stroke); err == nil && n >= 1 && n <= len(d.Options) {
			d.cursor = n - 1
			d.choose()
		} else if stroke == "space" || stroke == " " {
			d.choose()
		}
	default:
		d.given = d.edit.Key(k) || d.given
	}
}

// choose takes the option that the cursor is on.
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

// formMove moves the cursor: among a field's options first.
func (c *Chat) formMove(n int) {
	f := &c.form
	c.dirty = true
	if f.at < len(f.fields) {
		d := &f.fields[f.at]
		if to := d.cursor + n; len(d.Options) > 0 && to >= 0 && to < len(d.Options) {
			d.cursor = to
			return
		}
	}
	f.at = min(max(f.at+n, 0), f.rows()-1)
	if f.at < len(f.fields) {
		d := &f.fields[f.at]
		d.cursor = 0
		if n < 0 {
			d.cursor = max(len(d.Options)-1, 0)
		}
	}
}

// formEnter goes on to the next field, and from the last one sends the form.
func (c *Chat) formEnter() {
	f := &c.form
	c.dirty = true
	switch f.at {
	case len(f.fields):
		if f.q.URL != "" {
			c.do.Link(f.q.URL)
		}
		c.complete(ahp.InputAccept)
		return
	case len(f.fields) + 1:
		c.complete(ahp.InputDecline)
		return
	}
	if d := &f.fields[f.at]; d.Kind == "single-select" && !d.given {
		d.choose()
	}
	f.at++
	if f.at < len(f.fields) {
		f.fields[f.at].cursor = 0
	}
}
