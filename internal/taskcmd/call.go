package taskcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/host/task/registry"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
)

// Host is what the commands need of the host that a command line names.
type Host struct {
	// Open gives a client of its HTTP interface, and what says of an error what to
	// do. This user's own host is started when none runs.
	Open func(cmd *cobra.Command) (*apiclient.Client, func(error) error, error)
	// Elsewhere reports whether it is on another machine, whose directories differ.
	Elsewhere func(cmd *cobra.Command) (bool, error)
	// Configured is the definition of an agent of the configuration.
	Configured func(name string) (registry.Definition, error)
}

// Commands are the commands of the list's groups: those about agents that are
// deployed, and those about tasks.
func (h Host) Commands() []*cobra.Command {
	return []*cobra.Command{
		newInit(), h.newDeploy(), h.newVersions(), h.newRollback(), h.newLogs(), h.newEnv(), h.newKeys(), h.newProjects(), h.newTask(), h.newWs(),
	}
}

// call is a command line under way.
type call struct {
	Host
	cmd     *cobra.Command
	client  *apiclient.Client // nil until something is asked for
	explain func(error) error
}

// does gives a command its work.
func (h Host) does(cmd *cobra.Command, work func(c *call, args []string) error) *cobra.Command {
	cmd.RunE = cli.Did(func(cmd *cobra.Command, args []string) error {
		c := &call{Host: h, cmd: cmd}
		err := work(c, args)
		if c.client != nil {
			c.client.Close()
			err = c.explain(err)
		}
		return failure(cmd, err)
	})
	return cmd
}

// asJSON is does for a command with --json.
func (h Host) asJSON(cmd *cobra.Command, work func(c *call, args []string) error) *cobra.Command {
	return cli.WithJSON(h.does(cmd, work))
}

// failure is an error as the command says it: with --json as JSON (U101).
func failure(cmd *cobra.Command, err error) error {
	if !cli.AsJSON(cmd) || !cli.IsFailure(err) {
		return err
	}
	said := apiclient.Error{Code: "failed", Message: cli.OneSentence(err)}
	if refused, is := errors.AsType[*apiclient.Error](err); is {
		said.StatusCode, said.Code = refused.StatusCode, refused.Code
	}
	if werr := cli.JSON(cmd.ErrOrStderr(), said); werr != nil {
		return err
	}
	return cli.StatusError{Code: cli.ExitFailed}
}

func (c *call) ctx() context.Context { return c.cmd.Context() }

// api is the client, made when it is needed first: what is wrong with the words of a
// command starts no host.
func (c *call) api() (*apiclient.Client, error) {
	if c.client != nil {
		return c.client, nil
	}
	var err error
	c.client, c.explain, err = c.Open(c.cmd)
	return c.client, err
}

// send sends a body, nil for none, and decodes the answer into result, if not nil.
func (c *call) send(method string, body, result any, path ...string) error {
	return c.do(apiclient.Request{Method: method, Path: apiclient.Path(path...), Body: body}, result)
}

func (c *call) get(result any, path ...string) error {
	return c.send(http.MethodGet, nil, result, path...)
}

func (c *call) do(r apiclient.Request, result any) error {
	client, err := c.api()
	if err != nil {
		return err
	}
	return client.Do(c.ctx(), r, result)
}

// download gives the bytes that are at a path; the caller closes them.
func (c *call) download(query url.Values, path ...string) (io.ReadCloser, error) {
	client, err := c.api()
	if err != nil {
		return nil, err
	}
	resp, err := client.Open(c.ctx(), apiclient.Request{Method: http.MethodGet, Path: apiclient.Path(path...), Query: query})
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// list reads a whole list, or its first most for most > 0.
func list[T any](c *call, query url.Values, most int, path ...string) ([]T, error) {
	client, err := c.api()
	if err != nil {
		return nil, err
	}
	return apiclient.List[T](c.ctx(), client, apiclient.Path(path...), query, most)
}

// table prints a list, or note on stderr where it has nothing.
func table[T any](c *call, rows []T, note, head string, row func(T) []any) error {
	if len(rows) == 0 && note != "" && !cli.AsJSON(c.cmd) {
		fmt.Fprintln(c.cmd.ErrOrStderr(), note)
	}
	return cli.PrintTable(c.cmd, head, rows, row)
}

// print prints a value: with --json as JSON, else in words.
func (c *call) print(v any, format string, args ...any) error {
	return cli.Print(c.cmd, v, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, format, args...)
		return err
	})
}

func (c *call) out() io.Writer { return c.cmd.OutOrStdout() }

// note says something on stderr.
func (c *call) note(format string, args ...any) {
	fmt.Fprintf(c.cmd.ErrOrStderr(), format+"\n", args...)
}

// set gives the values that are not empty.
func set(values map[string]string) url.Values {
	q := url.Values{}
	for name, v := range values {
		if v != "" {
			q.Set(name, v)
		}
	}
	return q
}

// group makes a command that does nothing without one of those below it.
func group(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	cmd.Args = cobra.NoArgs
	cmd.AddCommand(below...)
	names := make([]string, len(below))
	for i, b := range below {
		names[i] = b.Name()
	}
	if cmd.RunE == nil {
		cmd.RunE = cli.Did(func(*cobra.Command, []string) error { return cli.Usagef("say one of %s", strings.Join(names, ", ")) })
	}
	return cmd
}

// help is the work of a group that prints its help.
func help(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// absolute is a path of this machine's as the host knows it.
func absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the directory: %w", err)
	}
	return abs, nil
}
