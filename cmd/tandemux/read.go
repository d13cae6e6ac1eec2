package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/internal/capture"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
)

func newReadCommand() *cobra.Command {
	var screen, history, raw, asJSON, failed, asSVG, light, dark bool
	var command string
	cmd := onTerminal("read ID", "Print what a terminal shows", 1,
		func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
			if cmd.Flags().Changed("command") || failed {
				return readCommand(s, ctx, cmd, t, command, failed, raw, asJSON)
			}
			if asSVG {
				em, err := capture.Screen(ctx, s, t.Resource, 0)
				if err != nil {
					return err
				}
				var seen ahp.ReadResult
				if err := s.Ask(ctx, ahp.MethodRead, ahp.ReadParams{Channel: t.Resource, What: ahp.ReadScreen}, &seen); err != nil {
					return err
				}
				shot := capture.Picture{SVG: true, Light: light, Dark: dark, SeenIn: seen.Colors, Title: t.Title}
				if history {
					shot.History = maxShotHistory
				}
				return capture.Print(cmd.OutOrStdout(), em, shot)
			}
			what := ahp.ReadScreen
			switch {
			case history:
				what = ahp.ReadHistory
			case raw:
				what = ahp.ReadRaw
			}
			var got ahp.ReadResult
			if err := s.Ask(ctx, ahp.MethodRead, ahp.ReadParams{Channel: t.Resource, What: what}, &got); err != nil {
				return err
			}
			if asJSON {
				return cli.JSON(cmd.OutOrStdout(), got)
			}
			_, err := io.WriteString(cmd.OutOrStdout(), got.Text)
			return err
		})
	f := cmd.Flags()
	f.BoolVar(&screen, "screen", false, "the visible screen as text (the default)")
	f.BoolVar(&history, "history", false, "scrollback and screen as text")
	f.BoolVar(&raw, "raw", false, "the retained output with its escape sequences")
	f.BoolVar(&asSVG, "svg", false, "the screen as an SVG image; with --history up to 1000 lines above it too")
	f.BoolVar(&light, "light", false, "with --svg: in tandemux's colours on a light ground, not in those that the terminal was last seen in")
	f.BoolVar(&dark, "dark", false, "with --svg: the same on a dark ground")
	f.BoolVar(&asJSON, "json", false, "print JSON, with size and cursor")
	f.StringVar(&command, "command", "", "the output of a command: last, the N-th from the end, or a command's id")
	f.BoolVar(&failed, "failed", false, "of the commands only those that failed; without --command the last one")
	cmd.MarkFlagsMutuallyExclusive("screen", "history", "raw")
	cmd.MarkFlagsMutuallyExclusive("light", "dark")
	for _, other := range []string{"screen", "history"} {
		cmd.MarkFlagsMutuallyExclusive(other, "command")
		cmd.MarkFlagsMutuallyExclusive(other, "failed")
	}
	for _, other := range []string{"raw", "json", "command", "failed"} {
		cmd.MarkFlagsMutuallyExclusive(other, "svg")
	}
	return cmd
}

// maxShotHistory bounds the lines above the screen in an image.
const maxShotHistory = 1000

// readCommand prints one command's output. What the host did not keep of it is
// named where it is missing.
func readCommand(s *endpoint.Conn, ctx context.Context, cmd *cobra.Command, t ahp.TerminalInfo, which string, failed, raw, asJSON bool) error {
	p := ahp.CommandParams{Channel: t.Resource, Failed: failed, Format: ahp.FormatText}
	if raw {
		p.Format = ahp.FormatRaw
	}
	switch n, err := strconv.Atoi(which); {
	case which == "last" || which == "" && failed:
	case err == nil && n > 0:
		p.Back = n
	case err != nil && strings.HasPrefix(which, "c"):
		p.ID = which
	default:
		return cli.Usagef("--command %q is neither last, nor a number from 1 on that counts from the end, nor a command's id such as c12", which)
	}
	var got ahp.CommandResult
	if err := s.Ask(ctx, ahp.MethodCommand, p, &got); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if asJSON {
		return cli.JSON(out, got)
	}
	text := got.Output
	if got.Omitted > 0 {
		text += fmt.Sprintf("[tandemux: %d bytes of output are not kept]\n", got.Omitted) + got.Tail
	}
	_, err := io.WriteString(out, text)
	return err
}
