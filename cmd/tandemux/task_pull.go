package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"tandemux/host/workspace/filetree"
	"tandemux/internal/apiclient"
)

func newTaskPullCommand() *cobra.Command {
	var out string
	var asJSON, overwrite bool
	cmd := &cobra.Command{
		Use:   "pull ID --out DIR",
		Short: "Write a task's files into a directory",
		Long: `Write a task's files into a directory: workspace/ and, beside it, its system folders
such as .claude. The directory is made; one that has files takes --overwrite, and
keeps those that the task does not have.`,
		Args: cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out: say which directory to write into")
			}
			dir, err := absolute(out)
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				resp, err := c.Open(ctx, apiclient.Request{Method: http.MethodGet, Path: "/tasks/" + apiclient.Segment(args[0]) + "/archive"})
				if err != nil {
					return err
				}
				defer resp.Body.Close()
				got, err := filetree.Unpack(ctx, resp.Body, dir, filetree.PullOptions{Overwrite: overwrite})
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), got)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%d files, %d bytes in %s\n", got.Files, got.Bytes, printable(got.Out))
				for _, path := range got.Skipped {
					fmt.Fprintf(cmd.ErrOrStderr(), "left out, as it can't be kept: %s\n", printable(path))
				}
				return nil
			})
		}),
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the directory")
	cmd.Flags().BoolVar(&overwrite, "overwrite", false, "replace files that are there")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
