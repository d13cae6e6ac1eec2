package taskcmd

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

type deployOptions struct {
	chosen
	note                              string
	ifChanged, redeploy, yes, verbose bool
}

func (h Host) newDeploy() *cobra.Command {
	var o deployOptions
	cmd := h.asJSON(&cobra.Command{
		Use:   "deploy",
		Short: "Deploy an agent: make a version of its directory",
		Long: `Make a version of the directory of tandemux-agent.toml, and point a branch at it: the
one that --branch names, git's current one, or main. main is of the environment
production, all others of preview. Tasks that are created then run that version.

A version never changes, and has the environment's variables as they are now.
Where it can't run the deploy fails and the branch stays at the version it has.`,
		Example: `  tandemux deploy
  tandemux deploy --branch main --yes
  tandemux deploy --agent claude       # a table [agents.claude] of the configuration
  tandemux deploy --redeploy           # the same again, with new variables`,
		Args: cobra.NoArgs,
	}, func(c *call, _ []string) error {
		if o.agent != "" && o.config != "" {
			return cli.Usagef("--agent and --config exclude each other")
		}
		o.branch = o.branchHere(c.ctx())
		if err := registry.CheckBranch(o.branch); err != nil {
			return cli.Usagef("%w", err)
		}
		if o.redeploy {
			return o.again(c)
		}
		return o.deploy(c)
	})
	f := cmd.Flags()
	o.branchFlag(cmd)
	f.StringVarP(&o.config, "config", "c", "", "the definition, or its directory (default: ./"+registry.DefinitionFile+")")
	f.StringVar(&o.agent, "agent", "", "an agent of the configuration in place of a definition; with --redeploy any")
	f.StringVar(&o.note, "note", "", "a note in the branch's history")
	f.BoolVar(&o.ifChanged, "if-changed", false, "do nothing when the active version is the same")
	f.BoolVar(&o.redeploy, "redeploy", false, "deploy the active version again, with the variables as they are now")
	f.BoolVarP(&o.yes, "yes", "y", false, "don't ask before production changes")
	f.BoolVar(&o.verbose, "verbose", false, "say what is sent")
	return cmd
}

func (o *deployOptions) deploy(c *call) error {
	req := apiclient.Request{Method: http.MethodPost}
	name := o.agent
	if o.agent != "" {
		def, err := c.Configured(o.agent)
		if err != nil {
			return err
		}
		req.Path, req.Body = "/agents/deploy", api.NewDeploy{Definition: def, DeployOptions: api.DeployOptions{Branch: o.branch, Note: o.note, Unchanged: o.ifChanged}}
	} else {
		def, err := findDefinition(o.config)
		if err != nil {
			return err
		}
		name = def.Name
		var files bytes.Buffer // bounded by Pack
		if err := registry.Pack(&files, filepath.Dir(def.path), def.Ignore); err != nil {
			return err
		}
		if o.verbose {
			c.note("%s: %d bytes of files", def.path, files.Len())
		}
		req.Path, req.Raw, req.Type = "/agents/deploy/files", &files, "application/x-tar"
		req.Query = set(map[string]string{"branch": o.branch, "unchanged": strconv.FormatBool(o.ifChanged), "note": o.note})
	}
	return o.change(c, req, "Deploy %s on %s?", name, o.branch)
}

// again deploys the active version of a branch.
func (o *deployOptions) again(c *call) error {
	name, err := o.name()
	if err != nil {
		return err
	}
	var b store.Branch
	if err := c.get(&b, "agents", name, "branches", o.branch); err != nil {
		return err
	}
	return o.change(c, apiclient.Request{
		Method: http.MethodPost, Path: apiclient.Path("branches", b.ID, "redeploy"), Body: api.NewRedeploy{Note: o.note},
	}, "Deploy the active version of %s on %s again?", name, o.branch)
}

// change changes what a branch runs and says what became of it. It asks before
// production changes, when there is somebody to ask.
func (o *deployOptions) change(c *call, req apiclient.Request, question string, args ...any) error {
	if !o.yes && registry.EnvironmentOf(o.branch) == registry.Production && cli.OnTerminal(c.cmd) && !cli.Agrees(c.cmd, fmt.Sprintf(question, args...)+" It is production.") {
		return fmt.Errorf("nothing was changed; --yes does it without asking")
	}
	var got store.Deployed
	if err := c.do(req, &got); err != nil {
		return err
	}
	v := got.Version
	err := cli.Print(c.cmd, got, func(w io.Writer) error {
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

func (h Host) newRollback() *cobra.Command {
	var o deployOptions
	var version string
	cmd := h.asJSON(&cobra.Command{
		Use:   "rollback",
		Short: "Move a branch back to an earlier version of an agent",
		Long: `Move a branch to an earlier version: the one that --version names, or the one before
the active one. It runs with the variables that it was deployed with; those that
were set since stay as they are and reach tasks with the next deploy. The branch is
the one that --branch names, git's current one, or main.`,
		Example: `  tandemux rollback
  tandemux rollback --agent reviewer --branch main --version 3 --yes`,
		Args: cobra.NoArgs,
	}, func(c *call, _ []string) error {
		agent, err := o.name()
		if err != nil {
			return err
		}
		o.branch = o.branchHere(c.ctx())
		to := "the version before"
		if version != "" {
			to = "version " + version
		}
		return o.change(c, apiclient.Request{
			Method: http.MethodPost, Path: apiclient.Path("agents", agent, "branches", o.branch, "rollback"), Body: api.NewRollback{Version: version, Note: o.note},
		}, "Roll %s on %s back to %s?", agent, o.branch, to)
	})
	f := cmd.Flags()
	o.branchFlag(cmd)
	o.agentFlags(cmd)
	f.StringVar(&version, "version", "", "its number or id (default: the one before the active one)")
	f.StringVar(&o.note, "note", "", "a note in the branch's history")
	f.BoolVarP(&o.yes, "yes", "y", false, "don't ask before production changes")
	return cmd
}
