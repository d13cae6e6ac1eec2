package taskcmd

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/internal/cli"
)

// templates are what `tandemux init` writes: a directory each.
//
//go:embed all:template
var templates embed.FS

func newInit() *cobra.Command {
	in := struct {
		Name        string `flag:"name" doc:"The agent's name (default: the directory's)"`
		Description string `flag:"description" doc:"What it is for, in a sentence"`
		Template    string `flag:"template" enum:"acp,hooks" doc:"Acp or hooks"`
	}{Template: "acp"}
	return verb("init [DIR]", `Begin an agent: write its tandemux-agent.toml
The definition is written with the files that it needs to a directory, which is made
when it isn't there. Nothing that is there is overwritten. Templates:

  acp    an agent that speaks the Agent Client Protocol
  hooks  programs that are called with JSON: on_create, on_event, on_cancel`, &in, func(c *call, args []string) error {
		dir := filepath.Join(append([]string{"."}, args...)...)
		abs, err := absolute(dir)
		if err != nil {
			return err
		}
		in.Name = cmp.Or(in.Name, slug(filepath.Base(abs)))
		if err := access.CheckName("an agent", in.Name); err != nil {
			return cli.Usagef("%w; --name says another", err)
		}
		files, err := scaffold(dir, "template/"+in.Template+"/", in.Name, in.Description)
		if err != nil {
			return fmt.Errorf("begin the agent: %w", err)
		}
		said := ""
		for _, f := range files {
			said += filepath.Join(dir, f) + "\n"
		}
		defer c.note("edit %s, then `tandemux deploy` in its directory", registry.DefinitionFile)
		return show(c, begun{in.Name, abs, files}, strings.TrimSuffix(said, "\n"))
	}, cli.One[begun]())
}

// begun is what `tandemux init --json` prints.
type begun struct {
	Name      string   `json:"name" doc:"The agent's"`
	Directory string   `json:"directory" doc:"That was made"`
	Files     []string `json:"files" doc:"In it"`
}

// slug makes a name of a text.
func slug(text string) string {
	s := strings.Trim(strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' {
			return c
		}
		return '-'
	}, strings.ToLower(text)), "-_")
	if len(s) > access.MaxName {
		s = strings.TrimRight(s[:access.MaxName], "-_")
	}
	return s
}

// scaffold writes a template, all of it or nothing, and gives its files' names.
func scaffold(dir, root, name, description string) (files []string, err error) {
	err = fs.WalkDir(templates, strings.TrimSuffix(root, "/"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files = append(files, strings.TrimPrefix(p, root))
		if _, err := os.Lstat(filepath.Join(dir, files[len(files)-1])); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already; nothing was written", filepath.Join(dir, files[len(files)-1]))
		}
		return nil
	})
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", " ").Replace(cli.Line(description))
	fill := strings.NewReplacer("{{name}}", name, "{{description}}", quoted)
	for i := 0; i < len(files) && err == nil; i++ {
		var text []byte
		path, mode := filepath.Join(dir, files[i]), fs.FileMode(0o666)
		if text, err = templates.ReadFile(root + files[i]); err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o777)
		}
		if strings.HasPrefix(string(text), "#!") {
			mode = 0o777
		}
		if err == nil {
			err = os.WriteFile(path, []byte(fill.Replace(string(text))), mode)
		}
	}
	return files, err
}
