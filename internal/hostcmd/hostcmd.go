package hostcmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/hosts"
	"tandemux/internal/local"
)

// noHosts is what lists of none say.
const noHosts = "no host has a name; `tandemux hosts add` gives one"

// Command is `tandemux hosts`.
func Command() *cobra.Command {
	return cli.Group("hosts", "Other hosts by name: their terminals are in your lists", `Hosts on other machines, by names that you give them. The interface and the lists of
this machine have what is there; every command takes HOST:ID, and --host HOST.`,
		newAdd(), newLs(), newRm(), newCheck(), newInstall())
}

func dir() string { return local.FindDirs().Config }

func newAdd() *cobra.Command {
	return cli.Command("add NAME URL", `Give a host a name
URL is ssh://[USER@]MACHINE[:PORT], wss://MACHINE:PORT, ws:// or unix://PATH. A token stays
in its file, --token-file; with --fingerprint the certificate is trusted.

  tandemux hosts add build ssh://me@build
  tandemux hosts add gpu wss://gpu:7070 --token-file ~/.gpu-token --fingerprint sha256:…`, nil, func(cmd *cobra.Command, args []string) error {
		h := hosts.Host{Name: args[0], URL: args[1]}
		if err := hosts.CheckName(h.Name); err != nil {
			return cli.Usagef("%w", err)
		}
		pin := ""
		for name, to := range map[string]*string{"token-file": &h.TokenFile, "fingerprint": &pin} {
			if f := cmd.Flags().Lookup(name); f != nil {
				*to = f.Value.String()
			}
		}
		if h.TokenFile != "" {
			path, err := filepath.Abs(h.TokenFile)
			if err != nil {
				return fmt.Errorf("find the token's file: %w", err)
			}
			h.TokenFile = path
		}
		p, err := endpoint.Named(local.FindDirs(), h)
		if err != nil {
			return err
		}
		if h.Hub, err = p.CheckNamed(cmd.Context(), h, pin); err != nil {
			return err
		}
		if p.InTheClear() {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: %s is not encrypted: whoever is on the way can read the token and what you type\n", cli.Short(h.URL))
		}
		if h.Hub {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: %s is a hub: its tasks are in your lists; `tandemux hub ls --host %s` lists its hosts, which you add one by one\n", h.Name, h.Name)
		}
		err = hosts.Change(dir(), func(list []hosts.Host) ([]hosts.Host, error) {
			if old, is := hosts.Find(list, h.Name); is {
				return nil, fmt.Errorf("there is a host %s already, %s: `tandemux hosts rm %s` removes it", h.Name, cli.Short(old.URL), h.Name)
			}
			return append(list, h), nil
		})
		if err == nil && pin != "" {
			err = p.Trust(pin)
		}
		return err
	})
}

func newLs() *cobra.Command {
	return cli.WithJSON(cli.Command("ls", `List the hosts that have names
It asks none of them; tandemux hosts check does.`, nil, func(cmd *cobra.Command, _ []string) error {
		list, err := hosts.Read(dir())
		if err != nil {
			return err
		}
		return cli.PrintTable(cmd, noHosts, "NAME\tADDRESS\tTOKEN", append([]hosts.Host{}, list...), func(h hosts.Host) []any { return []any{h.Name, h.URL + note(h.Hub), h.TokenFile} })
	}), cli.One[[]hosts.Host]())
}

func note(hub bool) string {
	if hub {
		return " (a hub)"
	}
	return ""
}

func missing(name string) error {
	return ahp.NotFound("no host is called %q; `tandemux hosts ls` lists them", cli.Short(name))
}

func newRm() *cobra.Command {
	return cli.Command("rm HOST...", `Take names away from hosts
Nothing changes there. Panes of it say that no host has the name, until one has it again.`, nil, func(_ *cobra.Command, args []string) error {
		return hosts.Change(dir(), func(list []hosts.Host) ([]hosts.Host, error) {
			for _, name := range args {
				if _, is := hosts.Find(list, name); !is {
					return nil, missing(name)
				}
				list = slices.DeleteFunc(list, func(h hosts.Host) bool { return h.Name == name })
			}
			return list, nil
		})
	})
}

// checked is a host as `tandemux hosts check --json` prints it; stable.
type checked struct {
	Name      string  `json:"name" doc:"What --host and HOST:ID take"`
	URL       string  `json:"url" doc:"Its address"`
	Reached   bool    `json:"reached" doc:"It answers"`
	Error     string  `json:"error,omitempty" doc:"Why it was not reached"`
	Version   string  `json:"version,omitempty" doc:"Of the tandemux there"`
	Protocol  string  `json:"protocol,omitempty" doc:"The version of AHP that is spoken with it"`
	Terminals int     `json:"terminals" doc:"How many it has"`
	Connected float64 `json:"connectMs,omitempty" doc:"How long connecting took"`
	Latency   float64 `json:"latencyMs,omitempty" doc:"How long it takes to answer"`

	hub bool
}

func newCheck() *cobra.Command {
	return cli.WithJSON(cli.Command("check [HOST...]", `Ask hosts whether they are there
All that have names, or those named: the version there, how long connecting takes, and
how long an answer does. ssh asks nothing. Exit code 3: some were not reached.`, nil, func(cmd *cobra.Command, args []string) error {
		list, err := hosts.Read(dir())
		if err != nil {
			return err
		}
		for _, name := range args {
			if _, is := hosts.Find(list, name); !is {
				return missing(name)
			}
		}
		if len(args) > 0 {
			list = slices.DeleteFunc(list, func(h hosts.Host) bool { return !slices.Contains(args, h.Name) })
		}
		rows, missed := endpoint.Check(cmd, list, checkHost)
		for i := range rows {
			rows[i].Name, rows[i].URL = list[i].Name, list[i].URL
		}
		printed := cli.Print(cmd, rows, func(w io.Writer) error {
			if len(rows) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), noHosts)
			}
			return cli.Table(w, "NAME\tADDRESS\tVERSION\tTERMINALS\tCONNECT\tANSWER\tHEALTH", rows, func(r checked) []any {
				if !r.Reached {
					return []any{r.Name, r.URL, "", "", "", "", cli.Whole(r.Error)}
				}
				if r.hub {
					return []any{r.Name, r.URL, "", "", millis(r.Connected), "", "ok; a hub"}
				}
				return []any{r.Name, r.URL, r.Version, fmt.Sprint(r.Terminals), millis(r.Connected), millis(r.Latency), r.health()}
			})
		})
		return cmp.Or(printed, missed)
	}), cli.One[[]checked]())
}

func millis(ms float64) string {
	return (time.Duration(ms*1000) * time.Microsecond).Round(10 * time.Microsecond).String()
}

// health is what to know of a host that answers.
func (r checked) health() string {
	var notes []string
	if r.Version != endpoint.Version {
		notes = append(notes, "this is "+endpoint.Version)
	}
	if r.Protocol != "" && !strings.HasPrefix(r.Protocol, "1.") {
		notes = append(notes, "AHP "+r.Protocol+", which can less")
	}
	return strings.Join(append([]string{"ok"}, notes...), "; ")
}

// checkHost asks one. An older one does not say its version.
func checkHost(ctx context.Context, s *endpoint.Conn, connected time.Duration, err error) (checked, error) {
	if err != nil {
		return checked{Error: cli.OneSentence(err)}, err
	}
	if s == nil {
		return checked{Reached: true, hub: true, Connected: ms(connected)}, nil
	}
	r := checked{Reached: true, Version: "unknown", Protocol: s.Protocol(), Connected: ms(connected)}
	var got ahp.HostResult
	began := time.Now()
	err = s.Ask(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &got)
	if r.Latency = ms(time.Since(began)); err == nil {
		r.Version = got.Version
	} else if ahp.FromRPC(err) == nil {
		return checked{Error: cli.OneSentence(err)}, err
	}
	r.Terminals = len(s.Terminals())
	return r, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
