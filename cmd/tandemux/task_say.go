package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/internal/apiclient"
)

// taskEnv names the task that a process is part of; the host sets it.
const taskEnv = "TANDEMUX_TASK"

// ownTask is the task that --task names, or the one that we are in.
func ownTask(named string) (string, error) {
	if named == "" {
		named = os.Getenv(taskEnv)
	}
	if named == "" {
		return "", usagef("this is not inside a task: name one with --task")
	}
	return named, nil
}

func newTaskProgressCommand() *cobra.Command {
	var task string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "progress [PERCENT] [TEXT…]",
		Short:   "Note how far the task is that this runs in",
		Long:    `Note how far the task is that this runs in, for its agent and what that starts. People see it in lists.`,
		Example: `  tandemux task progress 40 running the tests`,
		Args:    cobra.MinimumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			id, err := ownTask(task)
			if err != nil {
				return err
			}
			body := map[string]any{}
			if n, err := strconv.Atoi(strings.TrimSuffix(args[0], "%")); err == nil {
				body["progress"], args = n, args[1:]
			}
			if len(args) > 0 {
				body["status_message"] = strings.Join(args, " ")
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var raw json.RawMessage
				_, err := c.Do(ctx, apiclient.Request{Method: http.MethodPut, Path: "/tasks/" + apiclient.Segment(id) + "/progress", Body: body}, &raw)
				if err != nil || !asJSON {
					return err
				}
				return printJSON(cmd.OutOrStdout(), raw)
			})
		}),
	}
	cmd.Flags().StringVar(&task, "task", "", "the task (default: the one that this runs in)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newTaskSayCommand() *cobra.Command {
	var task, data string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "say [TEXT…]",
		Short: "Add a message to the task that this runs in",
		Long: `Add a message to the task that this runs in, for its agent and what that starts: a
text, or with --data a JSON value. It is kept with what the agent says. To say
something to the agent, use send.`,
		RunE: did(func(cmd *cobra.Command, args []string) error {
			id, err := ownTask(task)
			if err != nil {
				return err
			}
			content, err := eventContent(cmd, args, "", data)
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var m messageRow
				_, err := c.Do(ctx, apiclient.Request{
					Method: http.MethodPost, Path: "/tasks/" + apiclient.Segment(id) + "/messages", Body: map[string]any{"content": content},
				}, &m)
				switch {
				case err != nil:
					return err
				case asJSON:
					return printJSON(cmd.OutOrStdout(), m)
				}
				fmt.Fprintln(cmd.OutOrStdout(), m.ID)
				return nil
			})
		}),
	}
	cmd.Flags().StringVar(&task, "task", "", "the task (default: the one that this runs in)")
	cmd.Flags().StringVar(&data, "data", "", "a JSON value in place of a text")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the message as JSON")
	return cmd
}
