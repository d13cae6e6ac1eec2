package taskcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/cli"
)

// ListDeployed lists the agents that were deployed (U23).
func ListDeployed(cmd *cobra.Command) error {
	return onHost(cmd, func(c *call) error {
		all, err := List[store.Agent](c.Client, 0, "listAgents", nil)
		if err != nil {
			return err
		}
		return cli.PrintTable(c.Command, "no agent was deployed; `tandemux deploy` deploys one", "NAME\tDESCRIPTION\tDEPLOYED\tID", all, func(a store.Agent) []any {
			return []any{a.Name, a.Description, a.Updated, a.ID}
		})
	})
}

// DeployedCommands are those below `tandemux agent` about an agent that was deployed
// (U111).
func DeployedCommands() []*cobra.Command {
	return []*cobra.Command{
		act("show AGENT", "getAgent", func(a store.Agent) string { return a.Name + "  " + a.ID + "\n" + cli.Line(a.Description) }),
		act[nothing]("rm AGENT", "deleteAgent", nil),
	}
}

// findDefinition reads the definition file at a path, or the one in the current
// directory for "", and gives its directory.
func findDefinition(asked string) (d registry.Definition, dir string, err error) {
	path := cmp.Or(asked, registry.DefinitionFile)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, registry.DefinitionFile)
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && asked == "":
		return d, "", fmt.Errorf("there is no %s here: `tandemux init` makes one, and --config names another: %w", registry.DefinitionFile, err)
	case err != nil:
		return d, "", fmt.Errorf("read the definition: %w", err)
	}
	dir = filepath.Dir(path)
	if d, err = registry.ParseDefinition(text); err != nil && asked != "" {
		err = fmt.Errorf("%s: %w", dir, err)
	}
	return d, dir, err
}

// configFlag, chosen and branchFlag are the flags that name an agent and a branch.
type configFlag struct {
	Config string `flag:"config,c" doc:"The definition that says which agent, or its directory (default: ./tandemux-agent.toml)"`
}

type chosen struct {
	Agent string `flag:"agent,a" doc:"The agent (default: the one of ./tandemux-agent.toml)"`
	configFlag
}

type branchFlag struct {
	Branch string `flag:"branch,b" doc:"The branch (default: git's current one, or main)"`
}

// agentOf is the agent that was named, or the one of the definition in the current
// directory (U106).
func (o configFlag) agentOf(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	d, _, err := findDefinition(o.Config)
	if errors.Is(err, fs.ErrNotExist) && o.Config == "" {
		return "", cli.Usagef("which agent? Name it, or go to the directory of its %s", registry.DefinitionFile)
	}
	return d.Name, err
}

// gitTime is how long git may take to say which branch it is on, and what is not committed.
const gitTime = 5 * time.Second

// branchHere is the branch that was named, the current one of git's, or main (U29).
func branchHere(ctx context.Context, named string) string {
	if named != "" {
		return named
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "symbolic-ref", "--quiet", "--short", "HEAD").Output()
	if name := strings.TrimSpace(string(out)); err == nil && name != "" {
		return name
	}
	return registry.MainBranch
}

func newVersions() *cobra.Command {
	in := struct {
		Branch string `flag:"branch,b" doc:"Of this branch alone"`
		configFlag
		Events bool `flag:"events" doc:"What happened to the branch: deploys, rollbacks, failures"`
		Limit  int  `flag:"limit" doc:"So many at most; 0: all"`
	}{Limit: 20}
	return verb("versions [AGENT]", `List an agent's versions, or what happened to a branch
The versions are listed newest first; * marks those that are active on their
branch. With --events, what happened to a branch: the one that --branch names,
git's current one, or main. Without AGENT it is the one of ./tandemux-agent.toml.`, &in, func(c *call, args []string) error {
		if in.Limit < 0 {
			return cli.Usagef("--limit %d is below zero", in.Limit)
		}
		agent, err := in.agentOf(strings.Join(args, ""))
		if err != nil {
			return err
		}
		if in.Events {
			return listBranchEvents(c, agent, branchHere(c.Context(), in.Branch), in.Limit)
		}
		return listVersions(c, agent, in.Branch, in.Limit)
	}, cli.One[[]versionRow](), cli.One[[]store.BranchEvent]())
}

// versionRow is a version as `tandemux versions --json` prints it; stable.
type versionRow struct {
	store.Version
	Branch string `json:"branch" doc:"That it was deployed to"`
	Active bool   `json:"active" doc:"New tasks of the branch get it"`
}

func listVersions(c *call, agent, branch string, limit int) error {
	versions, err := List[store.Version](c.Client, limit, "listVersions", api.VersionQuery{Branch: branch}, agent)
	if err != nil {
		return err
	}
	branches, err := List[store.Branch](c.Client, 0, "listBranches", nil, agent)
	if err != nil {
		return err
	}
	byID := map[string]store.Branch{}
	for _, b := range branches {
		byID[b.ID] = b
	}
	rows := []versionRow{}
	for _, v := range versions {
		b := byID[v.BranchID]
		rows = append(rows, versionRow{v, b.Name, b.ActiveID == v.ID})
	}
	return cli.PrintTable(c.Command, "", "VERSION\tSTATUS\tBRANCH\tENVIRONMENT\tHASH\tBY\tCREATED\tID", rows, func(r versionRow) []any {
		number := strconv.Itoa(r.Number)
		if r.Active {
			number += " *"
		}
		return []any{number, r.Status, r.Branch, r.Environment, fmt.Sprintf("%.8s", r.Hash), r.Author, r.Created, r.ID}
	})
}

func listBranchEvents(c *call, agent, branch string, limit int) error {
	b, err := Ask[store.Branch](c.Client, "getBranchNamed", nil, agent, branch)
	if err != nil {
		return err
	}
	events, err := List[store.BranchEvent](c.Client, limit, "listBranchEvents", nil, b.ID)
	if err != nil {
		return err
	}
	versions, err := List[store.Version](c.Client, 0, "listBranchVersions", nil, b.ID)
	if err != nil {
		return err
	}
	numbers := map[string]string{"": "-"}
	for _, v := range versions {
		numbers[v.ID] = strconv.Itoa(v.Number)
	}
	return cli.PrintTable(c.Command, "", "WHEN\tWHAT\tVERSION\tBEFORE\tBY\tNOTE", events, func(e store.BranchEvent) []any {
		return []any{e.Created, e.Kind, cmp.Or(numbers[e.VersionID], e.VersionID), cmp.Or(numbers[e.PreviousID], "-"), e.Author, e.Note}
	})
}

func newLogs() *cobra.Command {
	in := struct {
		api.LogQuery
		configFlag
		Since  cli.Ago `flag:"since" doc:"From a time such as 2026-12-01, or for so long, such as 1h or 2d"`
		Until  cli.Ago `flag:"until" doc:"Up to a time, or until so long ago"`
		Follow bool    `flag:"follow,f" doc:"Go on with lines as they are written"`
	}{LogQuery: api.LogQuery{Limit: 100}}
	return verb("logs [AGENT]", `Show an agent's log: its stderr, its hooks, its tasks, its deploys
The newest lines are shown, with secrets masked. Without AGENT it is the one of
./tandemux-agent.toml. Sources are agent (what it writes to stderr), hook, task
(what became of tasks) and deploy.

  tandemux logs reviewer --since 1h --level WARNING
  tandemux logs --task 7k2m --follow`, &in, func(c *call, args []string) error {
		const most = 1000
		switch {
		case in.Limit < 1 || in.Limit > most:
			return cli.Usagef("--limit %d: use a number from 1 to %d", in.Limit, most)
		case in.Follow && !in.Until.IsZero():
			return cli.Usagef("--follow and --until exclude each other")
		}
		in.LogQuery.Since.Time, in.LogQuery.Until.Time = in.Since.Time, in.Until.Time
		agent := strings.Join(args, "")
		if agent == "" && in.Task != "" && in.Config == "" {
			t, err := Ask[store.Task](c.Client, "getTask", nil, in.Task)
			if err != nil {
				return err
			}
			agent = t.AgentID
		}
		agent, err := in.agentOf(agent)
		if err != nil {
			return err
		}
		for {
			page, err := Ask[api.LogPage](c.Client, "getLogs", in.LogQuery, agent)
			if err != nil {
				if in.Follow && c.Context().Err() != nil {
					return nil // the person has seen enough
				}
				return err
			}
			for _, e := range page.Data {
				if err := printEntry(c, e); err != nil {
					return err
				}
			}
			if !in.Follow {
				return nil
			}
			in.After, in.Wait, in.Limit = max(page.Last, 1), followTime, most
		}
	}, cli.Stream[store.LogEntry]())
}

// followTime is how long a question for more lines is left open, in seconds.
const followTime = 50

func printEntry(c *call, e store.LogEntry) error {
	if cli.AsJSON(c.Command) {
		return cli.PrintLine[store.LogEntry](c.Command, e)
	}
	task := ""
	if e.TaskID != "" {
		task = " " + e.TaskID
	}
	_, err := fmt.Fprintf(c.OutOrStdout(), "%s %-7s %s%s: %s\n", e.Created.Local().Format("2006-01-02 15:04:05.000"), e.Level, e.Source, task, cli.Line(e.Text))
	return err
}
