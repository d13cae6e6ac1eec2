package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
)

// pageSize is how much of a list is asked for at once.
const pageSize = 1000

// every reads a whole list of the interface, or its first most for most > 0.
func every[T any](ctx context.Context, c *apiclient.Client, path string, q url.Values, most int) ([]T, error) {
	all := []T{}
	query := url.Values{}
	for k, v := range q {
		query[k] = v
	}
	for {
		n := pageSize
		if most > 0 {
			n = min(n, most-len(all))
		}
		query.Set("limit", strconv.Itoa(n))
		var page api.Page[T]
		if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: path, Query: query}, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == "" || most > 0 && len(all) >= most {
			return all, nil
		}
		query.Set("cursor", page.Next)
	}
}

func newVersionsCommand() *cobra.Command {
	var branch, config string
	var events, asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "versions [AGENT]",
		Short: "List an agent's versions, or what happened to a branch",
		Long: `List the versions of an agent, newest first; * marks those that are active on their
branch. With --events, list what happened to a branch: the one that --branch names,
git's current one, or main. Without AGENT it is the one of ./tandemux-agent.toml.`,
		Example: `  tandemux versions
  tandemux versions reviewer --branch main --limit 5
  tandemux versions --events`,
		Args: cobra.MaximumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usagef("--limit %d is below zero", limit)
			}
			agent := ""
			if len(args) > 0 {
				agent = args[0]
			}
			agent, err := agentNamed(agent, config)
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				if events {
					return listBranchEvents(ctx, cmd, c, agent, branchHere(ctx, branch), limit, asJSON)
				}
				return listVersions(ctx, cmd, c, agent, branch, limit, asJSON)
			})
		}),
	}
	f := cmd.Flags()
	f.StringVarP(&branch, "branch", "b", "", "of this branch alone")
	f.StringVarP(&config, "config", "c", "", "the definition that says which agent (default: ./tandemux-agent.toml)")
	f.BoolVar(&events, "events", false, "what happened to the branch: deploys, rollbacks, failures")
	f.IntVar(&limit, "limit", 20, "so many at most; 0: all")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// versionRow is a version as `tandemux versions --json` prints it; stable.
type versionRow struct {
	store.Version
	Branch string `json:"branch"`
	Active bool   `json:"active"`
}

func listVersions(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, agent, branch string, limit int, asJSON bool) error {
	q := url.Values{}
	if branch != "" {
		q.Set("branch", branch)
	}
	versions, err := every[store.Version](ctx, c, agentPath(agent, "versions"), q, limit)
	if err != nil {
		return err
	}
	branches, err := every[store.Branch](ctx, c, agentPath(agent, "branches"), nil, 0)
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
	if asJSON {
		return printJSON(cmd.OutOrStdout(), rows)
	}
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "VERSION\tSTATUS\tBRANCH\tENVIRONMENT\tHASH\tBY\tCREATED\tID")
	for _, r := range rows {
		number := strconv.Itoa(r.Number)
		if r.Active {
			number += " *"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%.8s\t%s\t%s\t%s\n", number, r.Status, printable(r.Branch), r.Environment, r.Hash, printable(r.Author), moment(r.Created), r.ID)
	}
	return tw.Flush()
}

func listBranchEvents(ctx context.Context, cmd *cobra.Command, c *apiclient.Client, agent, branch string, limit int, asJSON bool) error {
	var b store.Branch
	if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: agentPath(agent, "branches", branch)}, &b); err != nil {
		return err
	}
	events, err := every[store.BranchEvent](ctx, c, "/branches/"+apiclient.Segment(b.ID)+"/events", nil, limit)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(cmd.OutOrStdout(), events)
	}
	versions, err := every[store.Version](ctx, c, "/branches/"+apiclient.Segment(b.ID)+"/versions", nil, 0)
	if err != nil {
		return err
	}
	numbers := map[string]string{}
	for _, v := range versions {
		numbers[v.ID] = strconv.Itoa(v.Number)
	}
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "WHEN\tWHAT\tVERSION\tBEFORE\tBY\tNOTE")
	for _, e := range events {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\n", moment(e.Created), e.Kind, cmp.Or(numbers[e.VersionID], e.VersionID), cmp.Or(numbers[e.PreviousID], "-"), printable(e.Author), printable(e.Note))
	}
	return tw.Flush()
}

// moment is a time for people, in their time zone.
func moment(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}
