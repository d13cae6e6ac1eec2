package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

func newNewCommand() *cobra.Command {
	var name, cwd, size, layoutName string
	var background bool
	var scrollback int
	cmd := cli.WithJSON(&cobra.Command{
		Use:   "new [flags] [-- COMMAND [ARG...]]",
		Short: "Create a terminal and print its id",
		Long: `Create a terminal that runs your shell, or COMMAND without a shell, and print
its id. It appears as a new tab of the layout, or in no layout with --background.`,
		Example: `  tandemux new --name build -- make -j4
  tandemux new --background --cwd /srv/app -- npm run dev`,
		RunE: cli.Did(func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				return cli.Usagef("put -- before the command, as in `tandemux new -- %s`", strings.Join(args, " "))
			}
			params, err := endpoint.NewTerminal(name, cwd, size, args)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("scrollback") {
				params.Meta.Scrollback = &scrollback
			}
			return endpoint.WithHost(cmd, true, func(ctx context.Context, s *endpoint.Conn) error {
				if err := s.At.Adapt(&params, cwd); err != nil {
					return err
				}
				params.Claim = ahp.Claim{Kind: ahp.ClaimClient, ClientID: s.ClientID()}
				if err := s.Ask(ctx, ahp.MethodCreateTerminal, params, nil); err != nil {
					return err // says what was being done, as all the host's errors do
				}
				if !background {
					if err := showInTab(s, ctx, layoutName, params.Channel); err != nil {
						return fmt.Errorf("show the terminal in layout %s: %w", layoutName, err)
					}
				}
				return cli.Print(cmd, map[string]string{"id": endpoint.LastPart(params.Channel), "uri": params.Channel}, func(w io.Writer) error {
					_, err := fmt.Fprintln(w, endpoint.LastPart(params.Channel))
					return err
				})
			})
		}),
	})
	f := cmd.Flags()
	f.StringVar(&name, "name", "", "name, by which all commands find it; no other terminal may have it")
	f.StringVar(&cwd, "cwd", "", "working directory (default: the current one)")
	f.StringVar(&size, "size", "", "size as COLSxROWS (default 80x24)")
	f.IntVar(&scrollback, "scrollback", 0, "lines that it keeps of what scrolls off (default: as configured)")
	f.StringVar(&layoutName, "layout", defaultLayout, "layout that gets the new tab")
	f.BoolVar(&background, "background", false, "show it in no layout")
	return cmd
}
