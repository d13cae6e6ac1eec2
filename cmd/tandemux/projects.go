package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/apiclient"
)

func newProjectsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "projects",
		Short: "Manage projects: what filesystems belong to and API keys get roles on",
		Args:  cobra.NoArgs,
		RunE:  did(func(*cobra.Command, []string) error { return usagef("say ls, get, create, update or delete") }),
	}
	cmd.AddCommand(newProjectsLsCommand(), newProjectsGetCommand(), newProjectsCreateCommand(), newProjectsUpdateCommand(), newProjectsDeleteCommand())
	return cmd
}

func projectPath(ref string) string { return "/projects/" + apiclient.Segment(ref) }

// projectFlags are what may be said of a project.
type projectFlags struct {
	name, description, dir string
	asJSON                 bool
}

func (f *projectFlags) addTo(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().StringVarP(&f.name, "name", "n", "", "its name")
	cmd.Flags().StringVar(&f.description, "description", "", "what it is for")
	cmd.Flags().StringVar(&f.dir, "dir", "", "the directory that its tasks' workspaces are made from")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "print JSON")
	return cmd
}

// change is what was said.
func (f *projectFlags) change(cmd *cobra.Command) (registry.ProjectChange, error) {
	var c registry.ProjectChange
	if cmd.Flags().Changed("name") {
		c.Name = &f.name
	}
	if cmd.Flags().Changed("description") {
		c.Description = &f.description
	}
	if cmd.Flags().Changed("dir") {
		if f.dir != "" {
			abs, err := filepath.Abs(f.dir)
			if err != nil {
				return c, fmt.Errorf("find the directory: %w", err)
			}
			f.dir = abs
		}
		c.Dir = &f.dir
	}
	return c, nil
}

// send sends a change and prints the project: its id, or all of it as JSON.
func (f *projectFlags) send(cmd *cobra.Command, method, path string, c registry.ProjectChange) error {
	return withAPI(cmd, func(ctx context.Context, client *apiclient.Client) error {
		var p store.Project
		if _, err := client.Do(ctx, apiclient.Request{Method: method, Path: path, Body: c}, &p); err != nil {
			return err
		}
		if f.asJSON {
			return printJSON(cmd.OutOrStdout(), p)
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), p.ID)
		return err
	})
}

func newProjectsCreateCommand() *cobra.Command {
	var f projectFlags
	return f.addTo(&cobra.Command{
		Use:     "create [NAME]",
		Short:   "Make a project and print its id",
		Example: `  tandemux projects create site --dir ~/src/site`,
		Args:    cobra.MaximumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			c, err := f.change(cmd)
			if err != nil {
				return err
			}
			switch {
			case len(args) > 0 && c.Name != nil:
				return usagef("the name is given twice")
			case len(args) > 0:
				c.Name = &args[0]
			case c.Name == nil:
				return usagef("what is the project's name?")
			}
			return f.send(cmd, http.MethodPost, "/projects", c)
		}),
	})
}

func newProjectsUpdateCommand() *cobra.Command {
	var f projectFlags
	return f.addTo(&cobra.Command{
		Use:   "update PROJECT",
		Short: "Change a project",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			c, err := f.change(cmd)
			if err != nil {
				return err
			}
			if c == (registry.ProjectChange{}) {
				return usagef("say what to change: --name, --description or --dir")
			}
			return f.send(cmd, http.MethodPatch, projectPath(args[0]), c)
		}),
	})
}

func newProjectsLsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the projects",
		Args:  cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				all, err := every[store.Project](ctx, c, "/projects", nil, 0)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), all)
				}
				if len(all) == 0 {
					return nil
				}
				tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
				fmt.Fprintln(tw, "NAME\tDESCRIPTION\tDIRECTORY\tCREATED\tID")
				for _, p := range all {
					fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", p.Name, printable(p.Description), printable(p.Dir), moment(p.Created), p.ID)
				}
				return tw.Flush()
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newProjectsGetCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "get PROJECT",
		Short: "Show a project",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var p store.Project
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: projectPath(args[0])}, &p); err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), p)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", p.Name, p.ID)
				for _, line := range []string{printableLong(p.Description), p.Dir} {
					if line != "" {
						fmt.Fprintln(cmd.OutOrStdout(), line)
					}
				}
				return nil
			})
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func newProjectsDeleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete PROJECT",
		Short: "Delete a project that is empty",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				_, err := c.Do(ctx, apiclient.Request{Method: http.MethodDelete, Path: projectPath(args[0])}, nil)
				return err
			})
		}),
	}
}
