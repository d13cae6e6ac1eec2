package shell

import (
	"fmt"
	"strings"

	"tandemux/internal/config/option"
)

// Settings say which shell is started and how.
type Settings struct {
	Shell       string // an absolute path; empty: $SHELL, or the password file's
	Integration bool   // it is started so that it marks its commands
	Tmux        string // TmuxOff, TmuxAsk or TmuxOn
}

// Whether programs find a tmux, by which agents make panes for their teammates, and whether
// a person is asked before an agent does.
const (
	TmuxOff = "off"
	TmuxAsk = "ask"
	TmuxOn  = "on"
)

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	return []option.Option{
		{
			Name: "shell", Value: &s.Shell, Needs: option.NewTerminal,
			Doc: "The shell, as an absolute path; empty is $SHELL.",
			Check: option.Faulty(func() error {
				if s.Shell != "" && !strings.HasPrefix(s.Shell, "/") || strings.ContainsRune(s.Shell, 0) {
					return fmt.Errorf("%q is not an absolute path", s.Shell)
				}
				return nil
			}),
		},
		{
			Name: "shell-integration", Value: option.Default(&s.Integration, true), Needs: option.NewTerminal,
			Doc: "Shells tell where a command begins and ends, and how.",
		},
		{
			Name: "tmux-for-agents", Value: option.Default(&s.Tmux, TmuxOff), Choices: []string{TmuxOff, TmuxAsk, TmuxOn}, Needs: option.NewTerminal,
			Doc: "Agents that put their teammates into tmux's panes get panes: new terminals have a `tmux` that makes them. You are asked once for each agent (ask), or not (on).",
		},
	}
}
