package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/host/task/budget"
	"tandemux/hub/api"
	"tandemux/hub/directory"
	"tandemux/hub/front"
	"tandemux/hub/join"
	"tandemux/hub/queue"
	"tandemux/hub/worker"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
	"tandemux/internal/local"
)

// tasks hands out the fleet's tasks.
func tasks(ctx context.Context, h *hub) ([]front.Authenticator, []front.Route, error) {
	q, err := queue.Open(ctx, queue.Options{NATS: h.bus.Conn, JS: h.bus.JS, Replicas: h.bus.Replicas, Log: h.log, Labels: func(host string) []string {
		e, _ := h.directory.Host(host)
		return e.Labels
	}})
	if err != nil {
		return nil, nil, err
	}
	context.AfterFunc(ctx, q.Close)
	h.queue = q
	a := &api.API{Queue: q, Log: h.log}
	return nil, a.Routes(), nil
}

// takeTasks has a joined host take tasks, if it has room for any.
func takeTasks(ctx context.Context, j *join.Joined) error {
	if j.Room == 0 {
		return nil
	}
	client := apiclient.New(apiclient.Options{Dial: j.Host})
	defer client.Close()
	return worker.Run(ctx, worker.Options{Host: j.Name, NATS: j.NATS, API: client, Labels: j.Labels, Room: j.Room, Dir: filepath.Join(local.FindDirs().State, "hub-files"), Log: j.Log})
}

func newQueueCommand() *cobra.Command {
	return cli.WithJSON(cli.Command("queue", "Say how many tasks wait, and which hosts work", nil, func(cmd *cobra.Command, _ []string) error {
		var q api.Queued
		if err := ask(cmd, http.MethodGet, "/fleet/queue", nil, &q); err != nil {
			return err
		}
		return cli.Print(cmd, q, func(out io.Writer) error {
			fmt.Fprintf(out, "%d wait\n", q.Waiting)
			for _, host := range slices.Sorted(maps.Keys(q.Working)) {
				fmt.Fprintf(out, "%s works on %d\n", host, q.Working[host])
			}
			for _, host := range q.Drained {
				fmt.Fprintf(out, "%s is drained\n", host)
			}
			return nil
		})
	}), cli.One[api.Queued]())
}

func newDrainCommand() *cobra.Command {
	var in struct {
		Undo bool `flag:"undo" doc:"Have them take tasks again"`
	}
	return cli.Command("drain HOST...", `Have hosts take no new tasks
What they have goes on to its end; tandemux hub queue says how much that is.`, &in, func(cmd *cobra.Command, args []string) error {
		var all []directory.Entry
		if err := ask(cmd, http.MethodGet, "/hosts", nil, &all); err != nil {
			return err
		}
		for _, host := range args {
			if !in.Undo && !slices.ContainsFunc(all, func(e directory.Entry) bool { return e.Name == host }) {
				return fmt.Errorf("no host of the fleet is called %q: `tandemux hub ls` lists them", host)
			}
			if err := ask(cmd, http.MethodPut, "/fleet/hosts/"+url.PathEscape(host)+"/drain", api.Draining{On: !in.Undo}, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func newLimitsCommand() *cobra.Command {
	var in struct {
		Person   int      `flag:"person" value:"N" doc:"Of each person; 0: any number"`
		Project  int      `flag:"project" value:"N" doc:"Of each project; 0: any number"`
		Persons  []string `flag:"of-person" value:"NAME=N" doc:"Of this person"`
		Projects []string `flag:"of-project" value:"NAME=N" doc:"Of this project"`
		Labels   []string `flag:"of-label" value:"LABEL=N" doc:"Of those that ask for this label"`
		Bytes    string   `flag:"bytes" value:"SIZE" doc:"Of the files of each person's tasks at the hub, such as 20G (default 8G)"`
	}
	return cli.WithJSON(cli.Command("limits", `Say how many tasks may be at work at once, and what their files may take, or set it
Given any, they replace all that there were.

  tandemux hub limits --person 4 --of-person ci=10 --of-label gpu=2`, &in, func(cmd *cobra.Command, _ []string) error {
		l := queue.Limits{Person: in.Person, Project: in.Project}
		for _, each := range []struct {
			into  *map[string]int
			words []string
		}{{&l.Persons, in.Persons}, {&l.Projects, in.Projects}, {&l.Labels, in.Labels}} {
			for _, word := range each.words {
				name, text, _ := strings.Cut(word, "=")
				n, err := strconv.Atoi(text)
				if err != nil || n < 0 || name == "" {
					return cli.Usagef("%q: want NAME=N", word)
				}
				if *each.into == nil {
					*each.into = map[string]int{}
				}
				(*each.into)[name] = n
			}
		}
		if in.Bytes != "" {
			var err error
			if l.Bytes, err = budget.ParseBytes(in.Bytes); err != nil {
				return cli.Usagef("--bytes: %w", err)
			}
		}
		method, body := http.MethodGet, any(nil)
		for _, name := range []string{"person", "project", "of-person", "of-project", "of-label", "bytes"} {
			if cmd.Flags().Changed(name) {
				method, body = http.MethodPut, l
			}
		}
		var got queue.Limits
		if err := ask(cmd, method, "/fleet/limits", body, &got); err != nil {
			return err
		}
		return cli.Print(cmd, got, func(out io.Writer) error {
			say := func(n int, what string) {
				if n > 0 {
					fmt.Fprintf(out, "%d at once of %s\n", n, what)
				}
			}
			say(got.Person, "each person")
			say(got.Project, "each project")
			for _, each := range []struct {
				what string
				of   map[string]int
			}{{"", got.Persons}, {"the project ", got.Projects}, {"those that ask for ", got.Labels}} {
				for _, name := range slices.Sorted(maps.Keys(each.of)) {
					say(each.of[name], each.what+name)
				}
			}
			if got.Bytes > 0 {
				fmt.Fprintf(out, "%d MiB of files of each person\n", got.Bytes>>20)
			}
			if reflect.ValueOf(got).IsZero() {
				fmt.Fprintln(cmd.ErrOrStderr(), "no limit is set; `tandemux hub limits --person N` sets one")
			}
			return nil
		})
	}), cli.One[queue.Limits]())
}
