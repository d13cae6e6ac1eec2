package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
)

type logOptions struct {
	task, level, source, since, until, version, config string
	limit                                              int
	follow, asJSON                                     bool
}

func newLogsCommand() *cobra.Command {
	var o logOptions
	cmd := &cobra.Command{
		Use:   "logs [AGENT]",
		Short: "Show an agent's log: its stderr, its hooks, its tasks, its deploys",
		Long: `Show the newest lines of an agent's log, with secrets masked. Without AGENT it is the
one of ./tandemux-agent.toml. Sources are agent (what it writes to stderr), hook, task
(what became of tasks) and deploy.`,
		Example: `  tandemux logs
  tandemux logs reviewer --since 1h --level WARNING
  tandemux logs --task 7k2m --follow`,
		Args: cobra.MaximumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			agent := ""
			if len(args) > 0 {
				agent = args[0]
			}
			q, err := o.query(time.Now())
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				if agent == "" && o.task != "" && o.config == "" {
					if agent, err = agentOfTask(ctx, c, o.task); err != nil {
						return err
					}
				}
				if agent, err = agentNamed(agent, o.config); err != nil {
					return err
				}
				return o.show(ctx, cmd.OutOrStdout(), c, agent, q)
			})
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&o.task, "task", "t", "", "about this task, by id or name")
	f.StringVar(&o.level, "level", "", "at least DEBUG, INFO, WARNING or ERROR")
	f.StringVar(&o.source, "source", "", "agent, hook, task or deploy")
	f.StringVar(&o.since, "since", "", "from a time such as 2026-12-01, or for so long, such as 1h or 2d")
	f.StringVar(&o.until, "until", "", "up to a time, or until so long ago")
	f.StringVar(&o.version, "version", "", "of this version, by number or id")
	f.StringVarP(&o.config, "config", "c", "", "the definition that says which agent")
	f.IntVarP(&o.limit, "limit", "n", 100, "the newest so many, up to 1000")
	f.BoolVarP(&o.follow, "follow", "f", false, "go on with lines as they are written")
	f.BoolVar(&o.asJSON, "json", false, "print each line as JSON")
	return cmd
}

// query is what the options ask for.
func (o logOptions) query(now time.Time) (url.Values, error) {
	if o.limit < 1 || o.limit > pageSize {
		return nil, usagef("--limit %d: use a number from 1 to %d", o.limit, pageSize)
	}
	q := url.Values{"limit": {strconv.Itoa(o.limit)}}
	if o.level != "" {
		level, err := store.ParseLevel(o.level)
		if err != nil {
			return nil, usagef("--level: %w", err)
		}
		q.Set("level", level.String())
	}
	for name, value := range map[string]string{"task": o.task, "version": o.version, "source": o.source} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, value := range map[string]string{"since": o.since, "until": o.until} {
		if value == "" {
			continue
		}
		t, err := parsePast(value, now)
		if err != nil {
			return nil, usagef("--%s %s: %w", name, value, err)
		}
		q.Set(name, t.UTC().Format(time.RFC3339))
	}
	if o.follow && o.until != "" {
		return nil, usagef("--follow and --until exclude each other")
	}
	return q, nil
}

// parsePast reads a date or moment in the local time zone, or how long ago it was.
func parsePast(s string, now time.Time) (time.Time, error) {
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if n, found := strings.CutSuffix(s, unit); found {
			if count, err := strconv.Atoi(n); err == nil && count > 0 && count < 100_000 {
				return now.Add(-time.Duration(count) * length), nil
			}
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02 15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("use how long ago, such as 30m, 8h or 7d, or a time such as 2026-12-01")
}

// agentOfTask is the agent that a task is of.
func agentOfTask(ctx context.Context, c *apiclient.Client, task string) (string, error) {
	var t store.Task
	_, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/tasks/" + apiclient.Segment(task)}, &t)
	return t.AgentID, err
}

// followTime is how long a question for more lines is left open, in seconds.
const followTime = 50

// show prints the lines, and with --follow those that come.
func (o logOptions) show(ctx context.Context, w io.Writer, c *apiclient.Client, agent string, q url.Values) error {
	path := agentPath(agent, "logs")
	for {
		var page api.LogPage
		if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: path, Query: q}, &page); err != nil {
			if o.follow && ctx.Err() != nil {
				return nil // the person has seen enough
			}
			return err
		}
		for _, e := range page.Data {
			if err := o.print(w, e); err != nil {
				return err
			}
		}
		if !o.follow {
			return nil
		}
		q.Set("after", strconv.FormatInt(max(page.Last, 1), 10))
		q.Set("wait", strconv.Itoa(followTime))
		q.Set("limit", strconv.Itoa(pageSize))
	}
}

func (o logOptions) print(w io.Writer, e store.LogEntry) error {
	if o.asJSON {
		return json.NewEncoder(w).Encode(e)
	}
	task := ""
	if e.TaskID != "" {
		task = " " + e.TaskID
	}
	_, err := fmt.Fprintf(w, "%s %-7s %s%s: %s\n", e.Created.Local().Format("2006-01-02 15:04:05.000"), e.Level, e.Source, task, printableLong(e.Text))
	return err
}
