package taskcmd

import (
	"fmt"
	"io"
	"net/http"

	"github.com/spf13/cobra"

	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/cli"
)

func (h Host) newProjects() *cobra.Command {
	return group(
		&cobra.Command{Use: "projects", Short: "Manage projects: what filesystems belong to and API keys get roles on"},
		h.asJSON(&cobra.Command{Use: "ls", Short: "List the projects", Args: cobra.NoArgs}, func(c *call, _ []string) error {
			all, err := list[store.Project](c, nil, 0, "projects")
			if err != nil {
				return err
			}
			return table(c, all, "", "NAME\tDESCRIPTION\tDIRECTORY\tCREATED\tID", func(p store.Project) []any {
				return []any{p.Name, cli.Short(p.Description), cli.Short(p.Dir), cli.Moment(p.Created), p.ID}
			})
		}),
		h.asJSON(&cobra.Command{Use: "get PROJECT", Short: "Show a project", Args: cobra.ExactArgs(1)}, func(c *call, args []string) error {
			var p store.Project
			if err := c.get(&p, "projects", args[0]); err != nil {
				return err
			}
			return cli.Print(c.cmd, p, func(w io.Writer) error {
				fmt.Fprintf(w, "%s  %s\n", p.Name, p.ID)
				for _, line := range []string{cli.Line(p.Description), p.Dir} {
					if line != "" {
						fmt.Fprintln(w, line)
					}
				}
				return nil
			})
		}),
		h.newProjectsChange(&cobra.Command{
			Use: "create [NAME]", Short: "Make a project and print its id",
			Example: `  tandemux projects create site --dir ~/src/site`, Args: cobra.MaximumNArgs(1),
		}, func(c *call, in registry.ProjectChange, args []string) error {
			switch {
			case len(args) > 0 && in.Name != nil:
				return cli.Usagef("the name is given twice")
			case len(args) > 0:
				in.Name = &args[0]
			case in.Name == nil:
				return cli.Usagef("what is the project's name?")
			}
			return sendProject(c, http.MethodPost, in, "projects")
		}),
		h.newProjectsChange(&cobra.Command{Use: "update PROJECT", Short: "Change a project", Args: cobra.ExactArgs(1)}, func(c *call, in registry.ProjectChange, args []string) error {
			if in == (registry.ProjectChange{}) {
				return cli.Usagef("say what to change: --name, --description or --dir")
			}
			return sendProject(c, http.MethodPatch, in, "projects", args[0])
		}),
		h.does(&cobra.Command{Use: "delete PROJECT", Short: "Delete a project that is empty", Args: cobra.ExactArgs(1)}, func(c *call, args []string) error {
			return c.send(http.MethodDelete, nil, nil, "projects", args[0])
		}),
	)
}

// newProjectsChange is a command with flags for what may be said of a project.
func (h Host) newProjectsChange(cmd *cobra.Command, work func(*call, registry.ProjectChange, []string) error) *cobra.Command {
	f := cmd.Flags()
	name := f.StringP("name", "n", "", "its name")
	description := f.String("description", "", "what it is for")
	dir := f.String("dir", "", "the directory that its tasks' workspaces are made from")
	return h.asJSON(cmd, func(c *call, args []string) error {
		var in registry.ProjectChange
		if f.Changed("name") {
			in.Name = name
		}
		if f.Changed("description") {
			in.Description = description
		}
		if f.Changed("dir") {
			if *dir != "" {
				var err error
				if *dir, err = absolute(*dir); err != nil {
					return err
				}
			}
			in.Dir = dir
		}
		return work(c, in, args)
	})
}

// sendProject sends what is said of a project and prints it: its id, or all of it
// as JSON.
func sendProject(c *call, method string, in registry.ProjectChange, path ...string) error {
	var p store.Project
	if err := c.send(method, in, &p, path...); err != nil {
		return err
	}
	return c.print(p, "%s\n", p.ID)
}
