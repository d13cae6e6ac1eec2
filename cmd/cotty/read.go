package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"cotty/ahp"
)

func newReadCommand() *cobra.Command {
	var screen, history, raw, asJSON bool
	cmd := onTerminal("read ID", "Print what a terminal shows", 1,
		func(ctx context.Context, cmd *cobra.Command, s *session, t ahp.TerminalInfo, _ []string) error {
			what := ahp.ReadScreen
			switch {
			case history:
				what = ahp.ReadHistory
			case raw:
				what = ahp.ReadRaw
			}
			var got ahp.ReadResult
			if err := s.call(ctx, ahp.MethodRead, ahp.ReadParams{Channel: t.Resource, What: what}, &got); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), got)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), got.Text)
			return err
		})
	f := cmd.Flags()
	f.BoolVar(&screen, "screen", false, "the visible screen as text (the default)")
	f.BoolVar(&history, "history", false, "scrollback and screen as text")
	f.BoolVar(&raw, "raw", false, "the retained output with its escape sequences")
	f.BoolVar(&asJSON, "json", false, "print JSON, with size and cursor")
	cmd.MarkFlagsMutuallyExclusive("screen", "history", "raw")
	return cmd
}
