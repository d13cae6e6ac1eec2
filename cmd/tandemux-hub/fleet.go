package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/hub/directory"
	"tandemux/hub/token"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

// ask asks the hub that --host names, or the one that this user runs here.
func ask(cmd *cobra.Command, method, path string, body, result any) error {
	return do(cmd, apiclient.Request{Method: method, Path: path, Body: body}, result)
}

func do(cmd *cobra.Command, r apiclient.Request, result any) error {
	p, api, err := hubClient(cmd)
	if err != nil {
		return err
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(cmd.Context(), endpoint.CallTimeout)
	defer cancel()
	return p.ExplainAPI(api.Do(ctx, r, result))
}

// forEach is a command that does something to each that it names, at a path.
func forEach(use, about, method, path, below string) *cobra.Command {
	return cli.Command(use, about, nil, func(cmd *cobra.Command, args []string) error {
		return cli.Each(args, func(name string) error { return ask(cmd, method, path+url.PathEscape(name)+below, nil, nil) })
	})
}

func newLsCommand() *cobra.Command {
	return cli.WithJSON(cli.Command("ls", `List the hosts of the fleet
AWAY is one that has not said for some seconds that it is here.`, nil, func(cmd *cobra.Command, _ []string) error {
		var all []directory.Entry
		if err := ask(cmd, http.MethodGet, "/hosts", nil, &all); err != nil {
			return err
		}
		return cli.PrintTable(cmd, "no host has joined; `tandemux hub invite NAME` lets one in", "NAME\tHERE\tTERMINALS\tSESSIONS\tLABELS\tAGENTS\tCPUS\tVERSION", all, func(e directory.Entry) []any {
			return []any{e.Name, here(e), len(e.Terms), len(e.Sessions), strings.Join(e.Labels, ","), strings.Join(e.Agents, ","), e.CPUs, e.Version}
		})
	}), cli.One[[]directory.Entry]())
}

func newStatusCommand() *cobra.Command {
	return cli.WithJSON(cli.Command("status", "Say where the hub is, and how many hosts are here", nil, func(cmd *cobra.Command, _ []string) error {
		var s status
		if err := ask(cmd, http.MethodGet, "/hub", nil, &s); err != nil {
			return err
		}
		return cli.Print(cmd, s, func(out io.Writer) error {
			for _, line := range [][2]string{{"reached at", strings.Join(s.URLs, " ")}, {"hosts join at", s.Join}, {"certificate", s.Fingerprint}, {"NATS", s.NATS}} {
				if line[1] != "" {
					fmt.Fprintf(out, "%-14s %s\n", line[0], line[1])
				}
			}
			_, err := fmt.Fprintf(out, "%-14s %d here, %d away\n", "hosts", s.Here, s.Away)
			return err
		})
	}), cli.One[status]())
}

// here says whether a host is here, and since when it is not.
func here(e directory.Entry) string {
	switch {
	case e.Present:
		return "here"
	case e.Seen.IsZero():
		return "AWAY"
	}
	return "AWAY since " + e.Seen.Local().Format(time.DateTime)
}

func newInviteCommand() *cobra.Command {
	var in struct {
		Labels []string      `flag:"label" value:"LABEL" doc:"A label of the host, such as gpu"`
		Life   time.Duration `flag:"for" doc:"How long it lets in (default: until it is revoked)"`
	}
	return cli.Command("invite NAME", `Print a credential that lets a host join under a name
Whoever has it is that host: it may say what it is, be carried to, and take tasks, and
speak for no other. It is told once: give it to tandemux join on that machine, and nobody
else.

  tandemux hub invite build --label gpu > build.creds
  tandemux hub invite build | ssh build tandemux join tls://hub:4222`, &in, func(cmd *cobra.Command, args []string) error {
		if in.Life < 0 || in.Life > 0 && in.Life < time.Second {
			return cli.Usagef("--for is a second or more")
		}
		var got directory.Given
		if err := ask(cmd, http.MethodPost, "/hosts/"+url.PathEscape(args[0])+"/credentials", directory.Wanted{Labels: in.Labels, Life: int64(in.Life / time.Second)}, &got); err != nil {
			return err
		}
		_, err := fmt.Fprint(cmd.OutOrStdout(), got.Credential)
		return err
	})
}

func newRevokeCommand() *cobra.Command {
	return forEach("revoke NAME...", `Cut hosts off, at once, and forget them
No credential of theirs lets in any more. What runs there goes on.`, http.MethodDelete, "/hosts/", "")
}

func newTokenCommand() *cobra.Command {
	var in struct {
		Scopes []string      `flag:"scope" value:"SCOPE" doc:"What it may do (default: all but admin and files:write)"`
		Life   time.Duration `flag:"for" doc:"How long it is valid (default: until it is revoked)"`
	}
	return cli.Group("token", "Tokens of the hub, for people and programs", "",
		cli.Command("new NAME", "Make a token and print it, once", &in, func(cmd *cobra.Command, args []string) error {
			var got struct {
				Token string `json:"token"`
			}
			if err := ask(cmd, http.MethodPost, "/tokens", map[string]any{"name": args[0], "scopes": in.Scopes, "seconds": int64(in.Life / time.Second)}, &got); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), got.Token)
			return err
		}),
		cli.WithJSON(cli.Command("ls", "List the tokens", nil, func(cmd *cobra.Command, _ []string) error {
			var all []token.Token
			if err := ask(cmd, http.MethodGet, "/tokens", nil, &all); err != nil {
				return err
			}
			return cli.PrintTable(cmd, "there are no tokens; `tandemux hub token new` makes one", "ID\tNAME\tSCOPES\tBY\tEXPIRES", all, func(t token.Token) []any {
				ends := "never"
				if !t.Expires.IsZero() {
					ends = t.Expires.Local().Format(time.DateTime)
				}
				return []any{t.ID, t.Name, strings.Join(slices.Sorted(slices.Values(t.Scopes)), ","), t.By, ends}
			})
		}), cli.One[[]token.Token]()),
		forEach("revoke ID...", "Make tokens invalid, at once", http.MethodDelete, "/tokens/", ""))
}
