package termcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/emulator/input"
	"tandemux/internal/approval"
	"tandemux/internal/capture"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/internal/prompt"
	"tandemux/keymap"
	"tandemux/ui/keys"
	"tandemux/ui/layout"
)

// hostWork is what a command does with a connection to the host.
type hostWork func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, args []string) error

// onHost is cli.Command for work with the host, which start starts where none runs.
func onHost(use, about string, in any, start bool, work hostWork) *cobra.Command {
	return cli.Command(use, about, in, func(cmd *cobra.Command, args []string) error {
		return endpoint.WithHost(cmd, endpoint.Options{Start: start}, func(ctx context.Context, s *endpoint.Conn) error { return work(ctx, cmd, s, args) })
	})
}

// onTerminal is cli.Command for work on the terminal that the first argument names.
func onTerminal(use, about string, in any, work func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, args []string) error) *cobra.Command {
	return onHost(use, about, in, false, func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, args []string) error {
		t, err := s.Terminal(args[0])
		if err != nil {
			return err
		}
		return work(ctx, cmd, s, t, args[1:])
	})
}

// acts is onTerminal for a single action.
func acts(use, about, verb string, action func(s *endpoint.Conn, t ahp.TerminalInfo, args []string) (ahp.Action, error)) *cobra.Command {
	return onTerminal(use, about, nil, func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, args []string) error {
		a, err := action(s, t, args)
		if err != nil {
			return err
		}
		if err := s.Act(ctx, t.Resource, a); err != nil {
			return fmt.Errorf("%s %s: %w", verb, endpoint.LastPart(t.Resource), err)
		}
		if _, claims := a.(ahp.TerminalClaimed); claims && t.Claim.ToolCallID != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: this took the terminal from the running tool call %s of %s\n", t.Claim.ToolCallID, t.Claim.Session)
		}
		return nil
	})
}

// Commands are those on one terminal, for scripts and agents.
func Commands() []*cobra.Command {
	return []*cobra.Command{
		newSendCommand(), newReadCommand(), newWaitCommand(), newWatchCommand(), newHistoryCommand(), newSearchCommand(),
		acts("claim ID", "Take a terminal back: from an agent or the background", "claim", func(s *endpoint.Conn, _ ahp.TerminalInfo, _ []string) (ahp.Action, error) {
			return ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: s.ClientID()}}, nil
		}),
		newAnswerCommand(),
		onTerminal("background ID", `Send a terminal to the background: it runs on, out of the way
One of your own leaves the layouts that show it; one that an agent's tool call runs in
is left to the agent's session, so that the agent moves on while the command runs.`, nil, toBackground),
		onTerminal("kill ID", "End a terminal's program and remove the terminal", nil,
			func(ctx context.Context, _ *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
				return s.Ask(ctx, ahp.MethodDisposeTerminal, ahp.DisposeTerminalParams{Channel: t.Resource}, nil)
			}),
		acts("rename ID NAME", `Name a terminal, or with '' remove its name
Every command takes the name in place of the id. A name is one terminal's, and only
people and agents set it. The title, which tells what runs in the terminal, is shown
beside it, and in its place once '' has removed the name.`, "rename", func(_ *endpoint.Conn, _ ahp.TerminalInfo, args []string) (ahp.Action, error) {
			return ahp.TerminalTitleChanged{Title: args[0]}, nil
		}),
		acts("resize ID COLSxROWS", "Change a terminal's size", "resize", func(_ *endpoint.Conn, _ ahp.TerminalInfo, args []string) (ahp.Action, error) {
			cols, rows, err := cli.Size(args[0])
			return ahp.TerminalResized{Cols: cols, Rows: rows}, err
		}),
	}
}

func newAnswerCommand() *cobra.Command {
	var in struct {
		Question string `flag:"question" value:"ID" doc:"Answer this question alone: ask.id in ls --json"`
	}
	return onTerminal("answer ID [yes|no]", `Answer an agent that asks for one of your terminals
Without yes or no, its question is shown and asked here. A yes to a command needs
--question, as the agent may ask for another one by now.`, &in,
		func(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, args []string) error {
			return answerAsk(ctx, cmd, s, t, args, in.Question)
		})
}

// answerAsk answers an agent that asks for one of the person's terminals; question is the
// one that is meant, or empty.
func answerAsk(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, args []string, question string) error {
	id := endpoint.LastPart(t.Resource)
	if t.Meta == nil || t.Meta.Ask == nil {
		return fmt.Errorf("no agent asks for %s", id)
	}
	ask := *t.Meta.Ask
	if question != "" && question != ask.ID {
		return fmt.Errorf("the question %s is no longer asked for %s", question, id)
	}
	grant := false
	switch {
	case len(args) > 0:
		if grant = args[0] == "yes"; !grant {
			break
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "the yes is for:")
		for _, l := range approval.Claim(ask, t).Lines {
			fmt.Fprintln(cmd.ErrOrStderr(), "  "+l.Text)
		}
		if ask.Command != "" && question == "" {
			return cli.Usagef("not allowed yet: if this is what you mean, say `tandemux answer %s yes --question %s`", id, ask.ID)
		}
	case !cli.OnTerminal(cmd):
		return cli.Usagef("nobody is here to ask: say yes or no")
	default:
		prompt.DropTyped(cmd.InOrStdin().(*os.File))
		a := prompt.Ask(cmd.ErrOrStderr(), approval.Claim(ask, t))
		for lines := bufio.NewScanner(cmd.InOrStdin()); ; {
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
}

func toBackground(ctx context.Context, cmd *cobra.Command, s *endpoint.Conn, t ahp.TerminalInfo, _ []string) error {
	claim := t.Claim
	switch {
	case claim.Kind == ahp.ClaimClient:
		if t.Meta == nil {
			return nil
		}
		for _, channel := range t.Meta.Layouts {
			err := EditLayout(s, ctx, channel, func(l layout.Layout) (layout.Layout, error) {
				return l.RemoveTerminal(layout.Rect{}, t.Resource), nil
			})
			if err != nil {
				return fmt.Errorf("take %s out of layout %s: %w", endpoint.LastPart(t.Resource), endpoint.LastPart(channel), err)
			}
		}
		return nil
	case claim.TurnID == "" && claim.ToolCallID == "":
		fmt.Fprintln(cmd.ErrOrStderr(), "note: it is in the background already")
		return nil
	}
	claim.TurnID, claim.ToolCallID = "", ""
	if err := s.Act(ctx, t.Resource, ahp.TerminalClaimed{Claim: claim}); err != nil {
		return fmt.Errorf("send %s to the background: %w", endpoint.LastPart(t.Resource), err)
	}
	return nil
}

func newSendCommand() *cobra.Command {
	var in struct {
		Enter bool     `flag:"enter" doc:"Press Enter at the end"`
		Keys  []string `flag:"key" doc:"Press a key, such as ctrl+c, up or f5 (repeatable)"`
	}
	return cli.Command("send ID [TEXT...]", `Type into a terminal
TEXT is typed, then the keys of --key, then Enter with --enter. Words are joined by
blanks. A terminal that an agent's session holds refuses typing until it is claimed.

  tandemux send build --enter make test
  tandemux send build --key ctrl+c`, &in, func(cmd *cobra.Command, args []string) error {
		var pressed []keymap.Key
		for _, name := range in.Keys {
			k, err := keymap.Parse(name)
			if err != nil {
				return cli.Usagef("--key: %w", err)
			}
			pressed = append(pressed, k)
		}
		if in.Enter {
			pressed = append(pressed, keymap.Key{Code: keymap.Enter})
		}
		text := strings.Join(args[1:], " ")
		if text == "" && len(pressed) == 0 {
			return cli.Usagef("nothing to send: give a text, --key or --enter")
		}
		return endpoint.WithHost(cmd, endpoint.Options{}, func(ctx context.Context, s *endpoint.Conn) error {
			t, err := s.Terminal(args[0])
			if err != nil {
				return err
			}
			return sendTo(s, ctx, t, text, pressed)
		})
	})
}

// sendTo types as a keyboard would: what a key sends depends on the modes that
// the program has set.
func sendTo(s *endpoint.Conn, ctx context.Context, t ahp.TerminalInfo, text string, keys []keymap.Key) error {
	data, err := Encode(s, ctx, t.Resource, keys)
	if err != nil {
		return err
	}
	data = append([]byte(text), data...)
	if err := s.Act(ctx, t.Resource, ahp.TerminalInput{Data: string(data)}); err != nil {
		return fmt.Errorf("type into %s: %w", endpoint.LastPart(t.Resource), err)
	}
	return nil
}

// Encode gives what keys send to the terminal's program: what it asked of its keyboard
// is known from the state that the host serves to every viewer.
func Encode(s *endpoint.Conn, ctx context.Context, uri ahp.URI, presses []keymap.Key) (data []byte, err error) {
	if len(presses) == 0 {
		return nil, nil
	}
	screen, err := capture.Screen(ctx, s, uri, -1)
	if err != nil {
		return nil, err
	}
	for _, k := range presses {
		data = input.AppendKey(data, keys.PressOf(k), input.Press, screen.Modes())
	}
	return data, nil
}
