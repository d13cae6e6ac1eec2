package taskcmd

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/internal/cli"
)

// envOptions say which agent's environment is meant.
type envOptions struct {
	chosen
	environment string
}

// flags gives a command the flags.
func (o *envOptions) flags(cmd *cobra.Command) *cobra.Command {
	o.agentFlags(cmd)
	cmd.Flags().StringVarP(&o.environment, "environment", "e", "", "production or preview; the beginning is enough")
	cmd.RegisterFlagCompletionFunc("environment", cobra.FixedCompletions([]string{registry.Production, registry.Preview}, cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag is there
	return cmd
}

// path is where the variables are in the interface.
func (o *envOptions) path(more ...string) ([]string, error) {
	if o.environment == "" {
		return nil, cli.Usagef("which environment? Say -e production or -e preview")
	}
	env, err := registry.ParseEnvironment(o.environment)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	agent, err := o.name()
	return append([]string{"agents", agent, "environments", env, "variables"}, more...), err
}

// variables are those that there are.
func (o *envOptions) variables(c *call) ([]registry.Variable, error) {
	path, err := o.path()
	if err != nil {
		return nil, err
	}
	var page api.Page[registry.Variable]
	err = c.get(&page, path...)
	return page.Data, err
}

// set sends variables and says when they count.
func (o *envOptions) set(c *call, vars []api.NewVariable) error {
	path, err := o.path()
	if err == nil {
		err = c.send(http.MethodPut, api.NewVariables{Variables: vars}, nil, path...)
	}
	if err != nil {
		return err
	}
	c.note("%s; tasks get it with the next deploy: `tandemux deploy --redeploy`", cli.Plural(len(vars), "variable set", "variables set"))
	return nil
}

func (h Host) newEnv() *cobra.Command {
	return group(&cobra.Command{
		Use:   "env",
		Short: "Keep the variables of an agent's environments, secret ones too",
		Long: `Keep variables for an agent, by environment: production (the branch main) or preview
(all others). A version has those that there were when it was deployed; what is set
later reaches tasks with the next deploy, such as tandemux deploy --redeploy. Secrets
are sealed on the disk, masked in logs, and never shown again.`,
	}, h.newEnvAdd(), h.newEnvLs(), h.newEnvGet(), h.newEnvRm(), h.newEnvPull(), h.newEnvImport())
}

func (h Host) newEnvAdd() *cobra.Command {
	var o envOptions
	var value, file string
	var secret bool
	cmd := o.flags(h.does(&cobra.Command{
		Use:   "add NAME",
		Short: "Add or replace a variable",
		Long: `Add or replace a variable. Without --value and --value-file the value is read from
standard input: without echo from a terminal, else to its end, without the last line
break. A secret is never taken from the command line, where others can read it.`,
		Example: `  tandemux env add MODEL -v large -e preview
  tandemux env add API_KEY --secret -e production
  pass show api-key | tandemux env add API_KEY --secret -e prod`,
		Args: cobra.ExactArgs(1),
	}, func(c *call, args []string) error {
		given := c.cmd.Flags().Changed("value")
		if secret && given {
			return cli.Usagef("a secret on the command line can be read by others: leave --value out, and give it by standard input or --value-file")
		}
		if _, err := o.path(); err != nil {
			return err
		}
		if !given {
			var err error
			if value, err = readValue(c.cmd, args[0], file); err != nil {
				return err
			}
		}
		if err := registry.CheckVariable(args[0], value); err != nil {
			return cli.Usagef("%w", err)
		}
		return o.set(c, []api.NewVariable{{Name: args[0], Value: value, Secret: secret}})
	}))
	f := cmd.Flags()
	f.StringVarP(&value, "value", "v", "", "its value, when it is no secret")
	f.StringVar(&file, "value-file", "", "read the value from a file, - for standard input")
	f.BoolVar(&secret, "secret", false, "never show it again, and mask it in logs")
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
	if in, ok := cmd.InOrStdin().(*os.File); file == "" && ok && cli.OnTerminal(cmd) {
		fmt.Fprintf(cmd.ErrOrStderr(), "Value of %s (not shown): ", name)
		text, err := term.ReadPassword(int(in.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		if err != nil {
			return "", fmt.Errorf("read the value: %w", err)
		}
		return string(text), nil
	}
	if file == "" {
		file = "-"
	}
	text, err := readInput(cmd, file)
	if err != nil {
		return "", fmt.Errorf("read the value: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r"), nil
}

// envRow is a variable as `tandemux env ls --json` prints it; stable.
type envRow struct {
	Environment string `json:"environment"`
	registry.Variable
}

func (h Host) newEnvLs() *cobra.Command {
	var o envOptions
	return o.flags(h.asJSON(&cobra.Command{Use: "ls", Short: "List variables; secrets are masked", Args: cobra.NoArgs}, func(c *call, _ []string) error {
		environments := []string{registry.Production, registry.Preview}
		if o.environment != "" {
			environments = []string{o.environment}
		}
		rows := []envRow{}
		for _, o.environment = range environments {
			vars, err := o.variables(c)
			if err != nil {
				return err
			}
			env, _ := registry.ParseEnvironment(o.environment) // it is one
			for _, v := range vars {
				rows = append(rows, envRow{env, v})
			}
		}
		return table(c, rows, "", "ENVIRONMENT\tNAME\tVALUE\tSET\tDEPLOYED", func(r envRow) []any {
			deployed := "yes"
			if r.Pending {
				deployed = "not yet"
			}
			return []any{r.Environment, r.Name, cli.Short(r.Value), cli.Moment(r.Updated), deployed}
		})
	}))
}

func (h Host) newEnvGet() *cobra.Command {
	var o envOptions
	return o.flags(h.asJSON(&cobra.Command{Use: "get NAME", Short: "Print a variable's value, unless it is secret", Args: cobra.ExactArgs(1)}, func(c *call, args []string) error {
		path, err := o.path(args[0])
		if err != nil {
			return err
		}
		var v registry.Variable
		if err := c.get(&v, path...); err != nil {
			return err
		}
		if v.Secret && !cli.AsJSON(c.cmd) {
			return fmt.Errorf("%s is secret, set %s, and never shown; `tandemux env add %s --secret` replaces it", v.Name, cli.Moment(v.Updated), v.Name)
		}
		return c.print(v, "%s\n", v.Value)
	}))
}

func (h Host) newEnvRm() *cobra.Command {
	var o envOptions
	return o.flags(h.does(&cobra.Command{Use: "rm NAME", Short: "Remove a variable; versions that have it keep it", Args: cobra.ExactArgs(1)}, func(c *call, args []string) error {
		path, err := o.path(args[0])
		if err != nil {
			return err
		}
		return c.send(http.MethodDelete, nil, nil, path...)
	}))
}

func (h Host) newEnvPull() *cobra.Command {
	var o envOptions
	var force bool
	cmd := o.flags(h.does(&cobra.Command{
		Use:   "pull [FILE]",
		Short: "Write the variables that are no secrets as a .env file",
		Long: `Write an environment's variables as NAME="VALUE" lines to a file that only you can
read, or to standard output. Secrets are there by name, in comments.`,
		Args: cobra.MaximumNArgs(1),
	}, func(c *call, args []string) error {
		vars, err := o.variables(c)
		if err != nil {
			return err
		}
		text := dotenv(vars)
		if len(args) == 0 || args[0] == "-" {
			_, err := io.WriteString(c.out(), text)
			return err
		}
		return cli.WriteFile(args[0], []byte(text), force)
	}))
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

func (h Host) newEnvImport() *cobra.Command {
	var o envOptions
	var secret bool
	cmd := o.flags(h.does(&cobra.Command{
		Use:   "import FILE",
		Short: "Add the variables of a .env file, all or none",
		Long: `Add or replace the variables of a file of NAME=VALUE lines, - for standard input:
with "export" before a name or not, values bare, in 'single' or in "double" quotes,
comments after #. With --secret all of them are secrets.`,
		Args: cobra.ExactArgs(1),
	}, func(c *call, args []string) error {
		text, err := readInput(c.cmd, args[0])
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
			vars[i].Secret = secret
		}
		return o.set(c, vars)
	}))
	cmd.Flags().BoolVar(&secret, "secret", false, "all of them are secrets")
	return cmd
}
