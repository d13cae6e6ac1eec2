package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
)

func newRollbackCommand() *cobra.Command {
	var branch, version, agent, config, note string
	var yes, asJSON bool
	cmd := &cobra.Command{
		Use:   "rollback",
		Short: "Move a branch back to an earlier version of an agent",
		Long: `Move a branch to an earlier version: the one that --version names, or the one before
the active one. It runs with the variables that it was deployed with; those that
were set since stay as they are and reach tasks with the next deploy. The branch is
the one that --branch names, git's current one, or main.`,
		Example: `  tandemux rollback
  tandemux rollback --agent reviewer --branch main --version 3 --yes`,
		Args: cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			agent, err := agentNamed(agent, config)
			if err != nil {
				return err
			}
			branch := branchHere(cmd.Context(), branch)
			to := "the version before"
			if version != "" {
				to = "version " + version
			}
			if err := confirmChange(cmd, yes, fmt.Sprintf("Roll %s on %s back to %s?", agent, branch, to), branch); err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var got store.Deployed
				_, err := c.Do(ctx, apiclient.Request{
					Method: http.MethodPost, Path: agentPath(agent, "branches", branch, "rollback"), Body: api.NewRollback{Version: version, Note: note},
				}, &got)
				if err != nil {
					return err
				}
				return printDeployed(cmd, got, asJSON)
			})
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&branch, "branch", "b", "", "the branch (default: git's current one, or main)")
	f.StringVar(&version, "version", "", "its number or id (default: the one before the active one)")
	f.StringVarP(&agent, "agent", "a", "", "the agent (default: the one of ./tandemux-agent.toml)")
	f.StringVarP(&config, "config", "c", "", "the definition that says which agent")
	f.StringVar(&note, "note", "", "a note in the branch's history")
	f.BoolVarP(&yes, "yes", "y", false, "don't ask before production changes")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
