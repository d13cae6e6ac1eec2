package termcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/emulator/input"
	"tandemux/internal/capture"
	"tandemux/internal/cli"
	"tandemux/internal/endpoint"
	"tandemux/keymap"
	"tandemux/ui/keys"
)

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
