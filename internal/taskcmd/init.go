package taskcmd

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
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

// scaffolds are the templates, each with what it is.
var scaffolds = map[string]string{
	"acp":   "an agent that speaks the Agent Client Protocol",
	"hooks": "programs that are called with JSON: on_create, on_event, on_cancel",
}

func newInit() *cobra.Command {
	var name, description, template string
	cmd := cli.WithJSON(&cobra.Command{
		Use:   "init [DIR]",
		Short: "Begin an agent: write its tandemux-agent.toml",
		Long: `Write the definition of an agent, tandemux-agent.toml, with the files that it needs,
to a directory, which is made when it isn't there. Nothing that is there is
overwritten.

Templates: ` + scaffoldText(),
		Example: `  tandemux init reviewer
  tandemux init --template hooks --name counter .`,
		Args: cobra.MaximumNArgs(1),
		RunE: cli.Did(func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			abs, err := filepath.Abs(dir)
			if err != nil {
				return fmt.Errorf("find the directory: %w", err)
			}
			if name == "" {
				name = slug(filepath.Base(abs))
			}
			if err := access.CheckName("an agent", name); err != nil {
				return cli.Usagef("%w; --name says another", err)
			}
			if _, ok := scaffolds[template]; !ok {
				return cli.Usagef("--template %s: the templates are %s", template, strings.Join(slices.Sorted(maps.Keys(scaffolds)), " and "))
			}
			files, err := scaffold(dir, template, name, description)
			if err != nil {
				return err
			}
			if cli.AsJSON(cmd) {
				return cli.JSON(cmd.OutOrStdout(), map[string]any{"name": name, "dir": abs, "files": files})
			}
			for _, f := range files {
				fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(dir, f))
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "edit %s, then `tandemux deploy` in its directory\n", registry.DefinitionFile)
			return nil
		}),
	})
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "the agent's name (default: the directory's)")
	f.StringVar(&description, "description", "", "what it is for, in a sentence")
	f.StringVar(&template, "template", "acp", "acp or hooks")
	cmd.RegisterFlagCompletionFunc("template", cobra.FixedCompletions([]string{"acp", "hooks"}, cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag is there
	return cmd
}

func scaffoldText() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(scaffolds)) {
		fmt.Fprintf(&b, "\n  %-6s %s", name, scaffolds[name])
	}
	return b.String()
}

// slug makes a name of a text.
func slug(text string) string {
	s := strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		}
		return '-'
	}, text), "-_")
	if len(s) > access.MaxName {
		s = strings.TrimRight(s[:access.MaxName], "-_")
	}
	return s
}

// scaffold writes a template, all of it or nothing, and gives its files' names.
func scaffold(dir, template, name, description string) ([]string, error) {
	var files []string
	root := "template/" + template
	err := fs.WalkDir(templates, root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(p, root+"/"))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f)); err == nil {
			return nil, fmt.Errorf("%s is there already; nothing was written", filepath.Join(dir, f))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("begin the agent: %w", err)
		}
	}
	for _, f := range files {
		text, err := templates.ReadFile(root + "/" + f)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, fmt.Errorf("begin the agent: %w", err)
		}
		filled := strings.NewReplacer("{{name}}", name, "{{description}}", tomlText(description)).Replace(string(text))
		mode := fs.FileMode(0o666)
		if strings.HasPrefix(filled, "#!") {
			mode = 0o777
		}
		out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			_, err = out.WriteString(filled)
			err = errors.Join(err, out.Close())
		}
		if err != nil {
			return nil, fmt.Errorf("begin the agent: %w", err)
		}
	}
	return files, nil
}

// tomlText is a text between the quotes of TOML.
func tomlText(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ", "\t", " ").Replace(cli.Line(s))
}
