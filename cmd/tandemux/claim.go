package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"tandemux/ahp"
	"tandemux/internal/approval"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/prompt"
)

// onTerminal makes a command that does one thing to the terminal named by its
// first argument.
func onTerminal(use, short string, args int, work func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, args []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(args),
		ValidArgsFunction: endpoint.CompleteTerminal,
		RunE: cli.Did(func(cmd *cobra.Command, args []string) error {
			return endpoint.WithHost(cmd, false, func(ctx context.Context, s *endpoint.Conn) error {
				t, err := s.Terminal(args[0])
				if err != nil {
					return err
				}
				return work(ctx, cmd, s, t, args[1:])
			})
		}),
	}
}

func newClaimCommand() *cobra.Command {
	return onTerminal("claim ID", "Take a terminal back: from an agent or the background", 1,
		func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
			err := s.Act(ctx, t.Resource, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: s.ClientID()}})
			if err != nil {
				return fmt.Errorf("claim %s: %w", endpoint.LastPart(t.Resource), err)
			}
			if t.Claim.ToolCallID != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "note: this took the terminal from the running tool call %s of %s\n", t.Claim.ToolCallID, t.Claim.Session)
			}
			return nil
		})
}

// newAnswerCommand answers an agent that asks for one of the person's terminals.
func newAnswerCommand() *cobra.Command {
	words := map[string]bool{"yes": true, "no": false}
	cmd := onTerminal("answer ID [yes|no]", "Answer an agent that asks for one of your terminals", 1,
		func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, args []string) error {
			if t.Meta == nil || t.Meta.Ask == nil {
				return fmt.Errorf("no agent asks for %s", endpoint.LastPart(t.Resource))
			}
			ask := *t.Meta.Ask
			grant := false
			if len(args) > 0 {
				var ok bool
				if grant, ok = words[args[0]]; !ok {
					return cli.Usagef("%q is no answer: say yes or no", args[0])
				}
			} else {
				in, ok := cmd.InOrStdin().(*os.File)
				if !ok || !term.IsTerminal(int(in.Fd())) {
					return cli.Usagef("nobody is here to ask: say yes or no")
				}
				prompt.DropTyped(in)
				a := prompt.Ask(cmd.ErrOrStderr(), approval.Claim(ask, t))
				for lines := bufio.NewScanner(in); ; {
					if !lines.Scan() {
						return errors.New("not answered: the input has ended")
					}
					if o, ok := a.Answer(lines.Text()); ok {
						grant = o.Allows
						break
					}
				}
			}
			return s.Ask(ctx, ahp.MethodAnswer, ahp.AnswerParams{Channel: t.Resource, ID: ask.ID, Grant: grant}, nil)
		})
	cmd.Args = cobra.RangeArgs(1, 2)
	cmd.Long = `Answer an agent that asks for one of your terminals. Without yes or no, its
question is shown and asked here.`
	return cmd
}

func newBackgroundCommand() *cobra.Command {
	cmd := onTerminal("background ID", "Send a terminal to the background: it runs on, out of the way", 1,
		func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
			if t.Claim.Kind == ahp.ClaimClient {
				return hideFromLayouts(s, ctx, t)
			}
			if t.Claim.TurnID == "" && t.Claim.ToolCallID == "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "note: it is in the background already")
				return nil
			}
			claim := t.Claim
			claim.TurnID, claim.ToolCallID = "", ""
			if err := s.Act(ctx, t.Resource, ahp.TerminalClaimed{Claim: claim}); err != nil {
				return fmt.Errorf("send %s to the background: %w", endpoint.LastPart(t.Resource), err)
			}
			return nil
		})
	cmd.Long = `Send a terminal to the background. One of your own leaves the layouts that show
it; one that an agent's tool call runs in is left to the agent's session, so that
the agent moves on while the command runs.`
	return cmd
}

func newKillCommand() *cobra.Command {
	return onTerminal("kill ID", "End a terminal's program and remove the terminal", 1,
		func(ctx context.Context, _ *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
			return s.Ask(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: t.Resource}, nil)
		})
}

func newRenameCommand() *cobra.Command {
	cmd := onTerminal("rename ID NAME", "Name a terminal, or with '' remove its name", 2,
		func(ctx context.Context, _ *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, args []string) error {
			if err := s.Act(ctx, t.Resource, ahp.TerminalTitleChanged{Title: args[0]}); err != nil {
				return fmt.Errorf("rename %s: %w", endpoint.LastPart(t.Resource), err)
			}
			return nil
		})
	cmd.Long = `Name a terminal: every command takes the name in place of the id. A name is one
terminal's, and only people and agents set it. The title, which tells what runs in
the terminal, is shown beside it, and in its place once '' has removed the name.`
	return cmd
}

func newResizeCommand() *cobra.Command {
	return onTerminal("resize ID COLSxROWS", "Change a terminal's size", 2,
		func(ctx context.Context, _ *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, args []string) error {
			cols, rows, err := cli.Size(args[0])
			if err != nil {
				return err
			}
			if err := s.Act(ctx, t.Resource, ahp.TerminalResized{Cols: cols, Rows: rows}); err != nil {
				return fmt.Errorf("resize %s: %w", endpoint.LastPart(t.Resource), err)
			}
			return nil
		})
}
