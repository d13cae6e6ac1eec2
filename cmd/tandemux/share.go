package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/ahp/guest"
	"tandemux/host/auth"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

// shareTime is how long a share lasts unless told otherwise.
const shareTime = time.Hour

// shareLink is what `tandemux share --json` prints.
type shareLink struct {
	ID      string   `json:"id"` // of the guest's token
	Links   []string `json:"links"`
	Expires int64    `json:"expires"` // Unix ms
}

type shareRow struct {
	Terminal string `json:"terminal"`
	guest.Share
}

func newShareCommand() *cobra.Command {
	var in struct {
		ReadOnly bool    `flag:"read-only" doc:"The guest looks only, and can't take the terminal"`
		For      cli.End `flag:"for" value:"TIME" doc:"It ends after a time such as 30m or 8h, or at a date (default: 1h)"`
		Name     string  `flag:"name" value:"NAME" doc:"What the guest is called here (default \"guest\")"`
		Listen   string  `flag:"listen" value:"ADDRESS" doc:"Listen here from now on, encrypted where other machines reach it"`
		NoQR     bool    `flag:"no-qr" doc:"Print no QR code"`
	}
	cmd := cli.WithJSON(cli.Command("share ID", `Show one terminal to somebody, by a link
It prints a link, and a QR code for a phone. The link works once; who opens it sees this
terminal alone, until the share ends. Without --read-only the guest may also take it and
type; you take it back at any time. The terminal's pane says who looks.

  tandemux share build --read-only --for 1h
  tandemux share build --name ana
  tandemux share end build`, &in, func(cmd *cobra.Command, args []string) error {
		p, err := endpoint.Of(cmd)
		if err != nil {
			return err
		}
		end := in.For.Time
		if end.IsZero() {
			end = time.Now().Add(shareTime)
		}
		offer := map[string]any{"name": cmp.Or(in.Name, "guest"), "listen": in.Listen, "expires": end.UnixMilli()}
		if in.ReadOnly {
			offer["scopes"] = []string{auth.ScopeRead}
		}
		return p.With(cmd.Context(), endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
			t, err := s.Terminal(args[0])
			if err != nil {
				return err
			}
			offer["share"] = t.Resource
			got, err := letIn(ctx, p, s, offer)
			if err != nil {
				return err
			}
			return cli.Print(cmd, shareLink{got.ID, got.links, got.Expires}, func(w io.Writer) error {
				return got.print(w, !in.NoQR, fmt.Sprintf("It works once, and shows the terminal until %s. `tandemux share ls` says who looks; `tandemux share end %s` ends it.", cli.Millis(got.Expires), got.ID))
			})
		})
	}), cli.One[shareLink]())
	cmd.AddCommand(
		cli.WithJSON(cli.Command("ls", "List the terminals that are shared, and who looks", nil, func(cmd *cobra.Command, _ []string) error {
			return endpoint.WithHost(cmd, endpoint.Options{}, func(_ context.Context, s *endpoint.Conn) error {
				return cli.PrintTable(cmd, "no terminal is shared; `tandemux share TERMINAL` shares one", "ID\tTERMINAL\tNAME\tMAY\tENDS\tLOOKS", sharesOf(s), func(r shareRow) []any {
					may := "take it"
					if r.ReadOnly {
						may = "look"
					}
					looks := cmp.Or(strings.Join(r.Clients, ", "), map[bool]string{true: "nobody now", false: "not opened yet"}[r.Opened])
					return []any{r.Token, endpoint.LastPart(r.Terminal), r.Name, may, cli.Millis(r.Expires), looks}
				})
			})
		}), cli.One[[]shareRow]()),
		cli.Command("end [ID]", `End a share at once, or all of them
ID is the terminal, or one of those that "tandemux share ls" lists. The guest's page is
closed.`, nil, func(cmd *cobra.Command, args []string) error {
			return endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
				return endShares(ctx, s, args)
			})
		}))
	return cmd
}

// sharesOf are the shares of a host's terminals.
func sharesOf(s *endpoint.Conn) []shareRow {
	rows := []shareRow{}
	for _, t := range s.Terminals() {
		if t.Meta != nil {
			for _, share := range t.Meta.Shares {
				rows = append(rows, shareRow{t.Resource, share})
			}
		}
	}
	return rows
}

// endShares ends the share or the terminal's shares that an argument names; without one,
// all.
func endShares(ctx context.Context, s *endpoint.Conn, args []string) error {
	end := []ahp.TokenRevokeParams{}
	shares := sharesOf(s)
	for _, r := range shares {
		if len(args) == 0 || r.Token == args[0] || r.Name == args[0] {
			end = append(end, ahp.TokenRevokeParams{ID: r.Token})
		}
	}
	if len(args) > 0 && len(end) != 1 {
		t, err := s.Terminal(args[0])
		switch {
		case err == nil:
			end = []ahp.TokenRevokeParams{{Shares: t.Resource}}
		case len(end) > 1:
			return cli.Usagef("%d shares are named %q: say which by its id, as `tandemux share ls` lists it", len(end), args[0])
		default:
			return err
		}
	}
	var failed error
	for _, p := range end {
		p.Channel = ahp.RootURI
		failed = errors.Join(failed, s.Ask(ctx, ahp.MethodTokenRevoke, p, nil))
	}
	return failed
}
