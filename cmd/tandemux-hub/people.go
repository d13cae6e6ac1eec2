package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/host/auth"
	"tandemux/hub/audit"
	"tandemux/hub/front"
	"tandemux/hub/join"
	"tandemux/hub/people"
	"tandemux/internal/apiclient"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/hosts"
	"tandemux/internal/local"
	"tandemux/internal/statefile"
)

// audits is the part that notes who did what.
func audits(ctx context.Context, h *hub) (_ []front.Authenticator, _ []front.Route, err error) {
	if h.audit, err = audit.Open(ctx, h.bus.JS, h.bus.Replicas, h.log); err != nil {
		return nil, nil, err
	}
	return nil, []front.Route{{Pattern: "GET /api/v1/audit", Scope: auth.ScopeAdmin, Serve: h.audit.Serve}}, nil
}

// signIn is the part that people sign in at, where the file says so.
func signIn(ctx context.Context, h *hub) ([]front.Authenticator, []front.Route, error) {
	c, err := people.Read(filepath.Join(local.FindDirs().Config, people.File))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	d, err := people.Open(ctx, people.Options{
		Config: c, JS: h.bus.JS, Replicas: h.bus.Replicas, Log: h.log,
		Note: func(who, what, outcome string, r *http.Request) {
			h.audit.Note(audit.Record{Who: who, What: what, Outcome: outcome, Remote: audit.Remote(r)})
		},
	})
	if err != nil {
		return nil, nil, err
	}
	h.names, h.origins = append(h.names, c.Host()), append(h.origins, c.URL)
	return []front.Authenticator{d.Authenticate}, d.Routes(), nil
}

func newLoginCommand() *cobra.Command {
	return cli.Command("login NAME [URL]", `Sign in to a hub by your identity provider, and give it a name
A browser anywhere makes a token on the hub's page, which you paste here, or pipe in. It goes
into a file that only you can read, beside the list of hosts, which gets the hub as
NAME: --host NAME asks it then. It ends by itself; the same command with NAME alone signs
in again.

  tandemux hub login team wss://hub.example.org
  tandemux task ls --host team`, nil, func(cmd *cobra.Command, args []string) error {
		d, name := local.FindDirs(), args[0]
		if err := hosts.CheckName(name); err != nil {
			return cli.Usagef("%w", err)
		}
		list, err := hosts.Read(d.Config)
		if err != nil {
			return err
		}
		h, known := hosts.Find(list, name)
		switch {
		case len(args) > 1 && known && h.URL != args[1]:
			return cli.Usagef("%s is %s already: `tandemux hosts rm %s` first, or take another name", name, h.URL, name)
		case len(args) > 1:
			h = hosts.Host{Name: name, URL: args[1], TokenFile: h.TokenFile}
		case !known:
			return cli.Usagef("there is no hub %s yet: give its address, too, such as wss://hub.example.org", name)
		}
		if u, err := url.Parse(h.URL); err != nil || u.Scheme != "wss" && u.Scheme != "ws" || u.Host == "" || u.Path != "" {
			return cli.Usagef("a hub's address is such as wss://hub.example.org, not %s", h.URL)
		}
		if err := cmd.Flags().Set("host", h.URL); err != nil {
			return err
		}
		h.Hub, h.TokenFile = true, cmp.Or(h.TokenFile, filepath.Join(d.Config, "hub-"+name+".token"))
		if err := d.Make(); err != nil {
			return err
		}
		if err := os.MkdirAll(d.Config, 0o700); err != nil {
			return fmt.Errorf("keep the session: %w", err)
		}
		me, err := keepSession(cmd, h.URL, h.TokenFile)
		if err != nil {
			return err
		}
		err = hosts.Change(d.Config, func(list []hosts.Host) ([]hosts.Host, error) {
			for i := range list {
				if list[i].Name == name {
					list[i] = h
					return list, nil
				}
			}
			return append(list, h), nil
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "signed in to %s as %s; it may: %s\n", name, me.Name, cmp.Or(strings.Join(me.Scopes, ", "), "nothing yet, its administrator gives scopes"))
		return nil
	})
}

var errNoSignIn = errors.New("nobody signs in at this hub: its people.toml is not there")

// keepSession has a person give the token that the hub's page makes, and keeps it in a file.
func keepSession(cmd *cobra.Command, hub, file string) (me people.Me, err error) {
	ask := func() (endpoint.Endpoint, error) {
		p, api, err := hubClient(cmd)
		if err != nil {
			return p, err
		}
		defer api.Close()
		return p, api.Do(cmd.Context(), apiclient.Request{Method: http.MethodGet, Path: "/auth/me", Beside: true}, &me)
	}
	switch p, err := ask(); {
	case apiclient.Status(err) == http.StatusNotFound:
		return me, fmt.Errorf("%w; ask for a token instead", errNoSignIn)
	case err != nil && apiclient.Status(err) != http.StatusUnauthorized:
		return me, p.ExplainAPI(err)
	}
	page := "http" + strings.TrimPrefix(hub, "ws") + "/auth/token"
	fmt.Fprintf(cmd.ErrOrStderr(), "Open %s in a browser, and give the token that it makes\n", page)
	token := ""
	if cli.OnTerminal(cmd) {
		token, err = cli.Hidden(cmd, "Token")
	} else {
		var text []byte
		text, err = io.ReadAll(io.LimitReader(cmd.InOrStdin(), maxCredential))
		token = string(text)
	}
	if err != nil {
		return me, fmt.Errorf("read the token: %w", err)
	}
	fresh := file + ".new"
	if err := statefile.Write(fresh, []byte(strings.TrimSpace(token)+"\n")); err != nil {
		return me, fmt.Errorf("keep the session: %w", err)
	}
	defer os.Remove(fresh) //nolint:errcheck // it has been renamed
	if err := cmd.Flags().Set("token-file", fresh); err != nil {
		return me, err
	}
	if p, err := ask(); err != nil {
		return me, p.ExplainAPI(err)
	}
	if err := os.Rename(fresh, file); err != nil {
		return me, fmt.Errorf("keep the session: %w", err)
	}
	return me, nil
}

func newLogoutCommand() *cobra.Command {
	return cli.Command("logout NAME", `End your session with a hub, at once
The name stays in the list of hosts.`, nil, func(cmd *cobra.Command, args []string) error {
		d := local.FindDirs()
		list, err := hosts.Read(d.Config)
		if err != nil {
			return err
		}
		h, known := hosts.Find(list, args[0])
		if !known || h.TokenFile == "" {
			return cli.Usagef("there is no session with a hub %s", args[0])
		}
		if err := cmd.Flags().Set("host", args[0]); err != nil {
			return err
		}
		if err := do(cmd, apiclient.Request{Method: http.MethodPost, Path: "/auth/logout", Beside: true}, nil); err != nil {
			return err
		}
		if err := os.Remove(h.TokenFile); err != nil {
			return fmt.Errorf("forget the session: %w", err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "signed out of %s; `tandemux hub login %s` signs in again\n", args[0], args[0])
		return nil
	})
}

func newWhoamiCommand() *cobra.Command {
	return cli.WithJSON(cli.Command("whoami", "Show who you are to a hub, and what you may do", nil, func(cmd *cobra.Command, _ []string) error {
		var me people.Me
		switch err := do(cmd, apiclient.Request{Method: http.MethodGet, Path: "/auth/me", Beside: true}, &me); {
		case apiclient.Status(err) == http.StatusNotFound:
			return errNoSignIn
		case err != nil:
			return err
		}
		return cli.PrintTable(cmd, "", "NAME\tGROUPS\tSCOPES", []people.Me{me}, func(m people.Me) []any {
			return []any{m.Name, strings.Join(m.Groups, ","), strings.Join(m.Scopes, ",")}
		})
	}), cli.One[[]people.Me]())
}

func newAuditCommand() *cobra.Command {
	var in struct {
		Since  time.Duration `flag:"since" value:"D" doc:"Of the last hours, such as 24h (default: all that is kept)"`
		Follow bool          `flag:"follow" doc:"Go on with what is done from now on"`
	}
	return cli.WithJSON(cli.Command("audit", `Show who did what with the hub
With --json one line for each, for other programs; the hub keeps them for a year.

  tandemux hub audit --since 24h
  tandemux hub audit --since 720h --json > audit.jsonl`, &in, func(cmd *cobra.Command, _ []string) error {
		p, api, err := hubClient(cmd)
		if err != nil {
			return err
		}
		defer api.Close()
		q := url.Values{}
		if in.Since > 0 {
			q.Set("since", time.Now().Add(-in.Since).UTC().Format(time.RFC3339))
		}
		if in.Follow {
			q.Set("follow", "1")
		}
		resp, err := api.Open(cmd.Context(), apiclient.Request{Method: http.MethodGet, Path: "/audit", Query: q})
		if err != nil {
			return p.ExplainAPI(err)
		}
		defer resp.Body.Close()
		out, records := cmd.OutOrStdout(), json.NewDecoder(resp.Body)
		for records.More() {
			var r audit.Record
			if err := records.Decode(&r); err != nil {
				return fmt.Errorf("read the audit: %w", err)
			}
			if cli.AsJSON(cmd) {
				line, err := json.Marshal(r)
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "%s\n", line)
				continue
			}
			fmt.Fprintf(out, "%s  %-8s %s  %s%s%s\n", r.Time.Local().Format(time.DateTime), r.Outcome, cmp.Or(r.Person, r.Who, "-"), strings.TrimSpace(r.What+" "+r.On), word("  on ", r.Host), word("  from ", r.Remote))
		}
		return nil
	}), cli.Stream[audit.Record]())
}

func word(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// tellAudit is a joined host's part: what is noted in its own log.
func tellAudit(ctx context.Context, j *join.Joined) error {
	d := local.FindDirs()
	h := &audit.Host{Name: j.Name, NATS: j.NATS, Path: filepath.Join(d.State, "audit.log"), Place: filepath.Join(d.State, "hub-audit.json"), Log: j.Log}
	return h.Run(ctx)
}

// hubClient reaches the hub that --host names, or the one that this user runs here.
func hubClient(cmd *cobra.Command) (endpoint.Endpoint, *apiclient.Client, error) {
	p, err := endpoint.Of(cmd)
	if err == nil && p.Own() {
		d := local.FindDirs()
		var socket string
		if socket, err = d.Socket(socketName); err == nil {
			if c, err := net.Dial("unix", socket); err == nil {
				c.Close()
			} else {
				return p, nil, errors.New("no hub of yours runs on this machine: `tandemux hub serve` runs one, --host wss://MACHINE:PORT asks another")
			}
			p, err = endpoint.Named(d, hosts.Host{Name: "hub", URL: "unix://" + socket})
		}
	}
	if err != nil {
		return p, nil, err
	}
	api, err := p.API(cmd.Context(), false)
	return p, api, err
}
