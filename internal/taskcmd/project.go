package taskcmd

import (
	"github.com/spf13/cobra"

	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/cli"
)

func newProjects() *cobra.Command {
	return cli.Group("project", "Manage projects: what filesystems belong to and API keys get roles on", "",
		listing("ls", "listProjects", "there are no projects; `tandemux project new` makes one", "NAME\tDESCRIPTION\tDIRECTORY\tCREATED\tID", func(p store.Project) []any {
			return []any{p.Name, p.Description, p.Dir, p.Created, p.ID}
		}),
		act("show PROJECT", "getProject", func(p store.Project) string {
			text := p.Name + "  " + p.ID
			for _, line := range []string{cli.Line(p.Description), p.Dir} {
				if line != "" {
					text += "\n" + line
				}
			}
			return text
		}),
		newProjectsChange("new [NAME]", "Make a project and print its id", "createProject"),
		newProjectsChange("set PROJECT", "Change a project", "updateProject"),
		act[nothing]("rm PROJECT", "deleteProject", nil))
}

// newProjectsChange is a command that sets what is said of a project.
func newProjectsChange(use, about string, op string) *cobra.Command {
	var in registry.ProjectChange
	return verb(use, about, &in, func(c *call, args []string) error {
		if op == "createProject" && len(args) > 0 {
			if in.Name != nil {
				return cli.Usagef("the name is given twice")
			}
			in.Name, args = &args[0], nil
		}
		switch {
		case op == "createProject" && in.Name == nil:
			return cli.Usagef("what is the project's name?")
		case in == (registry.ProjectChange{}):
			return cli.Usagef("say what to change: --name, --description or --dir")
		case in.Dir != nil && *in.Dir != "":
			dir, err := absolute(*in.Dir)
			if err != nil {
				return err
			}
			in.Dir = &dir
		}
		return told(c, func(p store.Project) string { return p.ID }, op, in, args...)
	}, cli.One[store.Project]())
}
