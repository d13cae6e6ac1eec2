package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/internal/apiclient"
)

// envOptions say which agent's environment is meant.
type envOptions struct {
	agent, config, environment string
	asJSON                     bool
}

func (o *envOptions) addTo(cmd *cobra.Command) *cobra.Command {
	f := cmd.Flags()
	f.StringVarP(&o.agent, "agent", "a", "", "the agent (default: the one of ./tandemux-agent.toml)")
	f.StringVarP(&o.config, "config", "c", "", "the definition that says which agent")
	f.StringVarP(&o.environment, "environment", "e", "", "production or preview; the beginning is enough")
	cmd.RegisterFlagCompletionFunc("environment", cobra.FixedCompletions([]string{registry.Production, registry.Preview}, cobra.ShellCompDirectiveNoFileComp)) //nolint:errcheck // the flag is there
	return cmd
}

// path is where the variables are in the interface.
func (o *envOptions) path(more ...string) (string, error) {
	if o.environment == "" {
		return "", usagef("which environment? Say -e production or -e preview")
	}
	env, err := registry.ParseEnvironment(o.environment)
	if err != nil {
		return "", usagef("%w", err)
	}
	agent, err := agentNamed(o.agent, o.config)
	if err != nil {
		return "", err
	}
	return agentPath(agent, append([]string{"environments", env, "variables"}, more...)...), nil
}

func newEnvCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "env",
		Short: "Keep the variables of an agent's environments, secret ones too",
		Long: `Keep variables for an agent, by environment: production (the branch main) or preview
(all others). A version has those that there were when it was deployed; what is set
later reaches tasks with the next deploy, such as tandemux deploy --redeploy. Secrets
are sealed on the disk, masked in logs, and never shown again.`,
		Args: cobra.NoArgs,
		RunE: did(func(*cobra.Command, []string) error { return usagef("say add, ls, get, rm, pull or import") }),
	}
	cmd.AddCommand(newEnvAddCommand(), newEnvLsCommand(), newEnvGetCommand(), newEnvRmCommand(), newEnvPullCommand(), newEnvImportCommand())
	return cmd
}

func newEnvAddCommand() *cobra.Command {
	var o envOptions
	var value, file string
	var secret bool
	cmd := o.addTo(&cobra.Command{
		Use:   "add NAME",
		Short: "Add or replace a variable",
		Long: `Add or replace a variable. Without --value and --value-file the value is read from
standard input: without echo from a terminal, else to its end, without the last line
break. A secret is never taken from the command line, where others can read it.`,
		Example: `  tandemux env add MODEL -v large -e preview
  tandemux env add API_KEY --secret -e production
  pass show api-key | tandemux env add API_KEY --secret -e prod`,
		Args: cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			given := cmd.Flags().Changed("value")
			switch {
			case secret && given:
				return usagef("a secret on the command line can be read by others: leave --value out, and give it by standard input or --value-file")
			case given && file != "":
				return usagef("--value and --value-file exclude each other")
			}
			path, err := o.path()
			if err != nil {
				return err
			}
			if !given {
				if value, err = readValue(cmd, args[0], file); err != nil {
					return err
				}
			}
			if err := registry.CheckVariable(args[0], value); err != nil {
				return usagef("%w", err)
			}
			return setVariables(cmd, path, []api.NewVariable{{Name: args[0], Value: value, Secret: secret}})
		}),
	})
	f := cmd.Flags()
	f.StringVarP(&value, "value", "v", "", "its value, when it is no secret")
	f.StringVar(&file, "value-file", "", "read the value from a file, - for standard input")
	f.BoolVar(&secret, "secret", false, "never show it again, and mask it in logs")
	return cmd
}

// maxInput bounds what is read of a value or a file of variables.
const maxInput = 1 << 20

// readValue reads a value that is not on the command line.
func readValue(cmd *cobra.Command, name, file string) (string, error) {
	var in io.Reader = cmd.InOrStdin()
	if file != "" && file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", fmt.Errorf("read the value: %w", err)
		}
		defer f.Close()
		in = f
	} else if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprintf(cmd.ErrOrStderr(), "Value of %s (not shown): ", name)
		text, err := term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(cmd.ErrOrStderr())
		if err != nil {
			return "", fmt.Errorf("read the value: %w", err)
		}
		return string(text), nil
	}
	text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the value: %w", err)
	case len(text) > maxInput:
		return "", usagef("the value has more than %d bytes", maxInput)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r"), nil
}

// setVariables sends variables and says when they count.
func setVariables(cmd *cobra.Command, path string, vars []api.NewVariable) error {
	return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
		if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodPut, Path: path, Body: api.NewVariables{Variables: vars}}, nil); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s; tasks get it with the next deploy: `tandemux deploy --redeploy`\n", plural(len(vars), "variable set", "variables set"))
		return nil
	})
}

// envRow is a variable as `tandemux env ls --json` prints it; stable.
type envRow struct {
	Environment string `json:"environment"`
	registry.Variable
}

func newEnvLsCommand() *cobra.Command {
	var o envOptions
	cmd := o.addTo(&cobra.Command{
		Use:   "ls",
		Short: "List variables; secrets are masked",
		Args:  cobra.NoArgs,
		RunE: did(func(cmd *cobra.Command, _ []string) error {
			environments := []string{registry.Production, registry.Preview}
			if o.environment != "" {
				environments = []string{o.environment}
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				rows := []envRow{}
				for _, env := range environments {
					o.environment = env
					path, err := o.path()
					if err != nil {
						return err
					}
					var page api.Page[registry.Variable]
					if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: path}, &page); err != nil {
						return err
					}
					env, _ = registry.ParseEnvironment(env) // path has checked it
					for _, v := range page.Data {
						rows = append(rows, envRow{env, v})
					}
				}
				return printVariables(cmd.OutOrStdout(), rows, o.asJSON)
			})
		}),
	})
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func printVariables(w io.Writer, rows []envRow, asJSON bool) error {
	if asJSON {
		return printJSON(w, rows)
	}
	if len(rows) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "ENVIRONMENT\tNAME\tVALUE\tSET\tDEPLOYED")
	for _, r := range rows {
		deployed := "yes"
		if r.Pending {
			deployed = "not yet"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", r.Environment, r.Name, printable(r.Value), moment(r.Updated), deployed)
	}
	return tw.Flush()
}

func newEnvGetCommand() *cobra.Command {
	var o envOptions
	cmd := o.addTo(&cobra.Command{
		Use:   "get NAME",
		Short: "Print a variable's value, unless it is secret",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			path, err := o.path(args[0])
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var v registry.Variable
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: path}, &v); err != nil {
					return err
				}
				switch {
				case o.asJSON:
					return printJSON(cmd.OutOrStdout(), v)
				case v.Secret:
					return fmt.Errorf("%s is secret, set %s, and never shown; `tandemux env add %s --secret` replaces it", v.Name, moment(v.Updated), v.Name)
				}
				_, err := fmt.Fprintln(cmd.OutOrStdout(), v.Value)
				return err
			})
		}),
	})
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func newEnvRmCommand() *cobra.Command {
	var o envOptions
	return o.addTo(&cobra.Command{
		Use:   "rm NAME",
		Short: "Remove a variable; versions that have it keep it",
		Args:  cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			path, err := o.path(args[0])
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				_, err := c.Do(ctx, apiclient.Request{Method: http.MethodDelete, Path: path}, nil)
				return err
			})
		}),
	})
}

func newEnvPullCommand() *cobra.Command {
	var o envOptions
	var force bool
	cmd := o.addTo(&cobra.Command{
		Use:   "pull [FILE]",
		Short: "Write the variables that are no secrets as a .env file",
		Long: `Write an environment's variables as NAME="VALUE" lines to a file that only you can
read, or to standard output. Secrets are there by name, in comments.`,
		Args: cobra.MaximumNArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			path, err := o.path()
			if err != nil {
				return err
			}
			return withAPI(cmd, func(ctx context.Context, c *apiclient.Client) error {
				var page api.Page[registry.Variable]
				if _, err := c.Do(ctx, apiclient.Request{Method: http.MethodGet, Path: path}, &page); err != nil {
					return err
				}
				text := dotenv(page.Data)
				if len(args) == 0 || args[0] == "-" {
					_, err := io.WriteString(cmd.OutOrStdout(), text)
					return err
				}
				return writeEnvFile(args[0], text, force)
			})
		}),
	})
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

func writeEnvFile(path, text string, force bool) error {
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if force {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already; --force replaces it", path)
	}
	if err == nil {
		err = f.Chmod(0o600)
		_, werr := f.WriteString(text)
		err = cmp.Or(err, werr, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write the variables: %w", err)
	}
	return nil
}

func newEnvImportCommand() *cobra.Command {
	var o envOptions
	var secret bool
	cmd := o.addTo(&cobra.Command{
		Use:   "import FILE",
		Short: "Add the variables of a .env file, all or none",
		Long: `Add or replace the variables of a file of NAME=VALUE lines, - for standard input:
with "export" before a name or not, values bare, in 'single' or in "double" quotes,
comments after #. With --secret all of them are secrets.`,
		Args: cobra.ExactArgs(1),
		RunE: did(func(cmd *cobra.Command, args []string) error {
			path, err := o.path()
			if err != nil {
				return err
			}
			var in io.Reader = cmd.InOrStdin()
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return fmt.Errorf("read the variables: %w", err)
				}
				defer f.Close()
				in = f
			}
			text, err := io.ReadAll(io.LimitReader(in, maxInput+1))
			if err != nil {
				return fmt.Errorf("read the variables: %w", err)
			}
			if len(text) > maxInput {
				return usagef("%s has more than %d bytes", args[0], maxInput)
			}
			vars, err := parseDotenv(string(text))
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			for i := range vars {
				vars[i].Secret = secret
			}
			if len(vars) == 0 {
				return fmt.Errorf("%s has no variables", args[0])
			}
			return setVariables(cmd, path, vars)
		}),
	})
	cmd.Flags().BoolVar(&secret, "secret", false, "all of them are secrets")
	return cmd
}
