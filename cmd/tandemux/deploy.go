package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
)

type deployOptions struct {
	config, branch, agent, note string
	ifChanged, redeploy         bool
	yes, verbose, asJSON        bool
}

func newDeployCommand() *cobra.Command {
	var o deployOptions
	cmd := &cobra.Command{
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
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			if o.agent != "" && o.config != "" {
				return usagef("--agent and --config exclude each other")
			}
			branch := branchHere(cmd.Context(), o.branch)
			if err := registry.CheckBranch(branch); err != nil {
				return usagef("%w", err)
			}
			if o.redeploy {
				return o.again(cmd, branch)
			}
			return o.deploy(cmd, branch)
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&o.config, "config", "c", "", "the definition, or its directory (default: ./"+registry.DefinitionFile+")")
	f.StringVarP(&o.branch, "branch", "b", "", "the branch (default: git's current one, or main)")
	f.StringVar(&o.agent, "agent", "", "an agent of the configuration in place of a definition; with --redeploy any")
	f.StringVar(&o.note, "note", "", "a note in the branch's history")
	f.BoolVar(&o.ifChanged, "if-changed", false, "do nothing when the active version is the same")
	f.BoolVar(&o.redeploy, "redeploy", false, "deploy the active version again, with the variables as they are now")
	f.BoolVarP(&o.yes, "yes", "y", false, "don't ask before production changes")
	f.BoolVar(&o.verbose, "verbose", false, "say what is sent")
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func (o deployOptions) deploy(cmd *cobra.Command, branch string) error {
	req := apiclient.Request{Method: http.MethodPost}
	name := o.agent
	if o.agent != "" {
		def, err := configuredDefinition(o.agent)
		if err != nil {
			return err
		}
		req.Path, req.Body = "/agents/deploy", api.NewDeploy{Definition: def, Branch: branch, Note: o.note, Unchanged: o.ifChanged}
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
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d bytes of files\n", def.path, files.Len())
		}
		q := url.Values{"branch": {branch}, "unchanged": {strconv.FormatBool(o.ifChanged)}}
		if o.note != "" {
			q.Set("note", o.note)
		}
		req.Path, req.Query, req.Raw, req.Type = "/agents/deploy/files", q, &files, "application/x-tar"
	}
	if err := confirmChange(cmd, o.yes, fmt.Sprintf("Deploy %s on %s?", name, branch), branch); err != nil {
		return err
	}
	return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error { return o.finish(ctx, cmd, c, req) })
}

// again deploys the active version of a branch.
func (o deployOptions) again(cmd *cobra.Command, branch string) error {
	name, err := agentNamed(o.agent, o.config)
	if err != nil {
		return err
	}
	if err := confirmChange(cmd, o.yes, fmt.Sprintf("Deploy the active version of %s on %s again?", name, branch), branch); err != nil {
		return err
	}
	return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
		var b store.Branch
		if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: agentPath(name, "branches", branch)}, &b); err != nil {
			return err
		}
		return o.finish(ctx, cmd, c, apiclient.Request{
			Method: http.MethodPost, Path: "/branches/" + apiclient.Segment(b.ID) + "/redeploy", Body: api.NewRedeploy{Note: o.note},
		})
	})
}

// finish sends a deploy and says what became of it.
func (o deployOptions) finish(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, req apiclient.Request) error {
	var got store.Deployed
	if _, err := c.Do(ctx, req, &got); err != nil {
		return err
	}
	if err := printDeployed(cmd, got, o.asJSON); err != nil {
		return err
	}
	if got.Version.Status == store.Failed {
		return fmt.Errorf("version %d of %s failed: %s; the branch %s stays as it is", got.Version.Number, got.Agent.Name, printableLong(got.Version.Reason), got.Branch.Name)
	}
	return nil
}

func printDeployed(cmd *cobra.Command, got store.Deployed, asJSON bool) error {
	if asJSON {
		return printJSON(cmd.OutOrStdout(), got)
	}
	v := got.Version
	switch {
	case v.Status == store.Failed:
		return nil // the error says it
	case got.Unchanged:
		fmt.Fprintf(cmd.OutOrStdout(), "version %d of %s is on %s already (%s)\n", v.Number, got.Agent.Name, got.Branch.Name, v.ID)
	default:
		fmt.Fprintf(cmd.OutOrStdout(), "version %d of %s is active on %s, %s (%s)\n", v.Number, got.Agent.Name, got.Branch.Name, got.Branch.Environment, v.ID)
	}
	if n := len(got.Moved); n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s to it with the next event\n", plural(n, "running task moves", "running tasks move"))
	}
	return nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// confirmChange asks before production changes, when there is somebody to ask.
func confirmChange(cmd *cobra.Command, yes bool, question, branch string) error {
	in, isFile := cmd.InOrStdin().(*os.File)
	if yes || registry.EnvironmentOf(branch) != registry.Production || !isFile || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s It is production. [y/N] ", question)
	answer := make([]byte, 1)
	if _, err := io.ReadFull(in, answer); err != nil || answer[0] != 'y' && answer[0] != 'Y' {
		return fmt.Errorf("nothing was changed; --yes does it without asking")
	}
	return nil
}

// configuredDefinition is the definition of an agent of the configuration, or of
// one that is known.
func configuredDefinition(name string) (registry.Definition, error) {
	s, err := loadSettings(findDirs())
	if err != nil {
		return registry.Definition{}, err
	}
	for _, r := range agentRows(s) {
		if r.Name == name && len(r.Command) > 0 {
			return registry.Definition{Name: name, Description: r.Title, Command: r.Command, Variables: r.config.Env, Confirm: r.config.Confirm}, nil
		}
	}
	return registry.Definition{}, fmt.Errorf("the configuration has no agent %q; `tandemux agents` lists them", name)
}
