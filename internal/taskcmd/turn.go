package taskcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/host/task"
	"tandemux/host/task/api"
	"tandemux/host/task/question"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

// saying are the flags of what is sent: a text, or data.
type saying struct {
	Data json.RawMessage `flag:"data" doc:"A JSON value in place of a text"`
}

// content is what an event or a message says.
func (o *saying) content(cmd *cobra.Command, words []string, message string) ([]store.Part, error) {
	switch {
	case len(o.Data) > 0 && (message != "" || len(words) > 0):
		return nil, cli.Usagef("an event is a text or --data, not both")
	case len(o.Data) > 0:
		return []store.Part{store.DataPart(o.Data)}, nil
	case message != "" && len(words) > 0:
		return nil, cli.Usagef("give the text once: after the id, or with -m")
	case message != "":
		words = []string{message}
	}
	text, err := cli.Text(words, cmd.InOrStdin(), "what is to be said?")
	return []store.Part{store.TextPart(text)}, err
}

// post sends content to a task.
func post[T any](c *call, op, id string, content []store.Part) (v T, err error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return v, err
	}
	return Ask[T](c.Client, op, api.NewContent{Content: raw}, id)
}

func newTaskSend() *cobra.Command {
	var in struct {
		saying
		Message string `flag:"message,m" doc:"The text"`
		waiting
	}
	return verb("send TASK [TEXT...]", `Send an event to a task
It is a text, or with --data a JSON value, and waits until those before it have ended.
Without text, or with -, it is read from standard input.

  tandemux task send claude-7k2m "and now the tests" --wait
  git diff | tandemux task send claude-7k2m -
  tandemux task send worker --data '{"issue": 12}'`, &in, func(c *call, args []string) error {
		if err := in.check(); err != nil {
			return err
		}
		content, err := in.content(c.Command, args[1:], in.Message)
		if err != nil {
			return err
		}
		e, err := post[store.Event](c, "sendEvent", args[0], content)
		switch {
		case err != nil:
			return err
		case in.Wait:
			return in.follow(c, args[0], e.ID)
		}
		return show(c, e, e.ID)
	}, cli.One[store.Event](), cli.Stream[task.Part]())
}

// printer prints a task's stream: what the agent says on stdout, what it does on
// stderr.
type printer struct {
	c    *call
	line bool // the last line of stdout has no end
	any  bool // something was said in the turn
	// people says that it prints for people only: with --json the command prints something else.
	people bool
	who    person
}

func newPrinter(c *call, id string) *printer {
	return &printer{c: c, who: person{c: c, task: id}}
}

func (p *printer) print(e apiclient.Event, part task.Part) error {
	p.who.mu.Lock()
	defer p.who.mu.Unlock()
	if cli.AsJSON(p.c.Command) {
		if p.people {
			return nil
		}
		return cli.PrintLine[task.Part](p.c.Command, json.RawMessage(e.Data))
	}
	title := cli.Short(part.ToolName)
	if part.Metadata != nil && part.Metadata.Title != "" {
		title = cli.Short(strings.Join(strings.Fields(part.Metadata.Title), " "))
	}
	switch part.Type {
	case "start":
		p.any = false
	case "text-start":
		if p.line {
			p.say("\n")
		}
		if p.any {
			p.say("\n")
		}
	case "text-delta":
		p.any = true
		p.say(part.Text)
	case "tool-call":
		p.note("· %s", title)
	case "tool-result":
		var out struct {
			Error     string `json:"error"`
			Cancelled bool   `json:"cancelled"`
		}
		json.Unmarshal(part.Output, &out) //nolint:errcheck // then it went well
		mark := "✓"
		if out.Error != "" || out.Cancelled {
			mark = "✗"
		}
		p.note("%s %s", mark, title)
	case "error":
		p.note("error: %s", cli.Line(part.Error))
	case "question":
		if part.Question != nil {
			if cli.OnTerminal(p.c.Command) {
				p.end()
			}
			p.who.asks(*part.Question)
		}
	case "question-end":
		if part.ID != p.who.mine && slices.ContainsFunc(p.who.open, func(q question.Question) bool { return q.ID == part.ID }) {
			p.who.c.note("(answered elsewhere, or no longer asked)")
		}
		p.who.drop(part.ID)
	case "finish":
		p.end()
	}
	return nil
}

func (p *printer) say(text string) {
	if text != "" {
		p.line = !strings.HasSuffix(text, "\n")
		fmt.Fprint(p.c.OutOrStdout(), text)
	}
}

// note says something on stderr, below what stdout has where both are a terminal's.
func (p *printer) note(format string, args ...any) {
	if f, is := cli.Raw(p.c.OutOrStdout()).(*os.File); is && term.IsTerminal(int(f.Fd())) {
		p.end()
	}
	p.c.note(format, args...)
}

// end ends the line of stdout.
func (p *printer) end() {
	if p.line {
		p.say("\n")
	}
}

func stream(ctx context.Context, c *call, id string, q api.StreamQuery, each func(apiclient.Event, task.Part) error) error {
	if err := c.connect(); err != nil {
		return err
	}
	return c.place.ExplainAPI(c.api.Stream(ctx, Request("streamTask", q, id), func(e apiclient.Event) error {
		var part task.Part
		if err := json.Unmarshal([]byte(e.Data), &part); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		return each(e, part)
	}))
}

// waiting is whether and how long a command waits for the end of a turn.
type waiting struct {
	Wait    bool          `flag:"wait" doc:"Print what the agent says, with --json as lines of the stream, and exit when the turn has ended: 0 if it went well, else 1"`
	Timeout time.Duration `flag:"timeout" doc:"With --wait: stop waiting after this long, and exit with 124"`
}

func (w *waiting) check() error {
	if w.Timeout < 0 || w.Timeout > 0 && !w.Wait {
		return cli.Usagef("--timeout is above zero, and goes with --wait")
	}
	return nil
}

// errTurnOver ends the stream once the event's turn has.
var errTurnOver = errors.New("the turn has ended")

// follow prints the turn of an event and says how it ended.
func (w *waiting) follow(c *call, id, event string) error {
	return w.print(newPrinter(c, id), id, event)
}

func (w *waiting) print(p *printer, id, event string) error {
	c, ctx := p.c, p.c.Context()
	if w.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.Timeout)
		defer cancel()
	}
	ours, failed := false, ""
	err := stream(ctx, c, id, api.StreamQuery{Follow: true}, func(e apiclient.Event, part task.Part) error {
		if part.Type == "start" {
			ours = part.ID == event
		}
		if !ours && part.Type == "finish" {
			if t, err := Ask[task.Present](c.Client, "getTask", nil, id); err == nil && t.Budget.Over != "" {
				return fmt.Errorf("%s: what was sent waits until `tandemux task budget` raises it", cli.Line(t.Budget.Reason))
			}
		}
		if !ours {
			return nil
		}
		if part.Type == "error" && !cli.AsJSON(c.Command) { // it is said once, at the end
			failed = part.Error
			return nil
		}
		if err := p.print(e, part); err != nil {
			return err
		}
		if part.Type == "finish" {
			return errTurnOver
		}
		return nil
	})
	if w.Timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return cli.StatusError{Code: cli.ExitTimeout, Err: fmt.Errorf("timed out after %v; the task goes on", w.Timeout)}
	}
	if err != nil && !errors.Is(err, errTurnOver) {
		return err
	}
	e, err := Ask[store.Event](c.Client, "getEvent", nil, event)
	switch {
	case err != nil || e.Status == store.EventDone:
		return err
	case cmp.Or(e.Reason, failed) != "":
		return errors.New(cmp.Or(e.Reason, failed))
	}
	return fmt.Errorf("the event is %s", e.Status)
}

func newTaskWatch() *cobra.Command {
	var in api.StreamQuery
	return verb("watch TASK", `Print what a task does, as it does it
It is printed from the beginning, until its turn has ended and nothing is to be done;
with --follow until the task is over. With --json each part is a line, as
docs/http.md describes them.`, &in, func(c *call, args []string) error {
		p := newPrinter(c, args[0])
		defer p.end()
		if err := stream(c.Context(), c, args[0], in, p.print); err != nil {
			return err
		}
		t, err := Ask[task.Present](c.Client, "getTask", nil, args[0])
		if err == nil && t.Status == store.FailedRun { // its stream has nothing that says so
			return fmt.Errorf("the task is %s: %s", t.Status, t.Reason)
		}
		return nil
	}, cli.Stream[task.Part]())
}

// Env names the task that a process is part of; the host sets it.
const Env = "TANDEMUX_TASK"

// inside is the flag that names a task, from outside of it.
type inside struct {
	Task string `flag:"task" doc:"The task (default: the one that this runs in)"`
}

func (o *inside) id() (string, error) {
	o.Task = cmp.Or(o.Task, os.Getenv(Env))
	if o.Task == "" {
		return "", cli.Usagef("this is not inside a task: name one with --task")
	}
	return o.Task, nil
}

func newTaskProgress() *cobra.Command {
	var in inside
	return verb("progress PERCENT|TEXT [TEXT...]", `Note how far the task is that this runs in
It is for its agent and what that starts; people see it in lists.

  tandemux task progress 40 running the tests`, &in, func(c *call, args []string) error {
		id, err := in.id()
		if err != nil {
			return err
		}
		var change api.ProgressChange
		if n, err := strconv.Atoi(strings.TrimSuffix(args[0], "%")); err == nil {
			change.Percent, args = &n, args[1:]
		}
		if text := strings.Join(args, " "); len(args) > 0 {
			change.Line = &text
		}
		return told[task.Progress](c, nil, "setProgress", change, id)
	}, cli.One[task.Progress]())
}

func newTaskSay() *cobra.Command {
	var in struct {
		inside
		saying
	}
	return verb("say [TEXT...]", `Add a message to the task that this runs in
It is for its agent and what that starts: a text, or with --data a JSON value, which is
kept with what the agent says. To say something to the agent, use send.`, &in, func(c *call, args []string) error {
		id, err := in.id()
		if err != nil {
			return err
		}
		content, err := in.content(c.Command, args, "")
		if err != nil {
			return err
		}
		m, err := post[store.Message](c, "sendMessage", id, content)
		if err != nil {
			return err
		}
		return show(c, m, m.ID)
	}, cli.One[store.Message]())
}
