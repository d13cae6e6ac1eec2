package termcmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/hosted"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/fileuri"
	"tandemux/internal/local"
)

// sessionRow is a session as `tandemux session ls --json` prints it; stable.
type sessionRow struct {
	ID       string   `json:"id" doc:"What --session takes, as it does a title"`
	Host     string   `json:"host,omitempty" doc:"That it is of, by its name in tandemux hosts; absent for this machine's"`
	URI      string   `json:"uri" doc:"Its channel in the protocol"`
	Chat     string   `json:"chat" doc:"The channel of its chat"`
	Agent    string   `json:"agent" doc:"By the name in the configuration"`
	Title    string   `json:"title" doc:"Its first words, or what somebody called it"`
	State    string   `json:"state" doc:"working, waiting, idle or failed"`
	Activity string   `json:"activity,omitempty" doc:"What it does"`
	Cwd      []string `json:"cwd" doc:"Its directories"`

	Modified time.Time `json:"modifiedAt"`
}

func sessionRowOf(s ahp.SessionSummary) sessionRow {
	r := sessionRow{
		ID: endpoint.LastPart(s.Resource), Host: hosted.Host(s.Resource), URI: s.Resource, Chat: s.DefaultChat, Agent: s.Provider, Title: s.Title,
		State: sessionState(s.Status), Activity: s.Activity, Cwd: []string{},
	}
	r.Modified, _ = time.Parse(time.RFC3339, string(s.ModifiedAt)) //nolint:errcheck // then it was long ago
	for _, d := range s.WorkingDirectories {
		r.Cwd = append(r.Cwd, fileuri.Path(d))
	}
	return r
}

// sessionState is a status in a word.
func sessionState(s ahp.Status) string {
	switch {
	case s.NeedsInput():
		return "waiting"
	case s.Activity() == ahp.ActivityInProgress:
		return "working"
	case s.Activity() == ahp.ActivityError:
		return "failed"
	}
	return "idle"
}

// Session is `tandemux session`.
func Session() *cobra.Command {
	return cli.Group("session", "Sessions with agents: what each is about, and how to end it", "", newSessionLsCommand(),
		onHost("rm SESSION...", "End sessions: their agents, their history and the terminals that they hold", nil, false,
			func(ctx context.Context, _ *cobra.Command, s *endpoint.Conn, args []string) error {
				return cli.Each(args, func(id string) error {
					one, err := s.SessionNamed(ctx, id)
					if err != nil {
						return err
					}
					return s.EndSession(ctx, one.Resource)
				})
			}))
}

func newSessionLsCommand() *cobra.Command {
	return cli.WithJSON(cli.Command("ls", `List the sessions with agents
Each says what it is about, and whether its agent works, waits for you, is idle or has
failed. tandemux prompt --session goes on with one.
`+endpoint.OfAll, nil, func(cmd *cobra.Command, _ []string) error {
		rows, missed, err := ofEach(cmd, func(ctx context.Context, s *endpoint.Conn) (rows []sessionRow, _ error) {
			all, err := s.Sessions(ctx)
			for _, one := range all {
				rows = append(rows, sessionRowOf(one))
			}
			return rows, err
		})
		if err != nil && !errors.Is(err, local.ErrNoHost) {
			return err
		}
		slices.SortStableFunc(rows, func(a, b sessionRow) int { return b.Modified.Compare(a.Modified) })
		printed := cli.PrintTable(cmd, "there are no sessions; `tandemux prompt` begins one", "ID\tAGENT\tSTATE\tTITLE\tCWD\tMODIFIED", rows, func(r sessionRow) []any {
			state := r.State
			if r.Activity != "" {
				state += ": " + r.Activity
			}
			return []any{r.ID, r.Agent, state, r.Title, Tilde(strings.Join(r.Cwd, " ")), cli.Age(r.Modified)}
		})
		return cmp.Or(printed, missed)
	}), cli.One[[]sessionRow]())
}
