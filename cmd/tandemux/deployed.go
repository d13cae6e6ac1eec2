package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
)

// deployedAgents adds to `tandemux agents` what was deployed (U23, U111).
func deployedAgents(agents *cobra.Command) *cobra.Command {
	var lsJSON, getJSON bool
	ls := &cobra.Command{
		Use:   "deployed",
		Short: "List the agents that were deployed",
		Args:  cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				all, err := every[store.Agent](ctx, c, "/agents", nil, 0)
				if err != nil {
					return err
				}
				if lsJSON {
					return printJSON(cmd.OutOrStdout(), all)
				}
				tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
				fmt.Fprintln(tw, "NAME\tDESCRIPTION\tDEPLOYED\tID")
				for _, a := range all {
					fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", a.Name, printable(a.Description), moment(a.Updated), a.ID)
				}
				return tw.Flush()
			})
		}),
	}
	ls.Flags().BoolVar(&lsJSON, "json", false, "print JSON")
	get := &cobra.Command{
		Use:   "get AGENT",
		Short: "Show a deployed agent and its branches",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				return showAgent(ctx, cmd.OutOrStdout(), c, args[0], getJSON)
			})
		}),
	}
	get.Flags().BoolVar(&getJSON, "json", false, "print JSON")
	del := &cobra.Command{
		Use:   "delete AGENT",
		Short: "Delete a deployed agent, its versions and variables, that no task is of",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				_, err := c.Do(ctx, apiclient.Request{Method: http.MethodDelete, Path: agentPath(args[0])}, nil)
				return err
			})
		}),
	}
	agents.AddCommand(ls, get, del)
	return agents
}

func showAgent(ctx context.Context, w io.Writer, c *apiclient.Client, ref string, asJSON bool) error {
	var a struct {
		store.Agent
		Branches     []store.Branch      `json:"branches"`
		Environments []store.Environment `json:"environments"`
	}
	if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: agentPath(ref)}, &a.Agent); err != nil {
		return err
	}
	var err error
	if a.Branches, err = every[store.Branch](ctx, c, agentPath(a.ID, "branches"), nil, 0); err != nil {
		return err
	}
	var envs api.Page[store.Environment]
	if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: agentPath(a.ID, "environments")}, &envs); err != nil {
		return err
	}
	a.Environments = envs.Data
	if asJSON {
		return printJSON(w, a)
	}
	fmt.Fprintf(w, "%s  %s\n%s\n\n", a.Name, a.ID, printableLong(a.Description))
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "BRANCH\tENVIRONMENT\tSTATUS\tVERSION\tDEPLOYED")
	for _, b := range a.Branches {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", printable(b.Name), b.Environment, b.Status, cmp.Or(b.ActiveID, "-"), moment(b.Updated))
	}
	return tw.Flush()
}
