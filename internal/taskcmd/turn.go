package taskcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/task"
	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

// contentOf is what an event or a message says: a text, or data.
func contentOf(cmd *cobra.Command, words []string, message, data string) ([]store.Part, error) {
	switch {
	case data != "" && (message != "" || len(words) > 0):
		return nil, cli.Usagef("an event is a text or --data, not both")
	case data != "" && !json.Valid([]byte(data)):
		return nil, cli.Usagef("--data is not JSON")
	case data != "":
		return []store.Part{store.DataPart(json.RawMessage(data))}, nil
	case message != "" && len(words) > 0:
		return nil, cli.Usagef("give the text once: after the id, or with -m")
	case message != "":
		words = []string{message}
	}
	text, err := cli.Text(words, cmd.InOrStdin(), "what is to be said?")
	return []store.Part{store.TextPart(text)}, err
}

// post sends content to a list of a task's, and decodes what it became.
func post(c *call, id, list string, content []store.Part, result any) error {
	raw, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return c.send(http.MethodPost, api.NewContent{Content: raw}, result, "tasks", id, list)
}

func sendEvent(c *call, id string, content []store.Part) (e store.Event, err error) {
	return e, post(c, id, "events", content, &e)
}

func (h Host) newTaskSend() *cobra.Command {
	var message, data string
	var turn waiting
	cmd := h.does(&cobra.Command{
		Use:   "send ID [TEXT…]",
		Short: "Send an event to a task",
		Long: `Send an event to a task: a text, or with --data a JSON value. It waits until those
before it have ended. Without text, or with -, it is read from standard input.`,
		Example: `  tandemux task send claude-7k2m "and now the tests" --wait
  git diff | tandemux task send claude-7k2m -
  tandemux task send worker --data '{"issue": 12}'`,
		Args: cobra.MinimumNArgs(1),
	}, func(c *call, args []string) error {
		if err := turn.check(); err != nil {
			return err
		}
		content, err := contentOf(c.cmd, args[1:], message, data)
		if err != nil {
			return err
		}
		e, err := sendEvent(c, args[0], content)
		switch {
		case err != nil:
			return err
		case turn.wait:
			return turn.follow(c, args[0], e.ID)
		}
		return c.print(e, "%s\n", e.ID)
	})
	f := cmd.Flags()
	f.StringVarP(&message, "message", "m", "", "the text")
	f.StringVar(&data, "data", "", "a JSON value in place of a text")
	turn.flags(cmd, "print the event as JSON; with --wait what is streamed, as JSON lines")
	return cmd
}

// streamPart is a part of a task's stream, as far as it is looked at.
type streamPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	ToolName string          `json:"toolName"`
	Output   json.RawMessage `json:"output"`
	Error    string          `json:"error"`
	Metadata struct {
		EventID string `json:"eventId"`
		Title   string `json:"title"`
	} `json:"metadata"`
}

// printer prints a task's stream: what the agent says on stdout, what it does on
// stderr.
type printer struct {
	c    *call
	line bool // the last line of stdout has no end
	any  bool // something was said in the turn
}

func (p *printer) print(e apiclient.Event, part streamPart) error {
	if cli.AsJSON(p.c.cmd) {
		_, err := fmt.Fprintln(p.c.out(), e.Data)
		return err
	}
	title := cli.Short(part.ToolName)
	if part.Metadata.Title != "" {
		title = cli.Short(strings.Join(strings.Fields(part.Metadata.Title), " "))
	}
	switch part.Type {
	case "start":
		p.any = false
	case "text-start":
		if p.any {
			p.say("\n\n")
		}
	case "text-delta":
		p.any = true
		p.say(cli.Lines(part.Text))
	case "tool-call":
		p.c.note("· %s", title)
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
		p.c.note("%s %s", mark, title)
	case "error":
		p.c.note("error: %s", cli.Line(part.Error))
	case "finish":
		p.end()
	}
	return nil
}

func (p *printer) say(text string) {
	if text != "" {
		p.line = !strings.HasSuffix(text, "\n")
		fmt.Fprint(p.c.out(), text)
	}
}

func (p *printer) end() {
	if p.line {
		p.say("\n")
	}
}

// stream reads a task's stream.
func stream(ctx context.Context, c *call, id string, query url.Values, each func(apiclient.Event, streamPart) error) error {
	client, err := c.api()
	if err != nil {
		return err
	}
	return client.Stream(ctx, apiclient.Path("tasks", id, "stream"), query, "", func(e apiclient.Event) error {
		var part streamPart
		if err := json.Unmarshal([]byte(e.Data), &part); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
		return each(e, part)
	})
}

// waiting is whether and how long a command waits for the end of a turn.
type waiting struct {
	wait    bool
	timeout time.Duration
}

func (w *waiting) flags(cmd *cobra.Command, asJSON string) {
	f := cmd.Flags()
	f.BoolVar(&w.wait, "wait", false, "print what the agent says, and exit when the turn has ended: 0 if it went well, else 1")
	f.DurationVar(&w.timeout, "timeout", 0, "with --wait: stop waiting after this long, and exit with 124")
	f.Bool("json", false, asJSON)
}

func (w *waiting) check() error {
	if w.timeout < 0 || w.timeout > 0 && !w.wait {
		return cli.Usagef("--timeout is above zero, and goes with --wait")
	}
	return nil
}

// errTurnOver ends the stream once the event's turn has.
var errTurnOver = errors.New("the turn has ended")

// follow prints the turn of an event and says how it ended.
func (w *waiting) follow(c *call, id, event string) error {
	ctx := c.ctx()
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	p := &printer{c: c}
	ours := false
	err := stream(ctx, c, id, url.Values{"follow": {"true"}}, func(e apiclient.Event, part streamPart) error {
		if part.Type == "start" {
			ours = part.Metadata.EventID == event
		}
		if !ours {
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
	if w.timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return cli.StatusError{Code: cli.ExitTimeout, Err: fmt.Errorf("timed out after %v; the task goes on", w.timeout)}
	}
	if err != nil && !errors.Is(err, errTurnOver) {
		return err
	}
	var e store.Event
	if err := c.get(&e, "events", event); err != nil {
		return err
	}
	switch {
	case e.Status == store.EventDone:
		return nil
	case e.Reason != "":
		return errors.New(e.Reason)
	}
	return fmt.Errorf("the event is %s", e.Status)
}

func (h Host) newTaskWatch() *cobra.Command {
	var follow bool
	var after string
	cmd := h.does(&cobra.Command{
		Use:   "watch ID",
		Short: "Print what a task does, as it does it",
		Long: `Print what a task does, from the beginning, until its turn has ended and nothing is
to be done; with --follow until the task is over. With --json each part is a line, as
docs/tasks.md describes them.`,
		Args: cobra.ExactArgs(1),
	}, func(c *call, args []string) error {
		query := set(map[string]string{"after": after})
		if follow {
			query.Set("follow", "true")
		}
		p := &printer{c: c}
		defer p.end()
		return stream(c.ctx(), c, args[0], query, p.print)
	})
	cmd.Flags().BoolVar(&follow, "follow", false, "go on until the task is over")
	cmd.Flags().StringVar(&after, "after", "", "begin behind this event of the stream, or with what comes next: now")
	cmd.Flags().Bool("json", false, "print JSON lines")
	return cmd
}

// Env names the task that a process is part of; the host sets it.
const Env = "TANDEMUX_TASK"

// inTask gives a command --task, and its work the task that this runs in or that is
// named.
func (h Host) inTask(cmd *cobra.Command, work func(c *call, id string, args []string) error) *cobra.Command {
	var id string
	h.asJSON(cmd, func(c *call, args []string) error {
		if id == "" {
			id = os.Getenv(Env)
		}
		if id == "" {
			return cli.Usagef("this is not inside a task: name one with --task")
		}
		return work(c, id, args)
	})
	cmd.Flags().StringVar(&id, "task", "", "the task (default: the one that this runs in)")
	return cmd
}

func (h Host) newTaskProgress() *cobra.Command {
	return h.inTask(&cobra.Command{
		Use:     "progress [PERCENT] [TEXT…]",
		Short:   "Note how far the task is that this runs in",
		Long:    `Note how far the task is that this runs in, for its agent and what that starts. People see it in lists.`,
		Example: `  tandemux task progress 40 running the tests`,
		Args:    cobra.MinimumNArgs(1),
	}, func(c *call, id string, args []string) error {
		var in api.ProgressChange
		if n, err := strconv.Atoi(strings.TrimSuffix(args[0], "%")); err == nil {
			in.Percent, args = &n, args[1:]
		}
		if text := strings.Join(args, " "); len(args) > 0 {
			in.Line = &text
		}
		var got task.Progress
		if err := c.send(http.MethodPut, in, &got, "tasks", id, "progress"); err != nil {
			return err
		}
		return c.print(got, "")
	})
}

func (h Host) newTaskSay() *cobra.Command {
	var data string
	cmd := h.inTask(&cobra.Command{
		Use:   "say [TEXT…]",
		Short: "Add a message to the task that this runs in",
		Long: `Add a message to the task that this runs in, for its agent and what that starts: a
text, or with --data a JSON value. It is kept with what the agent says. To say
something to the agent, use send.`,
	}, func(c *call, id string, args []string) error {
		content, err := contentOf(c.cmd, args, "", data)
		if err != nil {
			return err
		}
		var m store.Message
		if err := post(c, id, "messages", content, &m); err != nil {
			return err
		}
		return c.print(m, "%s\n", m.ID)
	})
	cmd.Flags().StringVar(&data, "data", "", "a JSON value in place of a text")
	return cmd
}
