package taskcmd

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/task"
	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

func (h Host) newTask() *cobra.Command {
	return group(&cobra.Command{
		Use:   "task",
		Short: "Agents at work in workspaces and sandboxes of their own",
		Long: `Tasks: agents at work, each in a workspace and a sandbox of its own. A task is made
of an agent and some files; what is sent to it are events, one after the other, and
what comes of them is streamed, kept, and brought home when it is good.`,
		RunE: help,
	},
		h.newTaskCreate(), h.newTaskLs(), h.newTaskGet(), h.newTaskSend(), h.newTaskWatch(),
		h.newTaskCancel(), h.newTaskPull(), h.newTaskDelete(), h.newTaskMigrate(), h.newTaskCleanup(),
		h.newTaskProgress(), h.newTaskSay(),
	)
}

// createOptions are the flags of `task create`.
type createOptions struct {
	api.NewTask
	command, params, message string
	turn                     waiting
}

func (h Host) newTaskCreate() *cobra.Command {
	var o createOptions
	cmd := h.does(&cobra.Command{
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
	}, o.create)
	f := cmd.Flags()
	f.StringVarP(&o.AgentName, "agent", "a", "", "the agent, by its name")
	f.StringVar(&o.command, "agent-command", "", "an agent that speaks ACP, by its command line (words, without quoting)")
	f.StringVarP(&o.Name, "name", "n", "", "the task's name; one is made of the agent's")
	f.StringVar(&o.Branch, "branch", "", "the agent's branch, which must have been deployed (default: main)")
	f.StringVarP(&o.FilesystemID, "filesystem", "f", "", "work on this filesystem")
	f.StringVarP(&o.ProjectID, "project", "p", "", "work on a new filesystem of this project")
	f.StringVarP(&o.Workspace, "workspace", "w", "", "worktree[:DIR], copy:DIR, ro:DIR, rw:DIR, fs:ID or none")
	f.StringVar(&o.Cwd, "cwd", "", "the directory that the workspace is about; this one by default")
	f.StringVar(&o.GitBranch, "git-branch", "", "the branch of a worktree; tandemux/NAME by default")
	f.StringVar(&o.From, "from", "", "the commit that a worktree begins at; HEAD by default")
	f.StringVar(&o.params, "params", "", "a JSON object for the agent")
	f.StringVar(&o.Approve, "approve", "", "which tools run without a question: none (ask), those that only read (reads), or all (all)")
	f.BoolVar(&o.NoSandbox, "no-sandbox", false, "run the agent without a sandbox, with all that you may do")
	f.StringVarP(&o.message, "message", "m", "", "send this to the task; - reads it from standard input")
	o.turn.flags(cmd, "print the task as JSON; with --wait what is streamed, as JSON lines")
	return cmd
}

func (o *createOptions) create(c *call, _ []string) error {
	files := slices.DeleteFunc([]string{o.FilesystemID, o.ProjectID, o.Workspace}, func(s string) bool { return s == "" })
	switch {
	case (o.AgentName == "") == (o.command == ""):
		return cli.Usagef("--agent or --agent-command: give one of them")
	case o.Approve != "" && !slices.Contains([]string{ahp.ConfirmAsk, ahp.ConfirmReads, ahp.ConfirmAll}, o.Approve):
		return cli.Usagef("--approve is %q: use ask, reads or all", o.Approve)
	case o.turn.wait && o.message == "":
		return cli.Usagef("--wait is for what -m sends")
	case o.params != "" && !json.Valid([]byte(o.params)):
		return cli.Usagef("--params is not JSON")
	case len(files) > 1:
		return cli.Usagef("--filesystem, --project and --workspace: give one of them")
	case len(files) == 0:
		o.Workspace = "auto"
	}
	if err := o.turn.check(); err != nil {
		return err
	}
	o.Command, o.Params = strings.Fields(o.command), json.RawMessage(o.params)
	var content []store.Part
	if o.message != "" {
		text, err := cli.Text([]string{o.message}, c.cmd.InOrStdin(), "")
		if err != nil {
			return err
		}
		content = []store.Part{store.TextPart(text)}
	}
	if err := o.locate(c); err != nil {
		return err
	}
	var t store.Task
	if err := c.send(http.MethodPost, o.NewTask, &t, "tasks"); err != nil {
		return err
	}
	if !o.turn.wait || !cli.AsJSON(c.cmd) { // what is waited for names it
		if err := c.print(t, "%s\n", t.ID); err != nil {
			return err
		}
	}
	if content == nil {
		return nil
	}
	e, err := sendEvent(c, t.ID, content)
	if err != nil || !o.turn.wait {
		return err
	}
	return o.turn.follow(c, t.ID, e.ID)
}

// locate says which directory the workspace is about, on the host's machine.
func (o *createOptions) locate(c *call) error {
	if o.Workspace == "" {
		return nil
	}
	elsewhere, err := c.Elsewhere(c.cmd)
	switch {
	case err != nil:
		return err
	case elsewhere && o.Cwd == "" && o.Workspace == "auto":
		o.Workspace = "none"
	case !elsewhere:
		o.Cwd, err = absolute(o.Cwd)
	}
	return err
}

func (h Host) newTaskLs() *cobra.Command {
	var all bool
	var agent string
	cmd := h.asJSON(&cobra.Command{
		Use:   "ls",
		Short: "List tasks",
		Long:  `List the tasks, newest first. Those that are over are listed with --all.`,
		Args:  cobra.NoArgs,
	}, func(c *call, _ []string) error {
		query := set(map[string]string{"agent": agent})
		if !all {
			query.Set("status", "CREATING,IDLE,RUNNING,FAILED")
		}
		tasks, err := list[store.Task](c, query, 0, "tasks")
		if err != nil {
			return err
		}
		return table(c, tasks, "there are no tasks; `tandemux task create` begins one", "ID\tNAME\tSTATUS\tAGE\tWORKSPACE\tDOING", func(t store.Task) []any {
			return []any{t.ID, cli.Short(t.Name), t.Status, age(t.Created), files(t), doing(t)}
		})
	})
	cmd.Flags().BoolVarP(&all, "all", "A", false, "list those that were cancelled, too")
	cmd.Flags().StringVarP(&agent, "agent", "a", "", "only those of this agent")
	return cmd
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

// files is what the task's files are, in a word or two.
func files(t store.Task) string {
	var spec workspace.Spec
	json.Unmarshal(t.Workspace, &spec) //nolint:errcheck // then nothing is said
	switch {
	case spec.Dir != "":
		return string(spec.Kind) + ":" + cli.Short(spec.Dir)
	case spec.Filesystem != "":
		return "fs:" + cli.Short(spec.Filesystem)
	}
	return string(spec.Kind)
}

// doing is what the task is at, or why it failed.
func doing(t store.Task) string {
	var words []string
	if t.Progress != nil {
		words = append(words, strconv.Itoa(*t.Progress)+"%")
	}
	for _, text := range []string{t.ProgressLine, t.Reason} {
		if text != "" {
			words = append(words, cli.Short(text))
		}
	}
	return strings.Join(words, " ")
}

func (h Host) newTaskGet() *cobra.Command {
	cmd := h.does(&cobra.Command{Use: "get ID", Short: "Show a task with its events and messages", Args: cobra.ExactArgs(1)}, func(c *call, args []string) error {
		var t struct {
			store.Task
			Events   []store.Event   `json:"events"`
			Messages []store.Message `json:"messages"`
		}
		err := c.get(&t.Task, "tasks", args[0])
		if err == nil {
			t.Events, err = list[store.Event](c, nil, 0, "tasks", t.ID, "events")
		}
		if err == nil {
			t.Messages, err = list[store.Message](c, nil, 0, "tasks", t.ID, "messages")
		}
		if err != nil {
			return err
		}
		return cli.Print(c.cmd, t, func(w io.Writer) error {
			fmt.Fprintf(w, "%s  %s  %s  %s\n", t.ID, cli.Short(t.Name), t.Status, files(t.Task))
			if doing := doing(t.Task); doing != "" {
				fmt.Fprintln(w, doing)
			}
			if t.Session != "" {
				fmt.Fprintf(w, "session %s\n", t.Session[strings.LastIndexAny(t.Session, "/:")+1:])
			}
			for _, e := range t.Events {
				why := ""
				if e.Reason != "" {
					why = ": " + cli.Short(e.Reason)
				}
				fmt.Fprintf(w, "\n> %s  (%s%s)\n", cli.Line(partsText(e.Content)), e.Status, why)
			}
			for _, m := range t.Messages {
				fmt.Fprintf(w, "\n%s\n", cli.Lines(partsText(m.Content)))
			}
			return nil
		})
	})
	cmd.Flags().Bool("json", false, "print the task as JSON, with its events and messages")
	return cmd
}

func partsText(parts []store.Part) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Text+string(p.Data)) // a part has one of them
	}
	return strings.Join(all, "\n")
}

func (h Host) newTaskCancel() *cobra.Command {
	return h.asJSON(&cobra.Command{
		Use:   "cancel ID",
		Short: "Stop a task for good",
		Long:  `Stop a task: its agent is ended, events that wait are discarded. Its files stay until it is deleted.`,
		Args:  cobra.ExactArgs(1),
	}, func(c *call, args []string) error {
		var t store.Task
		if err := c.send(http.MethodPost, nil, &t, "tasks", args[0], "cancel"); err != nil {
			return err
		}
		return c.print(t, "")
	})
}

func (h Host) newTaskDelete() *cobra.Command {
	var force bool
	cmd := h.asJSON(&cobra.Command{
		Use:   "delete ID…",
		Short: "Delete tasks with their workspaces",
		Long: `Delete tasks with their workspaces and all that was said. A git branch that has
commits which are nowhere else stays, unless --force is given.`,
		Args: cobra.MinimumNArgs(1),
	}, func(c *call, args []string) error {
		gone := []task.Deleted{}
		for _, id := range args {
			if err := deleteTask(c, id, force, &gone); err != nil {
				return err
			}
		}
		return c.print(gone, "")
	})
	cmd.Flags().BoolVar(&force, "force", false, "delete branches with commits that are nowhere else, too")
	return cmd
}

// deleteTask deletes a task and adds what became of it to gone.
func deleteTask(c *call, id string, force bool, gone *[]task.Deleted) error {
	var d task.Deleted
	r := apiclient.Request{Method: http.MethodDelete, Path: apiclient.Path("tasks", id), Query: url.Values{"force": {strconv.FormatBool(force)}}}
	if err := c.do(r, &d); err != nil {
		return err
	}
	*gone = append(*gone, d)
	if d.KeptBranch != "" && !cli.AsJSON(c.cmd) {
		c.note("the branch %s stays: it has commits that are nowhere else (--force deletes them)", cli.Short(d.KeptBranch))
	}
	return nil
}

func (h Host) newTaskCleanup() *cobra.Command {
	var all, force bool
	var older time.Duration
	cmd := h.asJSON(&cobra.Command{
		Use:   "cleanup",
		Short: "Delete tasks that are over",
		Long: `Delete the tasks that were cancelled or have failed, with their workspaces; with
--all those that have nothing to do, too.`,
		Args: cobra.NoArgs,
	}, func(c *call, _ []string) error {
		statuses := "CANCELLED,FAILED"
		if all {
			statuses += ",IDLE"
		}
		tasks, err := list[store.Task](c, url.Values{"status": {statuses}}, 0, "tasks")
		if err != nil {
			return err
		}
		gone := []task.Deleted{}
		for _, t := range tasks {
			if time.Since(t.Created) < older {
				continue
			}
			if err := deleteTask(c, t.ID, force, &gone); err != nil {
				return fmt.Errorf("delete %s: %w", t.Name, err)
			}
			if !cli.AsJSON(c.cmd) {
				fmt.Fprintf(c.out(), "%s  %s\n", t.ID, cli.Short(t.Name))
			}
		}
		return c.print(gone, "")
	})
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "delete tasks that have nothing to do, too")
	f.BoolVar(&force, "force", false, "delete branches with commits that are nowhere else, too")
	f.DurationVar(&older, "older", 0, "only those that were created longer ago than this")
	return cmd
}

func (h Host) newTaskMigrate() *cobra.Command {
	var in registry.Migration
	cmd := h.asJSON(&cobra.Command{
		Use:   "migrate (--from VERSION | ID…) (--to VERSION | --latest)",
		Short: "Move tasks to another version of their agent",
		Long: `Move tasks to another version within their branch: all of a version, or those that
are named. A task goes on with its version until its event has ended.`,
	}, func(c *call, args []string) error {
		if (in.From == "") == (len(args) == 0) || (in.To == "") == !in.ToLatest {
			return cli.Usagef("say which tasks (--from VERSION, or ids) and to which version (--to VERSION, or --latest)")
		}
		in.Tasks = args
		var got registry.Migrated
		if err := c.send(http.MethodPost, in, &got, "tasks", "migrate"); err != nil {
			return err
		}
		return cli.Print(c.cmd, got, func(w io.Writer) error {
			for _, id := range got.Moved {
				fmt.Fprintln(w, id)
			}
			return nil
		})
	})
	f := cmd.Flags()
	f.StringVar(&in.From, "from", "", "all tasks of this version")
	f.StringVar(&in.To, "to", "", "to this version")
	f.BoolVar(&in.ToLatest, "latest", false, "to the active version of their branch")
	return cmd
}
