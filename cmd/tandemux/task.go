package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/apiclient"
)

// taskRow is a task as the command line prints it with --json; the interface's own
// form, of which this is what the command line looks at.
type taskRow struct {
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	AgentID      string          `json:"agent_id"`
	Status       string          `json:"status"`
	Reason       string          `json:"reason"`
	Progress     *int            `json:"progress"`
	ProgressLine string          `json:"status_message"`
	Workspace    json.RawMessage `json:"workspace"`
	Session      string          `json:"session"`
	Created      time.Time       `json:"created_at"`
}

// page is a part of a list.
type apiPage[T any] struct {
	Data []T    `json:"data"`
	Next string `json:"next"`
}

func newTaskCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "task",
		Short: "Agents at work in workspaces and sandboxes of their own",
		Long: `Tasks: agents at work, each in a workspace and a sandbox of its own. A task is made
of an agent and some files; what is sent to it are events, one after the other, and
what comes of them is streamed, kept, and brought home when it is good.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newTaskCreateCommand(), newTaskLsCommand(), newTaskGetCommand(), newTaskSendCommand(), newTaskWatchCommand(),
		newTaskCancelCommand(), newTaskPullCommand(), newTaskDeleteCommand(), newTaskMigrateCommand(), newTaskCleanupCommand(),
		newTaskProgressCommand(), newTaskSayCommand(),
	)
	return cmd
}

// taskOptions are the flags of `task create`.
type taskOptions struct {
	agent, command, name, branch, filesystem, project, workspace, cwd, gitBranch, from, params, approve, message string
	bare, wait, json                                                                                             bool
	timeout                                                                                                      time.Duration
}

func newTaskCreateCommand() *cobra.Command {
	var o taskOptions
	cmd := &cobra.Command{
		Use:   "create (--agent NAME | --agent-command CMD) [-m TEXT]",
		Short: "Begin a task and print its id",
		Long: `Begin a task and print its id. Its files are, as --workspace says:

  worktree[:DIR]   a git worktree on a branch of its own, tandemux/NAME
  copy:DIR         a copy of a directory
  ro:DIR, rw:DIR   a directory itself, to be read only, or to be written to
  none             none but what the task makes, gone with it

Without --workspace it is a worktree where this directory is in a repository, and
else none. --filesystem and --project give it stored files in place of that. With
-m the text is sent to the task; with --wait too, what the agent says is printed and
the exit code says how the turn ended.`,
		Example: `  tandemux task create --agent claude -m "fix the flaky test" --wait
  tandemux task create --agent-command "my-agent --acp" --workspace copy:. --approve reads
  tandemux task create --agent reviewer --workspace ro:. -m "what could go wrong here?"`,
		Args: cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			body, err := o.body()
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error { return o.run(ctx, cmd, c, body) })
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&o.agent, "agent", "a", "", "the agent, by its name")
	f.StringVar(&o.command, "agent-command", "", "an agent that speaks ACP, by its command line (words, without quoting)")
	f.StringVarP(&o.name, "name", "n", "", "the task's name; one is made of the agent's")
	f.StringVar(&o.branch, "branch", "", "the agent's branch, which must have been deployed (default: main)")
	f.StringVarP(&o.filesystem, "filesystem", "f", "", "work on this filesystem")
	f.StringVarP(&o.project, "project", "p", "", "work on a new filesystem of this project")
	f.StringVarP(&o.workspace, "workspace", "w", "", "worktree[:DIR], copy:DIR, ro:DIR, rw:DIR, fs:ID or none")
	f.StringVar(&o.cwd, "cwd", "", "the directory that the workspace is about; this one by default")
	f.StringVar(&o.gitBranch, "git-branch", "", "the branch of a worktree; tandemux/NAME by default")
	f.StringVar(&o.from, "from", "", "the commit that a worktree begins at; HEAD by default")
	f.StringVar(&o.params, "params", "", "a JSON object for the agent")
	f.StringVar(&o.approve, "approve", "", "which tools run without a question: none (ask), those that only read (reads), or all (all)")
	f.BoolVar(&o.bare, "no-sandbox", false, "run the agent without a sandbox, with all that you may do")
	f.StringVarP(&o.message, "message", "m", "", "send this to the task; - reads it from standard input")
	f.BoolVar(&o.wait, "wait", false, "print what the agent says, and exit when the turn has ended: 0 if it went well, else 1")
	f.DurationVar(&o.timeout, "timeout", 0, "with --wait: stop waiting after this long, and exit with 124")
	f.BoolVar(&o.json, "json", false, "print the task as JSON; with --wait what is streamed, as JSON lines")
	return cmd
}

// body is the request.
func (o *taskOptions) body() (map[string]any, error) {
	switch {
	case (o.agent == "") == (o.command == ""):
		return nil, usagef("--agent or --agent-command: give one of them")
	case o.approve != "" && !slices.Contains([]string{ahp.ConfirmAsk, ahp.ConfirmReads, ahp.ConfirmAll}, o.approve):
		return nil, usagef("--approve is %q: use ask, reads or all", o.approve)
	case o.wait && o.message == "":
		return nil, usagef("--wait is for what -m sends")
	case o.timeout < 0 || o.timeout > 0 && !o.wait:
		return nil, usagef("--timeout is above zero, and goes with --wait")
	case o.params != "" && !json.Valid([]byte(o.params)):
		return nil, usagef("--params is not JSON")
	}
	given := 0
	for _, v := range []string{o.filesystem, o.project, o.workspace} {
		if v != "" {
			given++
		}
	}
	if given > 1 {
		return nil, usagef("--filesystem, --project and --workspace: give one of them")
	}
	body := map[string]any{}
	for name, v := range map[string]string{
		"agent_name": o.agent, "name": o.name, "branch": o.branch, "filesystem_id": o.filesystem, "project_id": o.project,
		"workspace": o.workspace, "cwd": o.cwd, "git_branch": o.gitBranch, "from": o.from, "approve": o.approve,
	} {
		if v != "" {
			body[name] = v
		}
	}
	if o.command != "" {
		body["agent_command"] = strings.Fields(o.command)
	}
	if o.params != "" {
		body["params"] = json.RawMessage(o.params)
	}
	if o.bare {
		body["no_sandbox"] = true
	}
	if given == 0 {
		body["workspace"] = "auto"
	}
	return body, nil
}

// run creates the task, sends what there is to be sent, and waits.
func (o *taskOptions) run(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, body map[string]any) error {
	text := ""
	if o.message != "" {
		var err error
		if text, err = promptText([]string{o.message}, cmd.InOrStdin()); err != nil {
			return err
		}
	}
	p, err := placeOf(cmd)
	if err != nil {
		return err
	}
	if err := o.locate(p, body); err != nil {
		return err
	}
	var raw json.RawMessage
	if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/tasks", Body: body}, &raw); err != nil {
		return err
	}
	var t taskRow
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	switch {
	case o.wait && o.json: // what is waited for names it
	case o.json:
		if err := printJSON(cmd.OutOrStdout(), raw); err != nil {
			return err
		}
	default:
		fmt.Fprintln(cmd.OutOrStdout(), t.ID)
	}
	if o.message == "" {
		return nil
	}
	e, err := sendEvent(ctx, c, t.ID, []eventPart{{Type: "text", Text: text}})
	if err != nil || !o.wait {
		return err
	}
	return waitFor(ctx, cmd, c, t.ID, e.ID, o.timeout, o.json)
}

// locate says which directory the workspace is about, on the host's machine.
func (o *taskOptions) locate(p place, body map[string]any) error {
	if body["workspace"] == nil {
		return nil
	}
	if p.elsewhere() {
		if o.cwd == "" && body["workspace"] == "auto" {
			body["workspace"] = "none"
		}
		return nil
	}
	dir := o.cwd
	if dir == "" {
		dir = "."
	}
	path, err := absolute(dir)
	if err != nil {
		return err
	}
	body["cwd"] = path
	return nil
}

func newTaskLsCommand() *cobra.Command {
	var asJSON, all bool
	var agent string
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List tasks",
		Long:  `List the tasks, newest first. Those that are over are listed with --all.`,
		Args:  cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				query := url.Values{"limit": {"1000"}}
				if agent != "" {
					query.Set("agent", agent)
				}
				if !all {
					query.Set("status", "CREATING,IDLE,RUNNING,FAILED")
				}
				rows, err := list[json.RawMessage](ctx, c, "/tasks", query)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), rows)
				}
				return printTasks(cmd, rows)
			})
		}),
	}
	cmd.Flags().BoolVarP(&all, "all", "A", false, "list those that were cancelled, too")
	cmd.Flags().StringVarP(&agent, "agent", "a", "", "only those of this agent")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// list gives all of a list, page by page.
func list[T any](ctx context.Context, c *apiclient.Client, path string, query url.Values) ([]T, error) {
	all := []T{}
	for {
		var page apiPage[T]
		if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: path, Query: query}, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == "" {
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
}

func printTasks(cmd *cobra.Command, rows []json.RawMessage) error {
	if len(rows) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "there are no tasks; `tandemux task create` begins one")
		return nil
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tSTATUS\tAGE\tWORKSPACE\tDOING")
	for _, raw := range rows {
		var t taskRow
		if err := json.Unmarshal(raw, &t); err != nil {
			return fmt.Errorf("read a task: %w", err)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, printable(t.Name), t.Status, age(t.Created), t.workspace(), t.doing())
	}
	return w.Flush()
}

// age is how long ago something was, in a word.
func age(at time.Time) string {
	d := time.Since(at)
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + "d"
}

// workspace is what the task's files are, in a word or two.
func (t taskRow) workspace() string {
	var spec struct {
		Kind       string `json:"kind"`
		Dir        string `json:"dir"`
		Filesystem string `json:"filesystem"`
	}
	json.Unmarshal(t.Workspace, &spec) //nolint:errcheck // then nothing is said
	switch {
	case spec.Dir != "":
		return spec.Kind + ":" + printable(spec.Dir)
	case spec.Filesystem != "":
		return "fs:" + printable(spec.Filesystem)
	}
	return spec.Kind
}

// doing is what the task is at, or why it failed.
func (t taskRow) doing() string {
	var words []string
	if t.Progress != nil {
		words = append(words, strconv.Itoa(*t.Progress)+"%")
	}
	if t.ProgressLine != "" {
		words = append(words, printable(t.ProgressLine))
	}
	if t.Reason != "" {
		words = append(words, printable(t.Reason))
	}
	return strings.Join(words, " ")
}

func newTaskGetCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get ID",
		Short: "Show a task with its events and messages",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error { return getTask(ctx, cmd, c, args[0], asJSON) })
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the task as JSON, with its events and messages")
	return cmd
}

func getTask(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, id string, asJSON bool) error {
	var raw map[string]json.RawMessage
	if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: "/tasks/" + apiclient.Segment(id)}, &raw); err != nil {
		return err
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return err
	}
	var t taskRow
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	at := "/tasks/" + apiclient.Segment(t.ID)
	events, err := list[eventRow](ctx, c, at+"/events", url.Values{"limit": {"1000"}})
	if err != nil {
		return err
	}
	messages, err := list[messageRow](ctx, c, at+"/messages", url.Values{"limit": {"1000"}})
	if err != nil {
		return err
	}
	if asJSON {
		raw["events"], _ = json.Marshal(events)     //nolint:errcheck // they were JSON
		raw["messages"], _ = json.Marshal(messages) //nolint:errcheck // they were JSON
		return printJSON(cmd.OutOrStdout(), raw)
	}
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "%s  %s  %s  %s\n", t.ID, printable(t.Name), t.Status, t.workspace())
	if doing := t.doing(); doing != "" {
		fmt.Fprintln(out, doing)
	}
	if t.Session != "" {
		fmt.Fprintf(out, "session %s\n", lastPart(t.Session))
	}
	for _, e := range events {
		fmt.Fprintf(out, "\n> %s  (%s%s)\n", printableLong(partsText(e.Content)), e.Status, because(e.Reason))
	}
	for _, m := range messages {
		fmt.Fprintf(out, "\n%s\n", harmless(partsText(m.Content)))
	}
	return nil
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + printable(why)
}

// absolute is a path of this machine's as the host knows it.
func absolute(path string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	if !strings.HasPrefix(path, "/") {
		path = dir + "/" + path
	}
	return filepath.Clean(path), nil
}
