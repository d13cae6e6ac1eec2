package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/internal/apiclient"
)

// eventPart is a part of an event or a message.
type eventPart struct {
	Type string          `json:"type"`
	Text string          `json:"text,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

type eventRow struct {
	ID      string      `json:"id"`
	Content []eventPart `json:"content"`
	Status  string      `json:"status"`
	Reason  string      `json:"reason,omitempty"`
	Author  string      `json:"author"`
	Created time.Time   `json:"created_at"`
}

type messageRow struct {
	ID      string      `json:"id"`
	Author  string      `json:"author"`
	Content []eventPart `json:"content"`
	Created time.Time   `json:"created_at"`
}

func partsText(parts []eventPart) string {
	var all []string
	for _, p := range parts {
		if p.Type == "data" {
			all = append(all, string(p.Data))
		} else {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

func sendEvent(ctx context.Context, c *apiclient.Client, task string, content []eventPart) (eventRow, error) {
	var e eventRow
	_, err := c.Do(ctx, apiclient.Request{
		Method: http.MethodPost, Path: "/tasks/" + apiclient.Segment(task) + "/events", Body: map[string]any{"content": content},
	}, &e)
	return e, err
}

func newTaskSendCommand() *cobra.Command {
	var message, data string
	var wait, asJSON bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "send ID [TEXT…]",
		Short: "Send an event to a task",
		Long: `Send an event to a task: a text, or with --data a JSON value. It waits until those
before it have ended. Without text, or with -, it is read from standard input.`,
		Example: `  tandemux task send claude-7k2m "and now the tests" --wait
  git diff | tandemux task send claude-7k2m -
  tandemux task send worker --data '{"issue": 12}'`,
		Args: cobra.MinimumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			if timeout < 0 || timeout > 0 && !wait {
				return usagef("--timeout is above zero, and goes with --wait")
			}
			content, err := eventContent(cmd, args[1:], message, data)
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				e, err := sendEvent(ctx, c, args[0], content)
				switch {
				case err != nil:
					return err
				case wait:
					return waitFor(ctx, cmd, c, args[0], e.ID, timeout, asJSON)
				case asJSON:
					return printJSON(cmd.OutOrStdout(), e)
				}
				fmt.Fprintln(cmd.OutOrStdout(), e.ID)
				return nil
			})
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&message, "message", "m", "", "the text")
	f.StringVar(&data, "data", "", "a JSON value in place of a text")
	f.BoolVar(&wait, "wait", false, "print what the agent says, and exit when the turn has ended: 0 if it went well, else 1")
	f.DurationVar(&timeout, "timeout", 0, "with --wait: stop waiting after this long, and exit with 124")
	f.BoolVar(&asJSON, "json", false, "print the event as JSON; with --wait what is streamed, as JSON lines")
	return cmd
}

func eventContent(cmd *cobra.Command, words []string, message, data string) ([]eventPart, error) {
	switch {
	case data != "" && (message != "" || len(words) > 0):
		return nil, usagef("an event is a text or --data, not both")
	case data != "" && !json.Valid([]byte(data)):
		return nil, usagef("--data is not JSON")
	case data != "":
		return []eventPart{{Type: "data", Data: json.RawMessage(data)}}, nil
	case message != "" && len(words) > 0:
		return nil, usagef("give the text once: after the id, or with -m")
	case message != "":
		words = []string{message}
	}
	text, err := promptText(words, cmd.InOrStdin())
	return []eventPart{{Type: "text", Text: text}}, err
}

// streamPart is a part of a task's stream, as far as it is looked at.
type streamPart struct {
	Type         string          `json:"type"`
	ID           string          `json:"id"`
	Text         string          `json:"text"`
	ToolCallID   string          `json:"toolCallId"`
	ToolName     string          `json:"toolName"`
	Output       json.RawMessage `json:"output"`
	Error        string          `json:"error"`
	FinishReason string          `json:"finishReason"`
	Metadata     struct {
		EventID   string `json:"eventId"`
		Title     string `json:"title"`
		Cancelled bool   `json:"cancelled"`
	} `json:"metadata"`
}

// taskPrinter prints a task's stream: what the agent says on stdout, what it does on
// stderr.
type taskPrinter struct {
	cmd  *cobra.Command
	json bool
	line bool // the last line of stdout has no end
	any  bool // something was said in the turn
}

func (p *taskPrinter) print(e apiclient.Event, part streamPart) error {
	if p.json {
		_, err := fmt.Fprintln(p.cmd.OutOrStdout(), e.Data)
		return err
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
		p.say(harmless(part.Text))
	case "tool-call":
		p.note("· " + p.title(part))
	case "tool-result":
		var out struct {
			Error     string `json:"error"`
			Cancelled bool   `json:"cancelled"`
		}
		json.Unmarshal(part.Output, &out) //nolint:errcheck // then it went well
		if out.Error != "" || out.Cancelled {
			p.note("✗ " + p.title(part))
		} else {
			p.note("✓ " + p.title(part))
		}
	case "error":
		p.note("error: " + part.Error)
	case "finish":
		p.end()
	}
	return nil
}

func (p *taskPrinter) title(part streamPart) string {
	if part.Metadata.Title != "" {
		return printable(strings.Join(strings.Fields(part.Metadata.Title), " "))
	}
	return printable(part.ToolName)
}

func (p *taskPrinter) say(text string) {
	if text == "" {
		return
	}
	p.line = !strings.HasSuffix(text, "\n")
	fmt.Fprint(p.cmd.OutOrStdout(), text)
}

func (p *taskPrinter) end() {
	if p.line {
		fmt.Fprintln(p.cmd.OutOrStdout())
		p.line = false
	}
}

func (p *taskPrinter) note(text string) { fmt.Fprintln(p.cmd.ErrOrStderr(), printableLong(text)) }

// errTurnOver ends the stream once the event's turn has.
var errTurnOver = errors.New("the turn has ended")

// waitFor prints the turn of an event and says how it ended.
func waitFor(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, task, event string, timeout time.Duration, asJSON bool) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	p := &taskPrinter{cmd: cmd, json: asJSON}
	ours := false
	err := c.Stream(ctx, "/tasks/"+apiclient.Segment(task)+"/stream", url.Values{"follow": {"true"}}, "", func(e apiclient.Event) error {
		var part streamPart
		if err := json.Unmarshal([]byte(e.Data), &part); err != nil {
			return fmt.Errorf("read the stream: %w", err)
		}
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
	if timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return statusError{exitTimeout, fmt.Errorf("timed out after %v; the task goes on", timeout)}
	}
	if err != nil && !errors.Is(err, errTurnOver) {
		return err
	}
	return verdict(ctx, c, event)
}

// verdict is the error of an event that did not end well.
func verdict(ctx context.Context, c *apiclient.Client, event string) error {
	var e eventRow
	if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/events/" + apiclient.Segment(event)}, &e); err != nil {
		return err
	}
	switch {
	case e.Status == "DONE":
		return nil
	case e.Reason != "":
		return errors.New(e.Reason)
	}
	return fmt.Errorf("the event is %s", e.Status)
}

func newTaskWatchCommand() *cobra.Command {
	var asJSON, follow bool
	var after string
	cmd := &cobra.Command{
		Use:   "watch ID",
		Short: "Print what a task does, as it does it",
		Long: `Print what a task does, from the beginning, until its turn has ended and nothing is
to be done; with --follow until the task is over. With --json each part is a line, as
docs/tasks.md describes them.`,
		Args: cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				query := url.Values{}
				if follow {
					query.Set("follow", "true")
				}
				if after != "" {
					query.Set("after", after)
				}
				p := &taskPrinter{cmd: cmd, json: asJSON}
				defer p.end()
				return c.Stream(ctx, "/tasks/"+apiclient.Segment(args[0])+"/stream", query, "", func(e apiclient.Event) error {
					var part streamPart
					if err := json.Unmarshal([]byte(e.Data), &part); err != nil {
						return fmt.Errorf("read the stream: %w", err)
					}
					return p.print(e, part)
				})
			})
		}),
	}
	cmd.Flags().BoolVar(&follow, "follow", false, "go on until the task is over")
	cmd.Flags().StringVar(&after, "after", "", "begin behind this event of the stream, or with what comes next: now")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON lines")
	return cmd
}
