package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/catalog"
	"tandemux/internal/cli"
	"tandemux/internal/local"
)

func newLoginCommand() *cobra.Command {
	return cli.Command("login AGENT [METHOD]", `Log in to an agent, here in this terminal
It is logged in to in one of the ways that it offers: by a command of its own that runs
here, or by itself, mostly in a browser. Without METHOD the first way that needs no
variable to be set is taken. An agent on another machine is logged in to on that
machine.`, nil, func(cmd *cobra.Command, args []string) error {
		d := local.FindDirs()
		s, err := loadSettings(d)
		if err != nil {
			return err
		}
		r, ok := catalog.Named(s.catalog.Rows(), args[0])
		if !ok {
			return ahp.NotFound("there is no agent %q; `tandemux agent ls` lists them", args[0])
		}
		p, err := catalog.Maker{State: d.State, Version: version}.Provider(r)
		if err != nil {
			return err
		}
		info, err := p.Probe(cmd.Context())
		if err != nil {
			return err
		}
		m, err := loginMethod(info, args[1:])
		if err != nil {
			return err
		}
		switch m.Kind {
		case agent.AuthTerminal:
			return loginHere(cmd, m)
		case agent.AuthEnv:
			return fmt.Errorf("%s: set %s in [agents.%s] env", m.Name, strings.Join(m.Variables, " and "), args[0])
		}
		return p.Authenticate(cmd.Context(), m.ID)
	})
}

// loginMethod is the way to log in that was named, or the first that can be done
// here.
func loginMethod(info agent.Info, named []string) (agent.AuthMethod, error) {
	fits := func(m agent.AuthMethod) bool { return m.Kind != agent.AuthEnv }
	if len(named) > 0 {
		fits = func(m agent.AuthMethod) bool { return m.ID == named[0] || m.Name == named[0] }
	} else if len(info.Auth) == 1 {
		fits = func(agent.AuthMethod) bool { return true }
	}
	if i := slices.IndexFunc(info.Auth, fits); i >= 0 {
		return info.Auth[i], nil
	}
	if len(info.Auth) == 0 {
		return agent.AuthMethod{}, fmt.Errorf("the agent %s offers no way to log in", info.ID)
	}
	var ways []string
	for _, m := range info.Auth {
		ways = append(ways, fmt.Sprintf("%s (%s)", m.ID, m.Name))
	}
	return agent.AuthMethod{}, fmt.Errorf("name one of the agent's ways to log in: %s", strings.Join(ways, ", "))
}

// loginHere runs the agent's own command in this terminal.
func loginHere(cmd *cobra.Command, m agent.AuthMethod) error {
	run := exec.CommandContext(cmd.Context(), m.Command[0], m.Command[1:]...)
	run.Stdin, run.Stdout, run.Stderr = os.Stdin, os.Stdout, os.Stderr
	run.Env = os.Environ()
	for name, value := range m.Env {
		run.Env = append(run.Env, name+"="+value)
	}
	if err := run.Run(); err != nil {
		return fmt.Errorf("log in by %s: %w", m.Name, err)
	}
	return nil
}
