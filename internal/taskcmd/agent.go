package taskcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
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
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

// DeployedCommands are those below `tandemux agents` about agents that were deployed
// (U23, U111).
func (h Host) DeployedCommands() []*cobra.Command {
	return []*cobra.Command{
		h.asJSON(&cobra.Command{Use: "deployed", Short: "List the agents that were deployed", Args: cobra.NoArgs}, func(c *call, _ []string) error {
			all, err := list[store.Agent](c, nil, 0, "agents")
			if err != nil {
				return err
			}
			return table(c, all, "", "NAME\tDESCRIPTION\tDEPLOYED\tID", func(a store.Agent) []any {
				return []any{a.Name, cli.Short(a.Description), cli.Moment(a.Updated), a.ID}
			})
		}),
		h.asJSON(&cobra.Command{Use: "get AGENT", Short: "Show a deployed agent and its branches", Args: cobra.ExactArgs(1)}, showAgent),
		h.does(&cobra.Command{
			Use: "delete AGENT", Short: "Delete a deployed agent, its versions and variables, that no task is of", Args: cobra.ExactArgs(1),
		}, func(c *call, args []string) error {
			return c.send(http.MethodDelete, nil, nil, "agents", args[0])
		}),
	}
}

func showAgent(c *call, args []string) error {
	var a struct {
		store.Agent
		Branches     []store.Branch      `json:"branches"`
		Environments []store.Environment `json:"environments"`
	}
	if err := c.get(&a.Agent, "agents", args[0]); err != nil {
		return err
	}
	var err error
	if a.Branches, err = list[store.Branch](c, nil, 0, "agents", a.ID, "branches"); err != nil {
		return err
	}
	var environments api.Page[store.Environment]
	if err := c.get(&environments, "agents", a.ID, "environments"); err != nil {
		return err
	}
	a.Environments = environments.Data
	return cli.Print(c.cmd, a, func(w io.Writer) error {
		fmt.Fprintf(w, "%s  %s\n%s\n\n", a.Name, a.ID, cli.Line(a.Description))
		return cli.Table(w, "BRANCH\tENVIRONMENT\tSTATUS\tVERSION\tDEPLOYED", a.Branches, func(b store.Branch) []any {
			return []any{cli.Short(b.Name), b.Environment, b.Status, cmp.Or(b.ActiveID, "-"), cli.Moment(b.Updated)}
		})
	})
}

// definition is a definition file that was found, with its directory.
type definition struct {
	registry.Definition
	path string
}

// findDefinition reads the definition file at a path, or the one in the current
// directory for "".
func findDefinition(path string) (definition, error) {
	asked := path
	if path == "" {
		path = registry.DefinitionFile
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, registry.DefinitionFile)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && asked == "" {
		return definition{}, fmt.Errorf("there is no %s here: `tandemux init` makes one, and --config names another: %w", registry.DefinitionFile, err)
	}
	if err != nil {
		return definition{}, fmt.Errorf("read the definition: %w", err)
	}
	d, err := registry.ParseDefinition(text)
	if err != nil {
		return definition{}, fmt.Errorf("%s: %w", filepath.Dir(path), err)
	}
	return definition{d, path}, nil
}

// chosen is the agent and the branch that a command line names.
type chosen struct{ agent, config, branch string }

// agentFlags adds the flags that name an agent.
func (o *chosen) agentFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.agent, "agent", "a", "", "the agent (default: the one of ./"+registry.DefinitionFile+")")
	o.configFlag(cmd)
}

func (o *chosen) configFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.config, "config", "c", "", "the definition that says which agent (default: ./"+registry.DefinitionFile+")")
}

func (o *chosen) branchFlag(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&o.branch, "branch", "b", "", "the branch (default: git's current one, or main)")
}

// name is the agent that was named, or the one of the definition in the current
// directory (U106).
func (o *chosen) name() (string, error) {
	if o.agent != "" {
		return o.agent, nil
	}
	d, err := findDefinition(o.config)
	if errors.Is(err, fs.ErrNotExist) && o.config == "" {
		return "", cli.Usagef("which agent? Name it, or go to the directory of its %s", registry.DefinitionFile)
	}
	return d.Name, err
}

// gitTime is how long git may take to say which branch it is on.
const gitTime = 5 * time.Second

// branchHere is the branch that was named, the current one of git's, or main (U29).
func (o *chosen) branchHere(ctx context.Context) string {
	if o.branch != "" {
		return o.branch
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "symbolic-ref", "--quiet", "--short", "HEAD").Output()
	if name := strings.TrimSpace(string(out)); err == nil && name != "" {
		return name
	}
	return registry.MainBranch
}

func (h Host) newVersions() *cobra.Command {
	var o chosen
	var events bool
	var limit int
	cmd := h.asJSON(&cobra.Command{
		Use:   "versions [AGENT]",
		Short: "List an agent's versions, or what happened to a branch",
		Long: `List the versions of an agent, newest first; * marks those that are active on their
branch. With --events, list what happened to a branch: the one that --branch names,
git's current one, or main. Without AGENT it is the one of ./tandemux-agent.toml.`,
		Example: `  tandemux versions
  tandemux versions reviewer --branch main --limit 5
  tandemux versions --events`,
		Args: cobra.MaximumNArgs(1),
	}, func(c *call, args []string) error {
		if limit < 0 {
			return cli.Usagef("--limit %d is below zero", limit)
		}
		if len(args) > 0 {
			o.agent = args[0]
		}
		agent, err := o.name()
		if err != nil {
			return err
		}
		if events {
			return listBranchEvents(c, agent, o.branchHere(c.ctx()), limit)
		}
		return listVersions(c, agent, o.branch, limit)
	})
	f := cmd.Flags()
	f.StringVarP(&o.branch, "branch", "b", "", "of this branch alone")
	o.configFlag(cmd)
	f.BoolVar(&events, "events", false, "what happened to the branch: deploys, rollbacks, failures")
	f.IntVar(&limit, "limit", 20, "so many at most; 0: all")
	return cmd
}

// versionRow is a version as `tandemux versions --json` prints it; stable.
type versionRow struct {
	store.Version
	Branch string `json:"branch"`
	Active bool   `json:"active"`
}

func listVersions(c *call, agent, branch string, limit int) error {
	versions, err := list[store.Version](c, set(map[string]string{"branch": branch}), limit, "agents", agent, "versions")
	if err != nil {
		return err
	}
	branches, err := list[store.Branch](c, nil, 0, "agents", agent, "branches")
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
	return table(c, rows, "", "VERSION\tSTATUS\tBRANCH\tENVIRONMENT\tHASH\tBY\tCREATED\tID", func(r versionRow) []any {
		number := strconv.Itoa(r.Number)
		if r.Active {
			number += " *"
		}
		return []any{number, r.Status, cli.Short(r.Branch), r.Environment, fmt.Sprintf("%.8s", r.Hash), cli.Short(r.Author), cli.Moment(r.Created), r.ID}
	})
}

func listBranchEvents(c *call, agent, branch string, limit int) error {
	var b store.Branch
	if err := c.get(&b, "agents", agent, "branches", branch); err != nil {
		return err
	}
	events, err := list[store.BranchEvent](c, nil, limit, "branches", b.ID, "events")
	if err != nil {
		return err
	}
	versions, err := list[store.Version](c, nil, 0, "branches", b.ID, "versions")
	if err != nil {
		return err
	}
	numbers := map[string]string{"": "-"}
	for _, v := range versions {
		numbers[v.ID] = strconv.Itoa(v.Number)
	}
	return table(c, events, "", "WHEN\tWHAT\tVERSION\tBEFORE\tBY\tNOTE", func(e store.BranchEvent) []any {
		return []any{cli.Moment(e.Created), e.Kind, cmp.Or(numbers[e.VersionID], e.VersionID), cmp.Or(numbers[e.PreviousID], "-"), cli.Short(e.Author), cli.Short(e.Note)}
	})
}

func (h Host) newLogs() *cobra.Command {
	var o chosen
	var task, level, source, since, until, version string
	var limit int
	var follow bool
	cmd := h.does(&cobra.Command{
		Use:   "logs [AGENT]",
		Short: "Show an agent's log: its stderr, its hooks, its tasks, its deploys",
		Long: `Show the newest lines of an agent's log, with secrets masked. Without AGENT it is the
one of ./tandemux-agent.toml. Sources are agent (what it writes to stderr), hook, task
(what became of tasks) and deploy.`,
		Example: `  tandemux logs
  tandemux logs reviewer --since 1h --level WARNING
  tandemux logs --task 7k2m --follow`,
		Args: cobra.MaximumNArgs(1),
	}, func(c *call, args []string) error {
		const most = 1000
		switch {
		case limit < 1 || limit > most:
			return cli.Usagef("--limit %d: use a number from 1 to %d", limit, most)
		case follow && until != "":
			return cli.Usagef("--follow and --until exclude each other")
		}
		q := set(map[string]string{"task": task, "version": version, "source": source, "limit": strconv.Itoa(limit)})
		if level != "" {
			parsed, err := store.ParseLevel(level)
			if err != nil {
				return cli.Usagef("--level: %w", err)
			}
			q.Set("level", parsed.String())
		}
		for name, value := range map[string]string{"since": since, "until": until} {
			if value == "" {
				continue
			}
			t, err := cli.Past(value, time.Now())
			if err != nil {
				return cli.Usagef("--%s %s: %w", name, value, err)
			}
			q.Set(name, t.UTC().Format(time.RFC3339))
		}
		if len(args) > 0 {
			o.agent = args[0]
		}
		if o.agent == "" && task != "" && o.config == "" {
			var t store.Task
			if err := c.get(&t, "tasks", task); err != nil {
				return err
			}
			o.agent = t.AgentID
		}
		agent, err := o.name()
		if err != nil {
			return err
		}
		return showLog(c, agent, q, follow)
	})
	f := cmd.Flags()
	f.StringVarP(&task, "task", "t", "", "about this task, by id or name")
	f.StringVar(&level, "level", "", "at least DEBUG, INFO, WARNING or ERROR")
	f.StringVar(&source, "source", "", "agent, hook, task or deploy")
	f.StringVar(&since, "since", "", "from a time such as 2026-12-01, or for so long, such as 1h or 2d")
	f.StringVar(&until, "until", "", "up to a time, or until so long ago")
	f.StringVar(&version, "version", "", "of this version, by number or id")
	o.configFlag(cmd)
	f.IntVarP(&limit, "limit", "n", 100, "the newest so many, up to 1000")
	f.BoolVarP(&follow, "follow", "f", false, "go on with lines as they are written")
	f.Bool("json", false, "print each line as JSON")
	return cmd
}

// followTime is how long a question for more lines is left open, in seconds.
const followTime = "50"

// showLog prints the lines, and those that come if it is followed.
func showLog(c *call, agent string, q url.Values, follow bool) error {
	client, err := c.api()
	if err != nil {
		return err
	}
	for {
		var page api.LogPage
		if err := client.Get(c.ctx(), apiclient.Path("agents", agent, "logs"), q, &page); err != nil {
			if follow && c.ctx().Err() != nil {
				return nil // the person has seen enough
			}
			return err
		}
		for _, e := range page.Data {
			if err := printEntry(c, e); err != nil {
				return err
			}
		}
		if !follow {
			return nil
		}
		q.Set("after", strconv.FormatInt(max(page.Last, 1), 10))
		q.Set("wait", followTime)
		q.Set("limit", "1000")
	}
}

func printEntry(c *call, e store.LogEntry) error {
	if cli.AsJSON(c.cmd) {
		return cli.JSONLines(c.out()).Encode(e)
	}
	task := ""
	if e.TaskID != "" {
		task = " " + e.TaskID
	}
	_, err := fmt.Fprintf(c.out(), "%s %-7s %s%s: %s\n", e.Created.Local().Format("2006-01-02 15:04:05.000"), e.Level, e.Source, task, cli.Line(e.Text))
	return err
}
