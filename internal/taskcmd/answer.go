package taskcmd

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"tandemux/host/task"
	"tandemux/host/task/question"
	"tandemux/internal/cli"
	"tandemux/internal/prompt"
)

func newTaskAnswer() *cobra.Command {
	var in struct {
		Question string          `flag:"question" value:"ID" doc:"Answer this question alone: questions in task show --json"`
		Data     json.RawMessage `flag:"data" doc:"What a question with several fields wants, as a JSON object by their ids"`
		Decline  bool            `flag:"decline" doc:"Refuse to answer a question that is no permission"`
	}
	return verb("answer TASK [ANSWER...]", `Answer what a task's agent asks
A permission is answered with yes, which is for this once, no, or one of the options that
the question has; another question with its text. All but no needs --question, as the
agent may ask for something else by now. Without an answer it is asked here.

  tandemux task answer fixer
  tandemux task answer fixer yes --question q_7fzk2m
  tandemux task answer fixer --question q_7fzk2m --data '{"port": 8080}'`, &in, func(c *call, args []string) error {
		a := question.Answer{QuestionID: in.Question, Answer: strings.Join(args[1:], " "), Decline: in.Decline}
		if len(in.Data) > 0 && json.Unmarshal(in.Data, &a.Values) != nil {
			return cli.Usagef("--data is a JSON object: {\"field\": value}")
		}
		t, err := Ask[task.Present](c.Client, "getTask", nil, args[0])
		if err != nil {
			return err
		}
		given := a.Answer != "" || a.Decline || a.Values != nil
		if !given && cli.OnTerminal(c.Command) && !cli.AsJSON(c.Command) {
			return answerHere(c, t, in.Question)
		}
		q, err := chooseQuestion(c, t, in.Question)
		if err != nil {
			return err
		}
		switch {
		case !given:
			tellQuestion(c, t.Name, q)
			return cli.Usagef("nobody is here to ask: give the answer")
		case in.Question == "" && !a.Decline && a.Answer != "no":
			tellQuestion(c, t.Name, q)
			return cli.Usagef("not answered yet: if this is what you mean, say it again with --question %s", q.ID)
		}
		a.QuestionID = q.ID
		return told(c, func(a task.Answered) string { return cli.Short(a.Answer) }, "answerTask", a, t.ID)
	}, cli.One[task.Answered]())
}

// chooseQuestion is the question of a task that an id means, or its only one.
func chooseQuestion(c *call, t task.Present, id string) (q question.Question, err error) {
	i := slices.IndexFunc(t.Questions, func(q question.Question) bool { return q.ID == id })
	switch {
	case len(t.Questions) == 0:
		return q, fmt.Errorf("%s asks nothing: it is %s", cli.Short(t.Name), t.Status)
	case id == "" && len(t.Questions) == 1:
		i = 0
	case id == "":
		for _, q := range t.Questions {
			tellQuestion(c, t.Name, q)
		}
		return q, cli.Usagef("%s asks %d questions: name one with --question", cli.Short(t.Name), len(t.Questions))
	case i < 0:
		return q, fmt.Errorf("the question %s is no longer asked, or not in these words", id)
	}
	return t.Questions[i], nil
}

// tellQuestion prints a question and how it is answered on stderr.
func tellQuestion(c *call, name string, q question.Question) {
	for _, l := range questionLines(name, q) {
		c.note("%s", l)
	}
}

// questionLines are a question and how it is answered.
func questionLines(name string, q question.Question) (lines []string) {
	for _, r := range q.View().Rows(1 << 16) {
		lines = append(lines, "? "+r.Lead+r.Text)
	}
	var words []string
	for _, o := range q.Options {
		words = append(words, fmt.Sprintf("%s (%s)", cli.Short(cmp.Or(o.ID, o.Key)), o.Label))
	}
	for _, f := range q.Fields {
		words = append(words, cli.Short(f.ID)+" ("+f.Kind+")")
	}
	if len(words) > 0 {
		lines = append(lines, "  "+strings.Join(words, ", "))
	}
	how := "yes"
	switch {
	case q.Kind == question.AsksLogin:
		return append(lines, "  it is answered in the task's chat")
	case len(q.Fields) > 1:
		how = "--data JSON"
	case len(q.Fields) == 1:
		how = "TEXT"
	}
	return append(lines, fmt.Sprintf("  waiting for an answer: `tandemux task answer %s %s --question %s`", cli.Short(name), how, q.ID))
}

// answerHere asks the person here, question after question, or the one with an id.
func answerHere(c *call, t task.Present, id string) error {
	asked := t.Questions
	if id != "" || len(asked) == 0 {
		q, err := chooseQuestion(c, t, id)
		if err != nil {
			return err
		}
		asked = []question.Question{q}
	}
	prompt.DropTyped(os.Stdin) // what was typed before the question doesn't answer it
	lines := bufio.NewScanner(c.InOrStdin())
	for _, q := range asked {
		if q.Kind == question.AsksLogin {
			tellQuestion(c, t.Name, q)
			continue
		}
		for at := beginAsking(c.ErrOrStderr(), q); ; {
			if !lines.Scan() {
				return errors.New("not answered: the input has ended")
			}
			a, ok := at.line(lines.Text())
			if !ok {
				continue
			}
			_, err := Ask[task.Answered](c.Client, "answerTask", a, t.ID)
			if hasStatus(err, 422) {
				c.note("  %v", err)
				at = beginAsking(c.ErrOrStderr(), q)
				continue
			}
			if err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// asking is a question that is put to the person here, line by line.
type asking struct {
	q      question.Question
	out    io.Writer
	asker  *prompt.Asker // of a permission
	values map[string]json.RawMessage
	field  int // that is asked for
}

func beginAsking(out io.Writer, q question.Question) *asking {
	a := &asking{q: q, out: out, values: map[string]json.RawMessage{}}
	if q.Kind == question.AsksPermission {
		a.asker = prompt.Ask(out, q.View())
		return a
	}
	for _, l := range q.Lines {
		fmt.Fprintln(out, "  "+l.Text)
	}
	if q.URL != "" {
		fmt.Fprintln(out, "  "+q.URL)
	}
	a.next()
	return a
}

// next asks for a field.
func (a *asking) next() {
	if len(a.q.Fields) == 0 {
		fmt.Fprint(a.out, "  yes, no? ")
		return
	}
	f := a.q.Fields[a.field]
	for _, o := range f.Options {
		fmt.Fprintf(a.out, "  %s  %s\n", cli.Short(o.ID), o.Label)
	}
	what := cmp.Or(f.Text, f.Title, cli.Short(f.ID))
	if !f.Required {
		what += " (enter: nothing)"
	}
	fmt.Fprintf(a.out, "  %s: ", what)
}

// line takes a line that was typed; ok is false until there is an answer.
func (a *asking) line(text string) (answer question.Answer, ok bool) {
	answer.QuestionID = a.q.ID
	if a.asker != nil {
		o, ok := a.asker.Answer(text)
		answer.Answer = cmp.Or(o.ID, o.Key)
		return answer, ok
	}
	text = strings.TrimSpace(text)
	if len(a.q.Fields) == 0 {
		if text != "yes" && text != "no" {
			a.next()
			return answer, false
		}
		answer.Answer = text
		return answer, true
	}
	f := a.q.Fields[a.field]
	switch {
	case text != "":
		a.values[f.ID], _ = json.Marshal(text) //nolint:errcheck // a text is encodable
	case f.Required:
		a.next()
		return answer, false
	}
	if a.field++; a.field < len(a.q.Fields) {
		a.next()
		return answer, false
	}
	answer.Values, answer.Decline = a.values, len(a.values) == 0
	return answer, true
}

// person is whoever is at the terminal while a task's stream is printed: what is asked
// meanwhile is asked of them.
type person struct {
	c    *call
	task string

	mu      sync.Mutex // guards what follows, and what is printed
	open    []question.Question
	now     *asking
	mine    string // the question that was answered here last
	reading bool
}

// asks takes a question of the stream. One that was answered long ago is only told.
func (p *person) asks(q question.Question) {
	t, err := Ask[task.Present](p.c.Client, "getTask", nil, p.task)
	if err != nil || !slices.ContainsFunc(t.Questions, func(o question.Question) bool { return o.ID == q.ID }) {
		p.c.note("? %s", q.Title)
		return
	}
	if !cli.OnTerminal(p.c.Command) || q.Kind == question.AsksLogin {
		tellQuestion(p.c, t.Name, q)
		return
	}
	p.open = append(p.open, q)
	p.next()
}

// next puts the next question, if none is put.
func (p *person) next() {
	if p.now != nil || len(p.open) == 0 {
		return
	}
	p.c.note("?")
	if !p.reading {
		p.reading = true
		prompt.DropTyped(os.Stdin)
		go func() {
			for in := bufio.NewScanner(p.c.InOrStdin()); in.Scan(); {
				p.typed(in.Text())
			}
		}()
	}
	p.now = beginAsking(p.c.ErrOrStderr(), p.open[0])
}

// typed takes a line from the terminal.
func (p *person) typed(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		return
	}
	a, ok := p.now.line(line)
	if !ok {
		return
	}
	_, err := Ask[task.Answered](p.c.Client, "answerTask", a, p.task)
	if hasStatus(err, 422) {
		p.c.note("  %v", err)
		p.now = beginAsking(p.c.ErrOrStderr(), p.now.q)
		return
	}
	if err != nil {
		p.c.note("  %v", err)
	}
	p.mine = a.QuestionID
	p.drop(a.QuestionID)
}

func (p *person) drop(id string) {
	p.open = slices.DeleteFunc(p.open, func(q question.Question) bool { return q.ID == id })
	if p.now != nil && p.now.q.ID == id {
		p.now = nil
		p.next()
	}
}
