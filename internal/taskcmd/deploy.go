package taskcmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

// changing are the flags of what changes the version that a branch runs.
type changing struct {
	branchFlag
	Note string `flag:"note" doc:"A note in the branch's history"`
	Yes  bool   `flag:"yes,y" doc:"Don't ask before production changes"`
}

type deployFlags struct {
	changing
	configFlag
	Agent     string `flag:"agent" doc:"An agent of the configuration in place of a definition; with --redeploy any"`
	IfChanged bool   `flag:"if-changed" doc:"Do nothing when the active version is the same"`
	Redeploy  bool   `flag:"redeploy" doc:"Deploy the active version again, with the variables as they are now"`
}

func newDeploy(configured func(string) (registry.Definition, error)) *cobra.Command {
	var in deployFlags
	return verb("deploy", `Deploy an agent: make a version of its directory
It makes a version of the directory of tandemux-agent.toml, and points a branch at
it: the one that --branch names, git's current one, or main. main is of the
environment production, all others of preview. Tasks that are created then run that
version. A version never changes, and has the environment's variables as they are
now. Where it can't run the deploy fails and the branch stays at the version it has.

  tandemux deploy --branch main --yes
  tandemux deploy --agent claude       # a table [agents.claude] of the configuration
  tandemux deploy --redeploy           # the same again, with new variables`, &in, func(c *call, _ []string) error {
		if in.Agent != "" && in.Config != "" {
			return cli.Usagef("--agent and --config exclude each other")
		}
		in.Branch = branchHere(c.Context(), in.Branch)
		if err := registry.CheckBranch(in.Branch); err != nil {
			return cli.Usagef("%w", err)
		}
		if in.Redeploy {
			name, err := in.agentOf(in.Agent)
			if err != nil {
				return err
			}
			b, err := Ask[store.Branch](c.Client, "getBranchNamed", nil, name, in.Branch)
			if err != nil {
				return err
			}
			return in.change(c, Request("redeployBranch", api.NewRedeploy{Note: in.Note}, b.ID), "Deploy the active version of %s on %s again?", name, in.Branch)
		}
		o := api.DeployOptions{Branch: in.Branch, Note: in.Note, Unchanged: in.IfChanged}
		if in.Agent != "" {
			def, err := configured(in.Agent)
			if err != nil {
				return err
			}
			return in.change(c, Request("deployAgent", api.NewDeploy{Definition: def, DeployOptions: o}), "Deploy %s on %s?", in.Agent, in.Branch)
		}
		def, dir, err := findDefinition(in.Config)
		if err != nil {
			return err
		}
		var files bytes.Buffer // bounded by Pack
		if err := registry.Pack(c.Context(), &files, dir, def.Ignore); err != nil {
			return err
		}
		r := Request("deployAgentFiles", o)
		r.Raw, r.Type = &files, "application/x-tar"
		return in.change(c, r, "Deploy %s on %s?", def.Name, in.Branch)
	}, cli.One[store.Deployed]())
}

// change changes what a branch runs and says what became of it. It asks before
// production changes, when there is somebody to ask.
func (o *changing) change(c *call, r apiclient.Request, question string, args ...any) error {
	if !o.Yes && registry.EnvironmentOf(o.Branch) == registry.Production && cli.OnTerminal(c.Command) && !cli.Agrees(c.Command, fmt.Sprintf(question, args...)+" It is production.") {
		return errors.New("nothing was changed; --yes does it without asking")
	}
	var got store.Deployed
	if err := c.do(r, &got); err != nil {
		return err
	}
	v := got.Version
	err := cli.Print(c.Command, got, func(w io.Writer) error {
		switch {
		case v.Status == store.Failed: // the error says it
		case got.Unchanged:
			fmt.Fprintf(w, "version %d of %s is on %s already (%s)\n", v.Number, got.Agent.Name, got.Branch.Name, v.ID)
		default:
			fmt.Fprintf(w, "version %d of %s is active on %s, %s (%s)\n", v.Number, got.Agent.Name, got.Branch.Name, got.Branch.Environment, v.ID)
		}
		if n := len(got.Moved); n > 0 {
			c.note("%s to it with the next event", cli.Plural(n, "running task moves", "running tasks move"))
		}
		return nil
	})
	if err == nil && v.Status == store.Failed {
		err = fmt.Errorf("version %d of %s failed: %s; the branch %s stays as it is", v.Number, got.Agent.Name, cli.Line(v.Reason), got.Branch.Name)
	}
	return err
}

func newRollback() *cobra.Command {
	var in struct {
		changing
		chosen
		Version string `flag:"version" doc:"Its number or id (default: the one before the active one)"`
	}
	return verb("rollback", `Move a branch back to an earlier version of an agent
It moves to the version that --version names, or the one before the active one. It
runs with the variables that it was deployed with; those that were set since stay as
they are and reach tasks with the next deploy. The branch is the one that --branch
names, git's current one, or main.`, &in, func(c *call, _ []string) error {
		agent, err := in.agentOf(in.Agent)
		if err != nil {
			return err
		}
		in.Branch = branchHere(c.Context(), in.Branch)
		to := "the version before"
		if in.Version != "" {
			to = "version " + in.Version
		}
		return in.change(c, Request("rollbackBranchNamed", api.NewRollback{Version: in.Version, Note: in.Note}, agent, in.Branch), "Roll %s on %s back to %s?", agent, in.Branch, to)
	}, cli.One[store.Deployed]())
}
