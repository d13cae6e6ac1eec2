package taskcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/git"
	"tandemux/host/task"
	"tandemux/host/task/api"
	"tandemux/host/task/budget"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

func newTask() *cobra.Command {
	return cli.Group("task", "Agents at work in workspaces and sandboxes of their own", `Tasks: agents at work, each in a workspace and a sandbox of its own. A task is made
of an agent and some files; what is sent to it are events, one after the other, and
what comes of them is streamed, kept, and brought home when it is good.`,
		newTaskNew(), newTaskLs(), newTaskShow(), newTaskSend(), newTaskWatch(), newTaskAnswer(), act[store.Task]("cancel TASK", "cancelTask", nil),
		newTaskPull(), newTaskPush(), newTaskRm(), newTaskMigrate(), newTaskCleanup(), newTaskBudget(), newTaskProgress(), newTaskSay())
}

// createFlags are the flags of `task new`.
type createFlags struct {
	task.NewTask
	CommandLine string         `flag:"agent-command" doc:"An agent that speaks ACP, by its command line (words, without quoting)"`
	Message     string         `flag:"message,m" doc:"Send this to the task; - reads it from standard input"`
	MaxDisk     size           `flag:"max-disk" value:"SIZE" doc:"How much its files may take on the disk, such as 2G; 0: as much as there is. The configuration's when absent"`
	MaxTime     *time.Duration `flag:"max-time" value:"TIME" doc:"How long its turns may run in all, such as 30m, without the time in which it waits for answers; 0: any time. The configuration's when absent"`
	waiting
}

func newTaskNew() *cobra.Command {
	var in createFlags
	return verb("new (--agent NAME | --agent-command CMD) [-m TEXT]", `Begin a task and print its id
Its files are, as --workspace says:

  worktree[:DIR]   a git worktree on a branch of its own, tandemux/NAME
  copy:DIR         a copy of a directory
  ro:DIR, rw:DIR   a directory itself, to be read only, or to be written to
  none             none but what the task makes, gone with it

Without --workspace it is a worktree where this directory is in a repository, and
else none. --filesystem and --project give it stored files in place of that. At a hub
worktree and copy are directories of this machine, whose files are sent along. With
-m the text is sent to the task; with --wait too, what the agent says is printed and
the exit code says how the turn ended.

  tandemux task new --agent claude -m "fix the flaky test" --wait
  tandemux task new --agent-command "my-agent --acp" --workspace copy:. --approve reads
  tandemux task new --agent reviewer --workspace ro:. -m "what could go wrong here?"`, &in, in.create, cli.One[store.Task](), cli.Stream[task.Part]())
}

func (o *createFlags) create(c *call, _ []string) error {
	files := 0
	for _, given := range []string{o.FilesystemID, o.ProjectID, o.Workspace} {
		if given != "" {
			files++
		}
	}
	switch {
	case (o.AgentName == "") == (o.CommandLine == ""):
		return cli.Usagef("--agent or --agent-command: give one of them")
	case o.Wait && o.Message == "":
		return cli.Usagef("--wait is for what -m sends")
	case files > 1:
		return cli.Usagef("--filesystem, --project and --workspace: give one of them")
	case files == 0:
		o.Workspace = task.AutoWorkspace
	}
	if err := o.check(); err != nil {
		return err
	}
	o.Seconds, o.Bytes = wholeSeconds(o.MaxTime), o.MaxDisk.bytes
	o.Command, o.Hint = strings.Fields(o.CommandLine), branchHere(c.Context(), o.Branch)
	var content []store.Part
	if o.Message != "" {
		text, err := cli.Text([]string{o.Message}, c.InOrStdin(), "")
		if err != nil {
			return err
		}
		content = []store.Part{store.TextPart(text)}
	}
	t, err := o.begin(c)
	if err != nil {
		return err
	}
	if o.Workspace == task.AutoWorkspace && o.Cwd != "" {
		o.tellLeftOut(c, WorksOn(t, filepath.Base) == string(workspace.None))
	}
	if !o.Wait || !cli.AsJSON(c.Command) { // what is waited for names it
		if err := show(c, t, t.ID); err != nil {
			return err
		}
	}
	if content == nil {
		return nil
	}
	e, err := post[store.Event](c, "sendEvent", t.ID, content)
	if err != nil || !o.Wait {
		return err
	}
	return o.follow(c, t.ID, e.ID)
}

// tellLeftOut says what of the directory a task does not see.
func (o *createFlags) tellLeftOut(c *call, all bool) {
	if all {
		c.note("%s is in no work tree of a git repository, so the task begins without files; --workspace copy:. gives it a copy", o.Cwd)
		return
	}
	ctx, cancel := context.WithTimeout(c.Context(), gitTime)
	defer cancel()
	if changed, err := (git.Git{Dir: o.Cwd}).Run(ctx, "status", "--porcelain", "--untracked-files=no"); err == nil && changed != "" {
		c.note("the task begins at the last commit, without your changes in %s that are not committed; --workspace copy:. has them", o.Cwd)
	}
}

// locate says which directory the workspace is about, on the host's machine.
func (o *createFlags) locate(c *call) error {
	if o.Workspace == "" {
		return nil
	}
	err := c.connect()
	switch {
	case err != nil:
		return err
	case !c.place.Elsewhere():
		o.Cwd, err = absolute(o.Cwd)
	case o.Cwd == "" && o.Workspace == task.AutoWorkspace:
		o.Workspace = "none"
	}
	return err
}

func newTaskLs() *cobra.Command {
	var in struct {
		api.TaskQuery
		All bool `flag:"all,A" doc:"List those that were cancelled, too"`
	}
	return verb("ls", "List tasks, newest first; those that are over with --all\n"+endpoint.OfAll, &in, func(c *call, _ []string) error {
		if !in.All {
			in.Status = "CREATING,PENDING,IDLE,RUNNING,WAITING,FAILED"
		}
		each, missed, err := endpoint.Each(c.Command, true, func(ctx context.Context, at endpoint.Endpoint) ([]task.Present, error) {
			one := c.Client
			if at.Several() {
				one = NewClient(ctx, at)
				defer one.Close()
			}
			return List[task.Present](one, 0, "listTasks", in.TaskQuery)
		})
		if err != nil {
			return err
		}
		tasks := []listed{}
		for _, a := range each {
			for _, t := range a.Got {
				if a.Host != "" {
					t.ID = a.Host + ":" + t.ID
				}
				tasks = append(tasks, listed{t, a.Host})
			}
		}
		slices.SortStableFunc(tasks, func(a, b listed) int { return b.Created.Compare(a.Created) })
		printed := cli.PrintTable(c.Command, "there are no tasks; `tandemux task new` begins one", "ID\tNAME\tSTATUS\tAGE\tWORKSPACE\tDOING", tasks, func(t listed) []any {
			return []any{t.ID, t.Name, t.Status, cli.Age(t.Created), cli.Whole(WorksOn(t.Task, filepath.Base)), cli.Cut(doing(t.Present, cli.Short))}
		})
		return cmp.Or(printed, missed)
	}, cli.One[[]listed]())
}

// listed is a task of one of several hosts.
type listed struct {
	task.Present
	Host string `json:"host,omitempty" doc:"That it is of, by its name in tandemux hosts; absent for this machine's"`
}

// WorksOn is what a task's files are, in a word or two, with its directory shortened.
func WorksOn(t store.Task, shorten func(string) string) string {
	var spec workspace.Spec
	json.Unmarshal(t.Workspace, &spec) //nolint:errcheck // then nothing is said
	switch {
	case spec.Dir != "":
		return string(spec.Kind) + ":" + shorten(spec.Dir)
	case spec.Filesystem != "":
		return "fs:" + cli.Short(spec.Filesystem)
	}
	return string(spec.Kind)
}

// doing is what a task asks, does, or says that it does, how its last turn ended, or why it
// failed.
func doing(t task.Present, line func(string) string) string {
	var words []string
	if t.Progress != nil {
		words = append(words, strconv.Itoa(*t.Progress)+"%")
	}
	text := cmp.Or(t.ProgressLine, t.Doing)
	switch {
	case len(t.Questions) > 0:
		text = t.Questions[0].Title
	case t.Status == store.Idle && t.Last != nil:
		switch last := string(t.Last.Outcome); {
		case t.Budget.Over != "" && t.Last.Outcome != store.OutcomeBudget:
			text = last + "; " + t.Budget.Reason
		case t.Last.Outcome == store.OutcomeDone && t.ProgressLine != "":
			text = t.ProgressLine + ", " + last
		case t.Last.Outcome == store.OutcomeBudget:
			text = t.Last.Reason // which says so
		case t.Last.Reason != "" && t.Last.Reason != last:
			text = last + ": " + t.Last.Reason
		default:
			text = last
		}
	}
	for _, text := range []string{text, t.Reason} {
		if text != "" {
			words = append(words, line(text))
		}
	}
	return strings.Join(words, " ")
}

// taskAndAll is what `tandemux task show --json` prints.
type taskAndAll struct {
	task.Present
	Events   []store.Event   `json:"events"`
	Messages []store.Message `json:"messages"`
}

// talk prints what was said, each answer behind what it answers; what waits is last.
func (t *taskAndAll) talk(w io.Writer) {
	begun := map[string]bool{}
	for _, m := range t.Messages {
		begun[m.EventID] = begun[m.EventID] || m.Author == "user"
	}
	tell := func(id string, waits bool) {
		for _, e := range t.Events {
			if e.ID != id && (id != "" || begun[e.ID] || waits != (e.Status == store.EventPending)) {
				continue
			}
			why := ""
			if e.Reason != "" {
				why = ": " + cli.Line(e.Reason)
			}
			fmt.Fprintf(w, "\n> %s  (%s%s)\n", cli.Line(partsText(e.Content)), e.Status, why)
		}
	}
	tell("", false) // those whose turn never began
	for _, m := range t.Messages {
		if m.Author == "user" && m.EventID != "" {
			tell(m.EventID, false)
			continue
		}
		fmt.Fprintf(w, "\n%s\n", partsText(m.Content))
	}
	tell("", true)
}

func newTaskShow() *cobra.Command {
	return verb("show TASK", "Show a task with its events and messages", nil, func(c *call, args []string) (err error) {
		var t taskAndAll
		if t.Present, err = Ask[task.Present](c.Client, "getTask", nil, args[0]); err == nil {
			t.Events, err = List[store.Event](c.Client, 0, "listEvents", nil, t.ID)
		}
		if err == nil {
			t.Messages, err = List[store.Message](c.Client, 0, "listMessages", nil, t.ID)
		}
		if err != nil {
			return err
		}
		return cli.Print(c.Command, t, func(w io.Writer) error {
			fmt.Fprintf(w, "%s  %s  %s  %s\n", t.ID, cli.Short(t.Name), t.Status, WorksOn(t.Task, cli.Short))
			if doing := doing(t.Present, cli.Line); doing != "" {
				fmt.Fprintln(w, doing)
			}
			fmt.Fprintln(w, budgetLines(t.Budget))
			for _, q := range t.Questions {
				fmt.Fprintln(w, strings.Join(questionLines(t.Name, q), "\n"))
			}
			if t.Session != "" {
				fmt.Fprintf(w, "session %s\n", t.Session[strings.LastIndexAny(t.Session, "/:")+1:])
			}
			t.talk(w)
			return nil
		})
	}, cli.One[taskAndAll]())
}

func partsText(parts []store.Part) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.Text+string(p.Data)) // a part has one of them
	}
	return strings.Join(all, "\n")
}

func newTaskRm() *cobra.Command {
	var in api.Force
	return verb("rm TASK...", `Delete tasks with their workspaces and all that was said
A git branch that has commits which are nowhere else stays, unless --force is given.`, &in, func(c *call, args []string) error {
		gone := []task.Deleted{}
		err := cli.Each(args, func(id string) error { return deleteTask(c, id, in, &gone) })
		return cmp.Or(err, show(c, gone, ""))
	}, cli.One[[]task.Deleted]())
}

// deleteTask deletes a task and adds what became of it to gone.
func deleteTask(c *call, id string, how api.Force, gone *[]task.Deleted) error {
	branch, forget, err := c.keep(id, how.Force)
	if err != nil {
		return err
	}
	d, err := Ask[task.Deleted](c.Client, "deleteTask", how, id)
	if err != nil {
		return err
	}
	forget()
	d.KeptBranch = cmp.Or(branch, d.KeptBranch)
	*gone = append(*gone, d)
	if d.KeptBranch != "" {
		branch := cli.Short(d.KeptBranch)
		c.note("the branch %s stays: it has commits that are nowhere else; `git branch -D %s` deletes it", branch, branch)
	}
	for _, m := range d.Submodules {
		c.note("what was made in the submodule %s is on its branch %s", cli.Line(m.Path), cli.Line(m.Branch))
	}
	for _, path := range d.Dropped {
		c.note("went with it, and was nowhere else: %s", cli.Line(path))
	}
	return nil
}

func newTaskCleanup() *cobra.Command {
	var in struct {
		api.Force
		All   bool          `flag:"all" doc:"Delete tasks that have nothing to do, too"`
		Older time.Duration `flag:"older" doc:"Only those that were created longer ago than this"`
	}
	return verb("cleanup", `Delete tasks that are over, with their workspaces
These are those that were cancelled or have failed.`, &in, func(c *call, _ []string) error {
		q := api.TaskQuery{Status: "CANCELLED,FAILED"}
		if in.All {
			q.Status += ",IDLE"
		}
		tasks, err := List[store.Task](c.Client, 0, "listTasks", q)
		if err != nil {
			return err
		}
		gone := []task.Deleted{}
		err = cli.Each(tasks, func(t store.Task) error {
			if time.Since(t.Created) < in.Older {
				return nil
			}
			if err := deleteTask(c, t.ID, in.Force, &gone); err != nil {
				return fmt.Errorf("delete %s: %w", t.Name, err)
			}
			if !cli.AsJSON(c.Command) {
				fmt.Fprintf(c.OutOrStdout(), "%s  %s\n", t.ID, cli.Short(t.Name))
			}
			return nil
		})
		return cmp.Or(err, show(c, gone, ""))
	}, cli.One[[]task.Deleted]())
}

func newTaskMigrate() *cobra.Command {
	var in registry.Migration
	return verb("migrate (--from VERSION | TASK...) (--to VERSION | --latest)", `Move tasks to another version of their agent
They move within their branch: all of a version, or those that are named. A task goes
on with its version until its event has ended.`, &in, func(c *call, args []string) error {
		if (in.From == "") == (len(args) == 0) || (in.To == "") == !in.ToLatest {
			return cli.Usagef("say which tasks (--from VERSION, or ids) and to which version (--to VERSION, or --latest)")
		}
		in.Tasks = args
		return told(c, func(m registry.Migrated) string { return strings.Join(m.Moved, "\n") }, "migrateTasks", in)
	}, cli.One[registry.Migrated]())
}

func newTaskBudget() *cobra.Command {
	var in struct {
		budget.Limits
		MaxDisk size           `flag:"max-disk" value:"SIZE" doc:"How much its files may take on the disk, such as 2G; 0: as much as there is"`
		MaxTime *time.Duration `flag:"max-time" value:"TIME" doc:"How long its turns may run in all, such as 30m, without the time in which it waits for answers; 0: any time"`
	}
	return verb("budget TASK", `Show what a task has used and may use, or change that
A turn that has used it all is stopped, and nothing more is begun before you raise the
limit; messages that wait go on then.

  tandemux task budget fixer
  tandemux task budget fixer --max-cost 5`, &in, func(c *call, args []string) error {
		in.Seconds, in.Bytes = wholeSeconds(in.MaxTime), in.MaxDisk.bytes
		if in.Limits != (budget.Limits{}) {
			return told(c, budgetLines, "setBudget", in.Limits, args[0])
		}
		t, err := Ask[task.Present](c.Client, "getTask", nil, args[0])
		if err != nil {
			return err
		}
		return show(c, t.Budget, budgetLines(t.Budget))
	}, cli.One[budget.View]())
}

// budgetLines are what a task has used and may use.
func budgetLines(v budget.View) string {
	lines := v.Words()
	for i := range lines {
		lines[i] = cli.Line(lines[i])
	}
	return strings.Join(lines, "\n")
}

// size is a flag of bytes, nil where it was not given.
type size struct{ bytes *int64 }

func (s *size) UnmarshalText(text []byte) error {
	n, err := budget.ParseBytes(string(text))
	s.bytes = &n
	return err
}

// wholeSeconds is a time as the interface takes it, rounded up.
func wholeSeconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(int64((*d + time.Second - 1) / time.Second))
}
