package taskcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/internal/cli"
)

// environment are the flags that say which agent's environment is meant.
type environment struct {
	chosen
	Environment string `flag:"environment,e" doc:"production or preview; the beginning is enough"`
}

// refs are the agent and the environment, and more.
func (o *environment) refs(more ...string) ([]string, error) {
	if o.Environment == "" {
		return nil, cli.Usagef("which environment? Say -e production or -e preview")
	}
	env, err := registry.ParseEnvironment(o.Environment)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	agent, err := o.agentOf(o.Agent)
	return append([]string{agent, env}, more...), err
}

func (o *environment) variables(c *call) ([]registry.Variable, error) {
	refs, err := o.refs()
	if err != nil {
		return nil, err
	}
	return List[registry.Variable](c.Client, 0, "listVariables", nil, refs...)
}

// set sends variables and says when they count.
func (o *environment) set(c *call, vars []store.Variable) error {
	refs, err := o.refs()
	if err == nil {
		err = c.do(Request("setVariables", api.NewVariables{Variables: vars}, refs...), nil)
	}
	if err == nil {
		c.note("%s; tasks get it with the next deploy: `tandemux deploy --redeploy`", cli.Plural(len(vars), "variable set", "variables set"))
		err = show(c, nothing{}, "")
	}
	return err
}

// envRow is a variable as `tandemux env ls --json` prints it; stable.
type envRow struct {
	Environment string `json:"environment" doc:"production or preview"`
	registry.Variable
}

func newEnv() *cobra.Command {
	var in environment
	return cli.Group("env", "Keep the variables of an agent's environments, secret ones too", `Keep variables for an agent, by environment: production (the branch main) or preview
(all others). A version has those that there were when it was deployed; what is set
later reaches tasks with the next deploy, such as tandemux deploy --redeploy. Secrets
are sealed on the disk, masked in logs, and never shown again.`,
		newEnvSet(),
		verb("ls", "List variables; secrets are masked", &in, func(c *call, _ []string) error {
			environments := []string{registry.Production, registry.Preview}
			if in.Environment != "" {
				environments = []string{in.Environment}
			}
			rows := []envRow{}
			for _, in.Environment = range environments {
				vars, err := in.variables(c)
				if err != nil {
					return err
				}
				env, _ := registry.ParseEnvironment(in.Environment) // it is one
				for _, v := range vars {
					rows = append(rows, envRow{env, v})
				}
			}
			return cli.PrintTable(c.Command, "there are no variables; `tandemux env set` sets one", "ENVIRONMENT\tNAME\tVALUE\tSET\tDEPLOYED", rows, func(r envRow) []any {
				deployed := "yes"
				if r.Pending {
					deployed = "not yet"
				}
				return []any{r.Environment, r.Name, r.Value, r.Updated, deployed}
			})
		}, cli.One[[]envRow]()),
		verb("show NAME", "Print a variable's value, unless it is secret", &in, func(c *call, args []string) error {
			refs, err := in.refs(args...)
			if err != nil {
				return err
			}
			v, err := Ask[registry.Variable](c.Client, "getVariable", nil, refs...)
			if err == nil && v.Secret && !cli.AsJSON(c.Command) {
				err = fmt.Errorf("%s is secret, set %s, and never shown; `tandemux env set %s --secret` replaces it", v.Name, cli.Moment(v.Updated), v.Name)
			}
			if err != nil {
				return err
			}
			return cli.Print(c.Command, v, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, v.Value)
				return err
			})
		}, cli.One[registry.Variable]()),
		verb("rm NAME", "Remove a variable; versions that have it keep it", &in, func(c *call, args []string) error {
			refs, err := in.refs(args...)
			if err != nil {
				return err
			}
			return told[nothing](c, nil, "deleteVariable", nil, refs...)
		}, cli.One[nothing]()),
		newEnvPull(), newEnvImport())
}

func newEnvSet() *cobra.Command {
	var in struct {
		environment
		Value  string `flag:"value,v" doc:"Its value, when it is no secret"`
		File   string `flag:"value-file" doc:"Read the value from a file, - for standard input"`
		Secret bool   `flag:"secret" doc:"Never show it again, and mask it in logs"`
	}
	cmd := verb("set NAME", `Set a variable
Without --value and --value-file the value is read from standard input: without echo
from a terminal, else to its end, without the last line break. A secret is never taken
from the command line, where others can read it.

  tandemux env set MODEL -v large -e preview
  tandemux env set API_KEY --secret -e production
  pass show api-key | tandemux env set API_KEY --secret -e prod`, &in, func(c *call, args []string) error {
		given := c.Flags().Changed("value")
		if in.Secret && given {
			return cli.Usagef("a secret on the command line can be read by others: leave --value out, and give it by standard input or --value-file")
		}
		if _, err := in.refs(); err != nil {
			return err
		}
		if !given {
			var err error
			if in.Value, err = readValue(c.Command, args[0], in.File); err != nil {
				return fmt.Errorf("read the value: %w", err)
			}
		}
		if err := registry.CheckVariable(args[0], in.Value); err != nil {
			return cli.Usagef("%w", err)
		}
		return in.set(c, []store.Variable{{Name: args[0], Value: in.Value, Secret: in.Secret}})
	}, cli.One[nothing]())
	cmd.MarkFlagsMutuallyExclusive("value", "value-file")
	return cmd
}

// readInput reads a file, or standard input for -.
func readInput(cmd *cobra.Command, file string) (string, error) {
	const most = 1 << 20
	in := cmd.InOrStdin()
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && len(text) > most {
		err = cli.Usagef("it has more than %d bytes", most)
	}
	return string(text), err
}

// readValue reads a value that is not on the command line.
func readValue(cmd *cobra.Command, name, file string) (string, error) {
	if file == "" && cli.OnTerminal(cmd) {
		return cli.Hidden(cmd, "Value of "+name)
	}
	file = cmp.Or(file, "-")
	text, err := readInput(cmd, file)
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), err
}

func newEnvPull() *cobra.Command {
	var in struct {
		environment
		Force bool `flag:"force" doc:"Replace a file that is there"`
	}
	return verb("pull [FILE]", `Write the variables that are no secrets as a .env file
They are written as NAME="VALUE" lines to a file that only you can read, or to standard
output. Secrets are there by name, in comments.`, &in, func(c *call, args []string) error {
		vars, err := in.variables(c)
		if err != nil {
			return err
		}
		if len(args) == 0 || args[0] == "-" {
			_, err := io.WriteString(c.OutOrStdout(), dotenv(vars))
			return err
		}
		return cli.WriteFile(args[0], []byte(dotenv(vars)), in.Force)
	})
}

func newEnvImport() *cobra.Command {
	var in struct {
		environment
		Secret bool `flag:"secret" doc:"All of them are secrets"`
	}
	return verb("import FILE", `Add the variables of a .env file, all or none
The file has NAME=VALUE lines, - is standard input: with "export" before a name or
not, values bare, in 'single' or in "double" quotes, comments after #.`, &in, func(c *call, args []string) error {
		text, err := readInput(c.Command, args[0])
		if err != nil {
			return fmt.Errorf("read the variables: %w", err)
		}
		vars, err := parseDotenv(text)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", args[0], err)
		case len(vars) == 0:
			return fmt.Errorf("%s has no variables", args[0])
		}
		for i := range vars {
			vars[i].Secret = in.Secret
		}
		return in.set(c, vars)
	}, cli.One[nothing]())
}

// dotenv writes variables as a .env file, secrets by name alone.
func dotenv(vars []registry.Variable) string {
	var b strings.Builder
	for _, v := range vars {
		if v.Secret {
			fmt.Fprintf(&b, "# %s is secret\n", v.Name)
			continue
		}
		fmt.Fprintf(&b, "%s=%s\n", v.Name, quoteEnv(v.Value))
	}
	return b.String()
}

func quoteEnv(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "$", `\$`, "`", "\\`").Replace(s) + `"`
}

var (
	envBlank = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:[ \t\r\n]|#[^\n]*)*`) })
	envLine  = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(?:export[ \t]+)?([^=\n]*)=[ \t]*("(?:\\(?s:.)|[^"\\])*"|'[^']*')?([^\n]*)\n?`)
	})
	envEscape = strings.NewReplacer(`\n`, "\n", `\r`, "\r", `\t`, "\t", `\"`, `"`, `\\`, `\`, `\$`, "$", "\\`", "`")
)

// parseDotenv reads a .env file. Nothing in it is expanded.
func parseDotenv(text string) ([]store.Variable, error) {
	var vars []store.Variable
	line := 1
	for {
		blank := envBlank().FindString(text)
		line += strings.Count(blank, "\n")
		if text = text[len(blank):]; text == "" {
			return vars, nil
		}
		m := envLine().FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("line %d: want NAME=VALUE", line)
		}
		name := strings.TrimSpace(m[1])
		value, err := envValue(m[2], m[3])
		if err == nil {
			err = registry.CheckVariable(name, value)
		}
		if err == nil && slices.ContainsFunc(vars, func(v store.Variable) bool { return v.Name == name }) {
			err = errors.New("is there twice")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %s: %w", line, cli.Short(name), err)
		}
		vars = append(vars, store.Variable{Name: name, Value: value})
		line += strings.Count(m[0], "\n")
		text = text[len(m[0]):]
	}
}

// envValue is a value that is quoted, with what follows it in its line, or bare.
func envValue(quoted, rest string) (string, error) {
	after := strings.TrimSpace(rest)
	switch {
	case quoted == "" && after != "" && strings.ContainsAny(after[:1], `"'`):
		return "", errors.New("the quote is not closed")
	case quoted == "" && strings.HasPrefix(rest, "#"):
		return "", nil
	case quoted == "":
		bare, _, _ := strings.Cut(rest, " #")
		return strings.TrimSpace(bare), nil
	case after != "" && after[0] != '#':
		return "", errors.New("something follows the closing quote")
	case quoted[0] == '"':
		return envEscape.Replace(quoted[1 : len(quoted)-1]), nil
	}
	return quoted[1 : len(quoted)-1], nil
}
