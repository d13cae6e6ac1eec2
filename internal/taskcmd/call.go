package taskcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

// Commands are the commands of the list's groups: those about agents that are
// deployed, and those about tasks. configured is the definition of an agent of the
// configuration.
func Commands(configured func(name string) (registry.Definition, error)) []*cobra.Command {
	return []*cobra.Command{
		newInit(), newDeploy(configured), newVersions(), newRollback(), newLogs(), newEnv(), newKeys(), newWhoami(), newProjects(), newTask(), newWs(),
	}
}

var segment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[^}]*\}`) })

// Request asks for an operation of the interface, with the struct that it takes, nil
// for none; refs are what its path names, in order.
func Request(op string, in any, refs ...string) apiclient.Request {
	route := api.Named(op)
	r := apiclient.Request{Method: route.Method, Path: segment().ReplaceAllStringFunc(route.Path, func(name string) string {
		ref := refs[0]
		refs = refs[1:]
		if strings.HasSuffix(name, "...}") {
			return (&url.URL{Path: ref}).EscapedPath()
		}
		return url.PathEscape(ref)
	})}
	if in != nil && route.Asks() {
		r.Query = query(in)
	} else {
		r.Body = in
	}
	return r
}

// query is a struct as parameters.
func query(in any) url.Values {
	text, err := json.Marshal(in)
	if err != nil {
		panic("taskcmd: " + err.Error()) // its types are fixed
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var members map[string]any
	d.Decode(&members) //nolint:errcheck // it was written just now
	q := url.Values{}
	for name, v := range members {
		list, is := v.([]any)
		if !is {
			list = []any{v}
		}
		for _, one := range list {
			q.Add(name, fmt.Sprint(one))
		}
	}
	return q
}

// Client asks a host for operations. It connects when it is needed first: what is
// wrong with the words of a command starts no host.
type Client struct {
	ctx   context.Context
	find  func() (endpoint.Endpoint, error)
	quiet bool // say and ask nothing, as somebody else has the terminal
	place endpoint.Endpoint
	api   *apiclient.Client
}

// NewClient makes a client of a host that says and asks nothing.
func NewClient(ctx context.Context, at endpoint.Endpoint) *Client {
	return &Client{ctx: ctx, find: func() (endpoint.Endpoint, error) { return at, nil }, quiet: true}
}

func (c *Client) connect() error {
	if c.api != nil {
		return nil
	}
	var err error
	if c.place, err = c.find(); err == nil {
		c.api, err = c.place.API(c.ctx, c.quiet)
	}
	return err
}

func (c *Client) Close() {
	if c.api != nil {
		c.api.Close()
	}
}

func (c *Client) do(r apiclient.Request, result any) error {
	if err := c.connect(); err != nil {
		return err
	}
	return c.place.ExplainAPI(c.api.Do(c.ctx, r, result))
}

// Download gives the bytes that an operation answers with; the caller closes them.
func (c *Client) Download(op string, in any, refs ...string) (io.ReadCloser, error) {
	if err := c.connect(); err != nil {
		return nil, err
	}
	resp, err := c.api.Open(c.ctx, Request(op, in, refs...))
	if err != nil {
		return nil, c.place.ExplainAPI(err)
	}
	return resp.Body, nil
}

// Ask does an operation and decodes its answer.
func Ask[T any](c *Client, op string, in any, refs ...string) (v T, err error) {
	err = c.do(Request(op, in, refs...), &v)
	return v, err
}

// List reads a whole list, page by page, or its first most for most > 0.
func List[T any](c *Client, most int, op string, in any, refs ...string) ([]T, error) {
	const pageSize = 1000
	all := []T{}
	r := Request(op, in, refs...)
	if r.Query == nil {
		r.Query = url.Values{}
	}
	for {
		n := pageSize
		if most > 0 {
			n = min(n, most-len(all))
		}
		if api.Named(op).Pages() {
			r.Query.Set("limit", strconv.Itoa(n))
		}
		var page api.Page[T]
		if err := c.do(r, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next == "" || most > 0 && len(all) >= most {
			return all, nil
		}
		r.Query.Set("cursor", page.Next)
	}
}

// call is a command line under way.
type call struct {
	*cobra.Command
	*Client
}

// told asks for an operation and prints the answer: what text makes of it,
// nothing for nil, or JSON.
func told[T any](c *call, text func(T) string, op string, in any, refs ...string) error {
	got, err := Ask[T](c.Client, op, in, refs...)
	if err != nil {
		return err
	}
	if text == nil {
		return show(c, got, "")
	}
	return show(c, got, text(got))
}

// verb is cli.Command for work that calls the host; forms are what it prints with --json.
func verb(use, about string, in any, work func(c *call, args []string) error, forms ...cli.Form) *cobra.Command {
	cmd := cli.Command(use, about, in, func(cmd *cobra.Command, args []string) error {
		return onHost(cmd, func(c *call) error { return work(c, args) })
	})
	if len(forms) > 0 {
		cli.WithJSON(cmd, forms...)
	}
	return cmd
}

// nothing is what a verb prints with --json that has nothing to say.
type nothing struct{}

func onHost(cmd *cobra.Command, work func(c *call) error) error {
	c := &call{cmd, &Client{ctx: cmd.Context(), find: func() (endpoint.Endpoint, error) { return endpoint.Of(cmd) }}}
	defer c.Close()
	return work(c)
}

// act is a verb that does an operation about its arguments, and prints of its answer
// what text gives.
func act[T any](use, op string, text func(T) string) *cobra.Command {
	route := api.Named(op)
	in := reflect.New(route.In)
	about := strings.Replace(strings.TrimSuffix(route.Summary, "."), "Get ", "Show ", 1)
	if route.Detail != "" {
		about += "\n" + route.Detail
	}
	return verb(use, about, in.Interface(), func(c *call, args []string) error {
		return told(c, text, op, in.Interface(), args...)
	}, cli.One[T]())
}

// listing is a verb that prints a list.
func listing[T any](use, op, empty, head string, row func(T) []any) *cobra.Command {
	in := reflect.New(api.Named(op).In)
	return verb(use, strings.TrimSuffix(api.Named(op).Summary, "."), in.Interface(), func(c *call, _ []string) error {
		all, err := List[T](c.Client, 0, op, in.Interface())
		if err != nil {
			return err
		}
		return cli.PrintTable(c.Command, empty, head, all, row)
	}, cli.One[[]T]())
}

func hasStatus(err error, status int) bool { return apiclient.Status(err) == status }

func isMissing(err error) bool { return hasStatus(err, http.StatusNotFound) }

// show prints a value: with --json as JSON, else as text, which may be empty.
func show(c *call, v any, text string) error {
	if text != "" {
		text += "\n"
	}
	return cli.Print(c.Command, v, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// note says something on stderr, to people.
func (c *call) note(format string, args ...any) {
	if !cli.AsJSON(c.Command) {
		fmt.Fprintf(c.ErrOrStderr(), format+"\n", args...)
	}
}

// absolute is a path of this machine's as the host knows it.
func absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the directory: %w", err)
	}
	return abs, nil
}
