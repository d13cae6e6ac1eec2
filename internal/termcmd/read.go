package termcmd

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

// readFlags are the flags of `tandemux read`.
type readFlags struct {
	Screen  bool   `flag:"screen" doc:"The visible screen as text (the default)"`
	History bool   `flag:"history" doc:"Scrollback and screen as text"`
	Raw     bool   `flag:"raw" doc:"The retained output with its escape sequences"`
	SVG     bool   `flag:"svg" doc:"The screen as an SVG image; with --history up to 1000 lines above it too"`
	Light   bool   `flag:"light" doc:"With --svg: in tandemux's colours on a light ground, not in those that the terminal was last seen in"`
	Dark    bool   `flag:"dark" doc:"With --svg: the same on a dark ground"`
	Command string `flag:"command" doc:"The output of a command: last, the N-th from the end, or a command's id"`
	Failed  bool   `flag:"failed" doc:"Of the commands only those that failed; without --command the last one"`
}

func newReadCommand() *cobra.Command {
	var in readFlags
	cmd := cli.WithJSON(onTerminal("read ID", "Print what a terminal shows", &in,
		func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
			if cmd.Flags().Changed("command") || in.Failed {
				return readCommand(s, ctx, cmd, t, in)
			}
			if in.SVG {
				em, err := capture.Screen(ctx, s, t.Resource, 0)
				if err != nil {
					return err
				}
				var seen ahp.ReadResult
				if err := s.Ask(ctx, ahp.MethodRead, ahp.ReadParams{Channel: t.Resource, What: ahp.ReadScreen}, &seen); err != nil {
					return err
				}
				shot := capture.Picture{SVG: true, Light: in.Light, Dark: in.Dark, SeenIn: seen.Colors, Title: t.Title}
				if in.History {
					shot.History = maxShotHistory
				}
				return capture.Print(cmd.OutOrStdout(), em, shot)
			}
			what := ahp.ReadScreen
			switch {
			case in.History:
				what = ahp.ReadHistory
			case in.Raw:
				what = ahp.ReadRaw
			}
			var got ahp.ReadResult
			if err := s.Ask(ctx, ahp.MethodRead, ahp.ReadParams{Channel: t.Resource, What: what}, &got); err != nil {
				return err
			}
			return cli.Print(cmd, got, func(w io.Writer) error {
				if in.Raw {
					w = cli.Raw(w)
				}
				_, err := io.WriteString(w, got.Text)
				return err
			})
		}), cli.One[ahp.ReadResult](), cli.One[ahp.CommandResult]())
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
func readCommand(s *endpoint.Conn, ctx context.Context, cmd *cobra.Command, t ahp.TerminalInfo, in readFlags) error {
	p, which := ahp.CommandParams{Channel: t.Resource, Failed: in.Failed, Format: ahp.FormatText}, in.Command
	if in.Raw {
		p.Format = ahp.FormatRaw
	}
	switch n, err := strconv.Atoi(which); {
	case which == "last" || which == "" && in.Failed:
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
	return cli.Print(cmd, got, func(w io.Writer) error {
		text := got.Output
		if got.Omitted > 0 {
			text += fmt.Sprintf("[tandemux: %d bytes of output are not kept]\n", got.Omitted) + got.Tail
		}
		if in.Raw {
			w = cli.Raw(w)
		}
		_, err := io.WriteString(w, text)
		return err
	})
}
