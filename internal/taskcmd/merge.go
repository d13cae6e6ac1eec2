package taskcmd

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/workspace"
	"tandemux/host/workspace/filetree"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

func newWsUpdate() *cobra.Command {
	var in struct {
		api.UpdateWorkspace
		Wait bool `flag:"wait" doc:"With --ask: print what the agent says, and exit when its turn has ended: 0 if it went well, else 1"`
	}
	return verb("update TASK", `Bring what is new at home into a task
That is what the branch that its worktree was made from has since then: it is merged
into the task's branch and files. Into a copy come the files that changed in its directory.
What the task has not committed is committed first. Where both sides changed the same,
nothing is changed and the files are named, unless --ask or --leave is given; --abort
gives up what was left. While the task is at work it wants --running.

  tandemux ws update fixer --ask --wait`, &in, func(c *call, args []string) error {
		if in.Wait && !in.Ask {
			return cli.Usagef("--wait goes with --ask")
		}
		u, err := Ask[api.WorkspaceUpdate](c.Client, "updateWorkspace", in.UpdateWorkspace, args[0])
		if err != nil {
			return err
		}
		said := TellUpdate(u, in.Abort)
		if in.Wait && u.EventID != "" {
			if err := c.resolved(args[0], u); err != nil {
				return err
			}
			said = ""
		}
		return show(c, u, said)
	}, cli.One[api.WorkspaceUpdate]())
}

// TellUpdate says what an update did; aborted that it gave one up.
func TellUpdate(u api.WorkspaceUpdate, aborted bool) string {
	from := cli.Short(u.From)
	switch {
	case aborted:
		return fmt.Sprintf("the update from %s was given up; what the files had is kept in %s", from, u.Kept)
	case u.Files > 0:
		return fmt.Sprintf("%s of %s came into the task", cli.Count(u.Files, "file"), from)
	case u.Commits == 0:
		return "the task has all of " + from
	case len(u.Conflicts) == 0:
		return fmt.Sprintf("%s of %s came into the task", cli.Count(u.Commits, "commit"), from)
	}
	var b strings.Builder
	for _, p := range u.Conflicts {
		fmt.Fprintf(&b, "conflict  %s\n", cli.Line(p))
	}
	what := "the agent was asked to resolve them"
	if u.EventID == "" {
		what = "they wait in its files to be resolved and committed"
	}
	fmt.Fprintf(&b, "%s of %s came into the task, with conflicts in %s: %s", cli.Count(u.Commits, "commit"), from, cli.Count(len(u.Conflicts), "file"), what)
	return b.String()
}

func newWsResolve() *cobra.Command {
	var in struct {
		Keep    string `flag:"keep" doc:"Whose change counts: the task's or the filesystem's" enum:"task,filesystem"`
		Running bool   `flag:"running" doc:"Do it though the task is at work"`
	}
	return verb("resolve TASK [PATH...]", `List or decide files that a task and its filesystem both changed
They stay as they are on both sides until --keep says whose change counts, for all or
for the files and directories that are named.

  tandemux ws resolve fixer --keep task notes.md`, &in, func(c *call, args []string) error {
		if in.Keep == "" {
			if len(args) > 1 || in.Running {
				return cli.Usagef("--keep: say whose change counts, task or filesystem")
			}
			w, err := Ask[workspace.Info](c.Client, "getWorkspace", nil, args[0])
			if err != nil {
				return err
			}
			return cli.PrintTable(c.Command, "no file was changed on both sides", "", append([]string{}, w.Conflicts...), func(path string) []any { return []any{cli.Whole(cli.Line(path))} })
		}
		return told(c, tellResolved, "resolveWorkspace", api.ResolveWorkspace{Keep: in.Keep, Paths: args[1:], Running: in.Running}, args[0])
	}, cli.One[[]string](), cli.One[filetree.Synced]())
}

// tellResolved says what deciding between two changes did.
func tellResolved(s filetree.Synced) string {
	text := fmt.Sprintf("%s changed on the other side", cli.Count(s.Count, "file"))
	if n := len(s.Conflicts); n > 0 {
		text += fmt.Sprintf("; %s left", cli.Count(n, "conflict"))
	}
	return text
}

func newWsMerge() *cobra.Command {
	var in struct {
		api.MergeWorkspace
		Yes bool `flag:"yes,y" doc:"Don't ask"`
		Ask bool `flag:"ask" doc:"Where both sides changed the same, have the agent resolve that first, and wait for it"`
	}
	return verb("merge TASK", `Bring home what a task changed
It comes from a worktree into the branch that is checked out in the repository, from a
copy into its directory, from a filesystem's copy into the filesystem. What will come
is shown first, and you are asked; where nobody can be asked, as in a script or with
--json, it wants --yes. It is done wholly or not at all: where both sides changed the same, or your uncommitted changes are in the way,
nothing is touched, and you are told where; --ask has the agent resolve what both changed. What a hub's task
made comes into the repository or directory of this machine that it began with. While the task is at
work it wants --running. The check that the configuration has for the repository must pass first, unless
--no-check is given.

  tandemux ws merge fixer --ask --yes`, &in, func(c *call, args []string) error {
		asks := !in.Yes && !in.DryRun
		first := in.MergeWorkspace
		first.DryRun = first.DryRun || asks
		m, err := c.merge(first, args[0])
		if refused, is := errors.AsType[*apiclient.Error](err); is && in.Ask && len(refused.Conflicts) > 0 {
			var u api.WorkspaceUpdate
			if u, err = Ask[api.WorkspaceUpdate](c.Client, "updateWorkspace", api.UpdateWorkspace{Ask: true, Running: in.Running}, args[0]); err == nil && u.EventID != "" {
				err = c.resolved(args[0], u)
			}
			if err == nil {
				m, err = c.merge(first, args[0])
			}
		}
		if err != nil {
			return c.printed(err)
		}
		asks = asks && !m.Nothing
		if !asks || !cli.AsJSON(c.Command) {
			err = cli.Print(c.Command, m, func(w io.Writer) error {
				tellMerged(w, m, first.DryRun)
				return nil
			})
		}
		if err != nil || !asks {
			return err
		}
		if cli.AsJSON(c.Command) || !cli.OnTerminal(c.Command) {
			return errors.New("nothing was merged, as nobody can be asked here; --yes merges without asking")
		}
		if !cli.Agrees(c.Command, "Merge into "+cli.Short(m.Into)+"?") {
			return errors.New("nothing was merged")
		}
		if m.Check != "" && !in.NoCheck {
			c.note("running `%s` in the task", cli.Short(m.Check))
		}
		if m, err = c.merge(in.MergeWorkspace, args[0]); err != nil {
			return c.printed(err)
		}
		return show(c, m, "merged into "+cli.Short(m.Into))
	}, cli.One[workspace.Merged]())
}

// resolved waits until the agent has resolved the conflicts of an update.
func (c *call) resolved(id string, u api.WorkspaceUpdate) error {
	c.note("%s", TellUpdate(u, false))
	p := newPrinter(c, id)
	p.people = true
	return (&waiting{}).print(p, id, u.EventID)
}

// printed shows what a check printed that failed, and gives the error.
func (c *call) printed(err error) error {
	if refused, is := errors.AsType[*apiclient.Error](err); is {
		for line := range strings.Lines(refused.Output) {
			c.note("%s", cli.Line(strings.TrimSuffix(line, "\n")))
		}
	}
	return err
}

func tellMerged(w io.Writer, m workspace.Merged, dry bool) {
	if m.Nothing {
		fmt.Fprintf(w, "there is nothing to merge into %s\n", cli.Short(m.Into))
		return
	}
	printStat(w, m.Files, m.Left)
	if m.Commit != "" {
		fmt.Fprintf(w, "%s is at %s\n", cli.Short(m.Into), m.Commit)
	}
	if m.Check != "" {
		how := "has passed"
		if dry {
			how = "must pass first"
		}
		fmt.Fprintf(w, "`%s` %s\n", cli.Short(m.Check), how)
	}
	if m.Behind > 0 {
		how := "`tandemux ws update` brings them in"
		if m.Check != "" {
			how = "they are brought in before the check"
		}
		fmt.Fprintf(w, "%s has %s that the task does not have: %s\n", cli.Short(m.Into), cli.Count(m.Behind, "commit"), how)
	}
}
