package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/catalog"
	"tandemux/host/mcp"
	"tandemux/host/task/store"
	"tandemux/internal/cli"
	"tandemux/internal/doctor"
	"tandemux/internal/endpoint"
	"tandemux/internal/local"
	"tandemux/internal/taskcmd"
)

// agentServers are the MCP servers that the host's agents are told of: our own, on
// the session that they work in.
func agentServers(log *slog.Logger) func(provider string, session, chat ahp.URI) []agent.Server {
	return func(provider string, session, chat ahp.URI) []agent.Server {
		path, err := local.Program()
		if err != nil {
			log.Warn("an agent does not get tandemux's tools", "err", err)
			return nil
		}
		s := agent.Server{Name: "tandemux", Command: path, Args: []string{"mcp", "--agent", provider}, Commands: mcp.RunCommand}
		for _, name := range []string{"HOME", "PATH", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
			if value, ok := os.LookupEnv(name); ok { // Not every agent passes its own on.
				s.Env = append(s.Env, agent.Var{Name: name, Value: value})
			}
		}
		s.Env = append(s.Env, agent.Var{Name: agent.SessionEnv, Value: session}, agent.Var{Name: agent.ChatEnv, Value: chat})
		return []agent.Server{s}
	}
}

func newAgentCommand() *cobra.Command {
	return cli.Group("agent", "Agents: those that can be used, and those that were deployed", "show and rm are about agents that were deployed, which tasks run; login about the others.",
		append(taskcmd.DeployedCommands(), newAgentLsCommand(), newLoginCommand())...)
}

func newAgentLsCommand() *cobra.Command {
	var in struct {
		Deployed bool `flag:"deployed" doc:"List the agents that were deployed, which tasks run"`
	}
	return cli.WithJSON(cli.Command("ls", `List the agents that can be used, and what each needs
They are those of the configuration ([agents.NAME]), those that are found on the PATH,
and those that tandemux knows but does not find. tandemux doctor tries to start them.`, &in, func(cmd *cobra.Command, _ []string) error {
		if in.Deployed {
			return taskcmd.ListDeployed(cmd)
		}
		s, err := loadSettings(local.FindDirs())
		if err != nil {
			return err
		}
		rows := s.catalog.Rows()
		if err := hostAgents(cmd, &rows); err != nil {
			return err
		}
		return cli.PrintTable(cmd, "", "NAME\tAGENT\tSTATE\tCOMMAND\tNEEDS", rows, func(r catalog.Row) []any {
			return []any{r.Name, r.Title, r.State(), strings.Join(r.Command, " "), cli.Whole(r.Missing())}
		})
	}), cli.One[[]catalog.Row](), cli.One[[]store.Agent]())
}

// configuredAgents are those of the configuration and those that are installed, to
// complete.
func configuredAgents() (all []string) {
	s, err := loadSettings(local.FindDirs())
	if err != nil {
		return nil
	}
	for _, r := range s.catalog.Rows() {
		if r.Configured || r.Found {
			all = append(all, r.Name+"\t"+r.Title)
		}
	}
	return all
}

// hostAgents notes which agents the running host has, and adds those that only it
// knows. Without a host there is nothing to note.
func hostAgents(cmd *cobra.Command, rows *[]catalog.Row) error {
	err := endpoint.WithHost(cmd, endpoint.Options{}, func(_ context.Context, s *endpoint.Conn) error {
		root, _ := s.Mirror.Root()
		for _, a := range root.Agents {
			i := slices.IndexFunc(*rows, func(r catalog.Row) bool { return r.Name == a.Provider })
			if i < 0 {
				*rows = append(*rows, catalog.Row{Name: a.Provider, Title: a.DisplayName, Command: []string{}, Host: true})
				continue
			}
			(*rows)[i].Host = true
		}
		return nil
	})
	if errors.Is(err, local.ErrNoHost) {
		return nil
	}
	return err
}

// probeTime bounds how long doctor waits for an agent.
const probeTime = 30 * time.Second

// checkAgents tries to start the agents that are there.
func checkAgents(cmd *cobra.Command, d local.Dirs) (string, string) {
	s, err := loadSettings(d)
	if err != nil {
		return doctor.Warn, "the configuration has mistakes; see above"
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), probeTime)
	defer cancel()
	rows := slices.DeleteFunc(s.catalog.Rows(), func(r catalog.Row) bool { return !r.Found && !r.Configured })
	said := make([]string, len(rows))
	failed := make([]bool, len(rows))
	var all sync.WaitGroup
	for i, r := range rows {
		all.Go(func() {
			p, err := catalog.Maker{State: d.State, Version: version}.Provider(r)
			var info agent.Info
			if err == nil {
				info, err = p.Probe(ctx)
			}
			if failed[i] = err != nil; failed[i] {
				said[i] = r.Name + ": " + err.Error()
				return
			}
			said[i] = strings.TrimSpace(fmt.Sprintf("%s: %s %s", r.Name, info.Name, info.Version))
		})
	}
	all.Wait()
	switch {
	case len(rows) == 0:
		return doctor.OK, "none; `tandemux agent ls` says which there are and how to install them"
	case slices.Contains(failed, true):
		return doctor.Warn, strings.Join(said, "; ")
	}
	return doctor.OK, strings.Join(said, "; ")
}

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
