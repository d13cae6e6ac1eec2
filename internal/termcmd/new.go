package termcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/ui/layout"
)

// New is `tandemux new`.
func New() *cobra.Command {
	var in struct {
		Name       string `flag:"name" doc:"Name, by which all commands find it; no other terminal may have it"`
		Cwd        string `flag:"cwd" doc:"Working directory (default: the current one)"`
		Size       string `flag:"size" doc:"Size as COLSxROWS (default 80x24)"`
		Scrollback int    `flag:"scrollback" doc:"Lines that it keeps of what scrolls off (default: as configured)"`
		Layout     string `flag:"layout" doc:"Layout that gets the new tab (default: which shows this shell, or main)"`
		Background bool   `flag:"background" doc:"Show it in no layout"`
	}
	return cli.WithJSON(cli.Command("new [-- COMMAND [ARG...]]", `Create a terminal and print its id
It runs your shell, or COMMAND without a shell, and appears as a new tab of the
layout, or in no layout with --background, or where the layout is full.

  tandemux new --name build -- make -j4
  tandemux new --background --cwd /srv/app -- npm run dev`, &in, func(cmd *cobra.Command, args []string) error {
		if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
			return cli.Usagef("put -- before the command, as in `tandemux new -- %s`", strings.Join(args, " "))
		}
		if err := CheckLayoutName(in.Layout); err != nil {
			return err
		}
		params, err := endpoint.NewTerminal(in.Name, in.Cwd, in.Size, args)
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("scrollback") {
			params.Meta.Scrollback = &in.Scrollback
		}
		return endpoint.WithHost(cmd, endpoint.Options{Start: true}, func(ctx context.Context, s *endpoint.Conn) error {
			if err := s.At.Adapt(&params, in.Cwd); err != nil {
				return err
			}
			params.Claim = ahp.Claim{Kind: ahp.ClaimClient, ClientID: s.ClientID()}
			if err := s.Create(ctx, params); err != nil {
				return err // says what was being done, as all the host's errors do
			}
			m := made{s.At.ID(params.Channel), params.Channel, in.Background}
			if !in.Background {
				in.Layout = layoutMeant(s, in.Layout)
				err := showInTab(s, ctx, in.Layout, params.Channel)
				if full, is := errors.AsType[layout.FullError](err); is {
					m.Background = true
					fmt.Fprintf(cmd.ErrOrStderr(), "note: %s runs in the background, as layout %s is full: %v\n", m.ID, in.Layout, full)
				} else if err != nil {
					return fmt.Errorf("show the terminal in layout %s: %w", in.Layout, err)
				}
			}
			return cli.Print(cmd, m, func(w io.Writer) error {
				_, err := fmt.Fprintln(w, m.ID)
				return err
			})
		})
	}), cli.One[made]())
}

// made is what `tandemux new --json` prints.
type made struct {
	ID  string `json:"id" doc:"What verbs take"`
	URI string `json:"uri" doc:"Its channel in the protocol"`

	Background bool `json:"background" doc:"It is in no layout"`
}
