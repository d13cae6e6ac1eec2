package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/internal/apiclient"
)

func newTaskCancelCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "cancel ID",
		Short: "Stop a task for good",
		Long:  `Stop a task: its agent is ended, events that wait are discarded. Its files stay until it is deleted.`,
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var raw json.RawMessage
				_, err := c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/tasks/" + apiclient.Segment(args[0]) + "/cancel"}, &raw)
				if err != nil || !asJSON {
					return err
				}
				return printJSON(cmd.OutOrStdout(), raw)
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the task as JSON")
	return cmd
}

// deletedTask is what came of deleting a task.
type deletedTask struct {
	ID         string `json:"id"`
	KeptBranch string `json:"kept_branch,omitempty"`
}

func newTaskDeleteCommand() *cobra.Command {
	var asJSON, force bool
	cmd := &cobra.Command{
		Use:   "delete ID…",
		Short: "Delete tasks with their workspaces",
		Long: `Delete tasks with their workspaces and all that was said. A git branch that has
commits which are nowhere else stays, unless --force is given.`,
		Args: cobra.MinimumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				gone := []deletedTask{}
				for _, id := range args {
					d, err := deleteTask(ctx, c, id, force)
					if err != nil {
						return err
					}
					gone = append(gone, d)
					if d.KeptBranch != "" && !asJSON {
						fmt.Fprintf(cmd.ErrOrStderr(), "the branch %s stays: it has commits that are nowhere else (--force deletes them)\n", printable(d.KeptBranch))
					}
				}
				if !asJSON {
					return nil
				}
				return printJSON(cmd.OutOrStdout(), gone)
			})
		}),
	}
	cmd.Flags().BoolVar(&force, "force", false, "delete branches with commits that are nowhere else, too")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func deleteTask(ctx context.Context, c *apiclient.Client, id string, force bool) (deletedTask, error) {
	var d deletedTask
	query := url.Values{}
	if force {
		query.Set("force", "true")
	}
	_, err := c.Do(ctx, apiclient.Request{Method: http.MethodDelete, Path: "/tasks/" + apiclient.Segment(id), Query: query}, &d)
	return d, err
}

func newTaskCleanupCommand() *cobra.Command {
	var asJSON, all, force bool
	var older time.Duration
	cmd := &cobra.Command{
		Use:   "cleanup",
		Short: "Delete tasks that are over",
		Long: `Delete the tasks that were cancelled or have failed, with their workspaces; with
--all those that have nothing to do, too.`,
		Args: cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				statuses := []string{"CANCELLED", "FAILED"}
				if all {
					statuses = append(statuses, "IDLE")
				}
				rows, err := list[taskRow](ctx, c, "/tasks", url.Values{"limit": {"1000"}, "status": {strings.Join(statuses, ",")}})
				if err != nil {
					return err
				}
				gone := []deletedTask{}
				for _, t := range rows {
					if time.Since(t.Created) < older {
						continue
					}
					d, err := deleteTask(ctx, c, t.ID, force)
					if err != nil {
						return fmt.Errorf("delete %s: %w", t.Name, err)
					}
					gone = append(gone, d)
					if !asJSON {
						fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", t.ID, printable(t.Name))
					}
				}
				if !asJSON {
					return nil
				}
				return printJSON(cmd.OutOrStdout(), gone)
			})
		}),
	}
	f := cmd.Flags()
	f.BoolVar(&all, "all", false, "delete tasks that have nothing to do, too")
	f.BoolVar(&force, "force", false, "delete branches with commits that are nowhere else, too")
	f.DurationVar(&older, "older", 0, "only those that were created longer ago than this")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newTaskMigrateCommand() *cobra.Command {
	var asJSON, latest bool
	var from, to string
	cmd := &cobra.Command{
		Use:   "migrate (--from VERSION | ID…) (--to VERSION | --latest)",
		Short: "Move tasks to another version of their agent",
		Long: `Move tasks to another version within their branch: all of a version, or those that
are named. A task goes on with its version until its event has ended.`,
		RunE: did(func(cmd *cobra.Command, args []string) error {
			if (from == "") == (len(args) == 0) || (to == "") == !latest {
				return usagef("say which tasks (--from VERSION, or ids) and to which version (--to VERSION, or --latest)")
			}
			body := map[string]any{}
			if from != "" {
				body["from_version_id"] = from
			} else {
				body["task_ids"] = args
			}
			if latest {
				body["to_latest"] = true
			} else {
				body["to_version_id"] = to
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var raw json.RawMessage
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodPost, Path: "/tasks/migrate", Body: body}, &raw); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), raw)
				}
				var got struct {
					Tasks []string `json:"task_ids"`
				}
				if err := json.Unmarshal(raw, &got); err != nil {
					return fmt.Errorf("read the host's answer: %w", err)
				}
				for _, id := range got.Tasks {
					fmt.Fprintln(cmd.OutOrStdout(), id)
				}
				return nil
			})
		}),
	}
	f := cmd.Flags()
	f.StringVar(&from, "from", "", "all tasks of this version")
	f.StringVar(&to, "to", "", "to this version")
	f.BoolVar(&latest, "latest", false, "to the active version of their branch")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
