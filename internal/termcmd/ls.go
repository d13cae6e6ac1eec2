package termcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/fileuri"
	"tandemux/internal/local"
	"tandemux/ui/words"
)

// row is a terminal as `tandemux ls --json` prints it; stable.
type row struct {
	ID         string    `json:"id" doc:"What verbs take; any beginning of it that no other has will do"`
	URI        string    `json:"uri" doc:"Its channel in the protocol"`
	Name       string    `json:"name,omitempty" doc:"Which somebody gave it"`
	Title      string    `json:"title" doc:"Its name, else what runs in it"`
	Claim      ahp.Claim `json:"claim" doc:"Who holds it, in the protocol's words"`
	Holder     string    `json:"holder" doc:"operator, token:ID or session"`
	Agent      string    `json:"agent,omitempty" doc:"Whose session holds it"`
	Ask        *ahp.Ask  `json:"ask,omitempty" doc:"An agent's question that waits for an answer"`
	Background bool      `json:"background" doc:"It is in no layout"`
	State      string    `json:"state" doc:"running, exited, or orphaned where the keeper is gone"`
	ExitCode   *int      `json:"exitCode,omitempty" doc:"Absent also when it is not known"`
	Signal     string    `json:"signal,omitempty" doc:"That ended its program"`
	Cwd        string    `json:"cwd,omitempty" doc:"Its directory"`
	Layouts    []string  `json:"layouts" doc:"Those that it shows in"`
	Command    []string  `json:"command,omitempty" doc:"What it was started with, if not a shell"`
	Pid        int       `json:"pid,omitempty" doc:"Of its program"`
	Created    time.Time `json:"createdAt,omitzero" doc:"When it was made"`

	LastCommand *ahp.CommandInfo `json:"lastCommand,omitempty" doc:"The newest command, running or finished"`

	Host string `json:"host,omitempty" doc:"That it is of, by its name in tandemux hosts; absent for this machine's"`

	seen
}

// seen is a row as seen by who asks.
type seen struct {
	me   string // the principal that asks
	name string // what people call the holder, "" for the host's owner
}

// stateOrphaned is of a program whose keeper is gone: it runs, or may run, and how it
// ends will not be known. Without a terminal to reach it by it has no URI.
const stateOrphaned = "orphaned"

func rowOf(t ahp.TerminalInfo, me string) row {
	r := row{
		seen: seen{me: me},
		ID:   endpoint.LastPart(t.Resource), Host: hosted.Host(t.Resource), URI: t.Resource, Name: endpoint.NameOf(t), Title: endpoint.TitleOf(t), Claim: t.Claim, Holder: "session",
		State: ahp.StatusRunning, ExitCode: t.Lifecycle.ExitCode, Layouts: []string{},
	}
	var meta ahp.TerminalMeta
	if t.Meta != nil {
		meta = *t.Meta
	}
	switch {
	case t.Lifecycle.Exited():
		r.State = ahp.StatusExited
	case meta.Orphaned:
		r.State = stateOrphaned
	}
	if t.Claim.Kind == ahp.ClaimClient {
		r.Holder, r.name = meta.Principal, cli.Short(meta.Holder)
		r.Background = len(meta.Layouts) == 0
	} else {
		r.Background = t.Claim.TurnID == "" && t.Claim.ToolCallID == ""
	}
	for _, l := range meta.Layouts {
		r.Layouts = append(r.Layouts, endpoint.LastPart(l))
	}
	r.Signal, r.Pid, r.Command = meta.Signal, meta.Pid, meta.Command
	r.LastCommand, r.Agent, r.Ask = meta.LastCommand, meta.Agent, meta.Ask
	if meta.Cwd != "" {
		r.Cwd = fileuri.Path(meta.Cwd)
	}
	if meta.Created > 0 {
		r.Created = time.UnixMilli(meta.Created)
	}
	return r
}

// claimText says in a word or two who holds the terminal.
func (r row) claimText() string {
	who, agent := r.Holder, cmp.Or(r.Agent, endpoint.LastPart(r.Claim.Session))
	switch {
	case r.Claim.Kind == ahp.ClaimSession && r.Claim.ToolCallID != "":
		return "agent " + agent + ", tool call " + r.Claim.ToolCallID
	case r.Claim.Kind == ahp.ClaimSession:
		who = "agent " + agent
	case who != "" && who == r.me:
		who = "you"
	case r.name != "":
		who = r.name
	case who == "":
		who = r.Claim.ClientID
	}
	if r.Background {
		who += ", background"
	}
	if r.Ask != nil {
		who += "; " + r.Ask.Who + " asks "
		switch {
		case r.Ask.Panes:
			who += "for panes"
		case r.Ask.Command != "":
			who += "to run " + cli.Short(r.Ask.Command)
		default:
			who += "for it"
		}
	}
	return who
}

func (r row) stateText() string {
	switch {
	case r.State == stateOrphaned && r.URI == "":
		return fmt.Sprintf("orphaned, no terminal, pid %d %s", r.Pid, cli.Short(strings.Join(r.Command, " ")))
	case r.State != ahp.StatusExited:
		return r.State
	case r.Signal != "":
		return r.Signal
	case r.ExitCode != nil:
		return "exited " + strconv.Itoa(*r.ExitCode)
	default:
		return "exited, code unknown"
	}
}

// commandText is the newest command and how it ended.
func (r row) commandText() string {
	c := r.LastCommand
	switch {
	case c == nil:
		return ""
	case c.Running:
		return cli.Short(c.CommandLine) + " (running)"
	case c.ExitCode != nil:
		return fmt.Sprintf("%s (%d)", cli.Short(c.CommandLine), *c.ExitCode)
	}
	return cli.Short(c.CommandLine) + " (?)"
}

// Ls is `tandemux ls`.
func Ls() *cobra.Command {
	return cli.WithJSON(cli.Command("ls", "List the terminals\n"+endpoint.OfAll, nil, func(cmd *cobra.Command, _ []string) error {
		rows, missed, err := ofEach(cmd, func(ctx context.Context, s *endpoint.Conn) (rows []row, _ error) {
			for _, t := range s.Terminals() {
				rows = append(rows, rowOf(t, s.Me()))
			}
			for _, o := range Orphans(s, ctx) {
				rows = append(rows, row{ID: endpoint.LastPart(o.Terminal), Host: hosted.Host(o.Terminal), State: stateOrphaned, Pid: o.Pid, Command: []string{o.Name}, Layouts: []string{}})
			}
			return rows, nil
		})
		// Where no host runs there are no terminals: an answer, no failure.
		if err != nil && !errors.Is(err, local.ErrNoHost) {
			return err
		}
		printed := cli.Print(cmd, rows, func(w io.Writer) error {
			switch {
			case err != nil:
				fmt.Fprintln(cmd.ErrOrStderr(), "no host is running, so there are no terminals; `tandemux` starts one")
			case len(rows) == 0 && missed == nil:
				fmt.Fprintln(cmd.ErrOrStderr(), "there are no terminals; `tandemux new` makes one")
			}
			return printRows(w, rows)
		})
		return cmp.Or(printed, missed)
	}), cli.One[[]row]())
}

// ofEach is a list of what all hosts have that a command is about.
func ofEach[T any](cmd *cobra.Command, ask func(ctx context.Context, s *endpoint.Conn) ([]T, error)) (all []T, missed, err error) {
	got, missed, err := endpoint.EachConn(cmd, ask)
	all = []T{}
	for _, a := range got {
		all = append(all, a.Got...)
	}
	return all, missed, err
}

// printRows prints the terminals; NAME and LAYOUT stand there where they tell
// something.
func printRows(w io.Writer, rows []row) error {
	left := map[string]bool{
		"NAME":   !slices.ContainsFunc(rows, func(r row) bool { return r.Name != "" }),
		"LAYOUT": !slices.ContainsFunc(rows, func(r row) bool { return len(r.Layouts) > 0 && !slices.Equal(r.Layouts, []string{DefaultLayout}) }),
	}
	head := slices.DeleteFunc([]string{"ID", "NAME", "TITLE", "HELD BY", "LAYOUT", "STATE", "COMMAND", "DIRECTORY"}, func(title string) bool { return left[title] })
	return cli.Table(w, strings.Join(head, "\t"), rows, func(r row) (fields []any) {
		for _, title := range head {
			fields = append(fields, map[string]any{
				"ID": r.ID, "NAME": r.Name, "TITLE": r.Title, "HELD BY": r.claimText(), "LAYOUT": strings.Join(r.Layouts, ", "),
				"STATE": cli.Whole(r.stateText()), "COMMAND": cli.Cut(r.commandText()), "DIRECTORY": Tilde(r.Cwd),
			}[title])
		}
		return fields
	})
}

// Tilde shortens a path below the home directory.
func Tilde(path string) string {
	home, _ := os.UserHomeDir() //nolint:errcheck // then it stays
	return words.Shorten(path, home)
}

// Orphans are the programs at the host that have neither keeper nor terminal.
func Orphans(s *endpoint.Conn, ctx context.Context) []ahp.Orphan {
	var got ahp.HostResult
	if s.Ask(ctx, ahp.MethodHost, ahp.SubscribeParams{Channel: ahp.RootURI}, &got) != nil {
		return nil // a token may not ask
	}
	return got.Orphans
}
