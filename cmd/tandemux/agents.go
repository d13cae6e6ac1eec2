package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/acp"
	"tandemux/host/task/registry"
	"tandemux/internal/cli"
	"tandemux/internal/config"
	"tandemux/internal/local"
)

// knownAgent is one that tandemux finds by itself when its program is on the PATH.
type knownAgent struct {
	name, title string
	command     []string
	needs       string // to answer anything
	install     string
}

// knownAgents are in the order in which the first that is there is the default.
var knownAgents = []knownAgent{
	{"claude", "Claude Code", []string{"claude-agent-acp"}, "a login (claude /login) or ANTHROPIC_API_KEY", "npm install -g @agentclientprotocol/claude-agent-acp"},
	{"claude-code", "Claude Code (earlier adapter)", []string{"claude-code-acp"}, "a login (claude /login) or ANTHROPIC_API_KEY", "npm install -g @zed-industries/claude-code-acp"},
	{"gemini", "Gemini CLI", []string{"gemini", "--experimental-acp"}, "a login (gemini) or GEMINI_API_KEY", "npm install -g @google/gemini-cli"},
	{"codex", "Codex", []string{"codex-acp"}, "a login (codex login) or OPENAI_API_KEY", "npm install -g @zed-industries/codex-acp"},
	{"opencode", "opencode", []string{"opencode", "acp"}, "a login (opencode auth login)", "npm install -g opencode-ai"},
}

func known(name string) (knownAgent, bool) {
	i := slices.IndexFunc(knownAgents, func(k knownAgent) bool { return k.name == name })
	if i < 0 {
		return knownAgent{}, false
	}
	return knownAgents[i], true
}

// agentRow is an agent as `tandemux agents --json` prints it; stable.
type agentRow struct {
	Name       string   `json:"name"`
	Title      string   `json:"title"`
	Command    []string `json:"command"`
	Configured bool     `json:"configured"`
	Found      bool     `json:"found"` // its program can be run
	Host       bool     `json:"host"`  // the running host has it
	Needs      string   `json:"needs,omitempty"`
	Install    string   `json:"install,omitempty"`

	config config.Agent
}

// agentRows are the configured and the known agents, those that can be run
// first.
func agentRows(s settings) []agentRow {
	var rows []agentRow
	for _, name := range slices.Sorted(maps.Keys(s.Agents)) {
		c := s.Agents[name]
		k, _ := known(name)
		r := agentRow{Name: name, Title: cmp.Or(c.Title, k.title, name), Command: c.Command, Configured: true, Needs: k.needs, Install: k.install, config: c}
		if r.Command == nil {
			r.Command = k.command
		}
		rows = append(rows, r)
	}
	for _, k := range knownAgents {
		if _, ours := s.Agents[k.name]; !ours {
			rows = append(rows, agentRow{Name: k.name, Title: k.title, Command: k.command, Needs: k.needs, Install: k.install})
		}
	}
	for i := range rows {
		if len(rows[i].Command) > 0 {
			_, err := exec.LookPath(rows[i].Command[0])
			rows[i].Found = err == nil
		}
	}
	slices.SortStableFunc(rows, func(a, b agentRow) int {
		rank := func(r agentRow) int {
			switch {
			case r.Found && r.Configured:
				return 0
			case r.Found:
				return 1
			case r.Configured:
				return 2
			}
			return 3
		}
		return rank(a) - rank(b)
	})
	return rows
}

// agentNamed finds an agent by its name.
func agentNamed(rows []agentRow, name string) (agentRow, bool) {
	i := slices.IndexFunc(rows, func(r agentRow) bool { return r.Name == name })
	if i < 0 {
		return agentRow{}, false
	}
	return rows[i], true
}

// definition is what is deployed of an agent that tasks use by its name.
func (r agentRow) definition() registry.Definition {
	return registry.Definition{Name: r.Name, Description: r.Title, Command: r.Command, Variables: r.config.Env, Confirm: r.config.Confirm}
}

// provider makes an agent's provider for the host.
func (r agentRow) provider(d local.Dirs, log *slog.Logger) (*acp.Provider, error) {
	if len(r.Command) == 0 {
		return nil, fmt.Errorf("the agent %s has no command: give one in [agents.%s]", r.Name, r.Name)
	}
	c := acp.Config{
		ID: r.Name, Name: r.Title, Command: r.Command, Dir: r.config.Cwd, Confirm: acp.Confirm(r.config.Confirm),
		Version: version, Log: log, LogFile: filepath.Join(d.State, "agents", r.Name+".log"),
	}
	for _, name := range slices.Sorted(maps.Keys(r.config.Env)) {
		c.Env = append(c.Env, agent.Var{Name: name, Value: r.config.Env[name]})
	}
	return acp.New(c)
}

// agentProviders are those that a host starts with.
func agentProviders(d local.Dirs, s settings, log *slog.Logger) []agent.Provider {
	var out []agent.Provider
	for _, r := range agentRows(s) {
		if !r.Configured && !r.Found {
			continue
		}
		p, err := r.provider(d, log)
		if err != nil {
			log.Warn("agent left out", "err", err)
			continue
		}
		out = append(out, p)
	}
	return out
}

// agentFinder finds those that a host did not have when it started.
func agentFinder(d local.Dirs, now func() settings, log *slog.Logger) func(id string, command []string) (agent.Provider, error) {
	return func(id string, command []string) (agent.Provider, error) {
		if len(command) > 0 {
			sum := sha256.Sum256([]byte(strings.Join(command, "\x00")))
			name := strings.Map(func(r rune) rune {
				if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r) {
					return r
				}
				return '-'
			}, filepath.Base(command[0]))
			row := agentRow{Name: fmt.Sprintf("%.30s-%x", name, sum[:3]), Title: filepath.Base(command[0]), Command: command}
			p, err := row.provider(d, log)
			if err == nil {
				if err := rememberAgent(d, row.Name, command); err != nil {
					log.Warn("the next host won't know this agent", "agent", row.Name, "err", err)
				}
			}
			return p, err
		}
		if command := agentCommands(d)[id]; len(command) > 0 {
			return agentRow{Name: id, Title: filepath.Base(command[0]), Command: command}.provider(d, log)
		}
		r, ok := agentNamed(agentRows(now()), id)
		switch {
		case !ok:
			return nil, fmt.Errorf("there is no agent %q: `tandemux agents` lists them, and [agents.%s] in the configuration makes one", id, id)
		case !r.Found && r.Configured && len(r.Command) > 0:
			return nil, fmt.Errorf("the agent %s is configured, but there is no program %q on the host's PATH", id, r.Command[0])
		case !r.Found:
			return nil, fmt.Errorf("the agent %s is not installed: %s", id, cmp.Or(r.Install, "it has no command"))
		}
		return r.provider(d, log)
	}
}

// maxCommands bounds the command lines that are remembered.
const maxCommands = 100

func agentsFile(d local.Dirs) string { return filepath.Join(d.State, "agents", "commands.json") }

// agentCommands are the agents that were given as command lines, by name: a
// session with one outlives the host.
func agentCommands(d local.Dirs) map[string][]string {
	all := map[string][]string{}
	if b, err := os.ReadFile(agentsFile(d)); err == nil {
		json.Unmarshal(b, &all) //nolint:errcheck // a broken file is none
	}
	return all
}

func rememberAgent(d local.Dirs, name string, command []string) error {
	all := agentCommands(d)
	if slices.Equal(all[name], command) {
		return nil
	}
	for old := range all {
		if len(all) < maxCommands {
			break
		}
		delete(all, old)
	}
	all[name] = command
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(agentsFile(d)), 0o700); err != nil {
		return err
	}
	temp := agentsFile(d) + ".new"
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, agentsFile(d))
}

// agentServers are the MCP servers that the host's agents are told of: our own, on
// the session that they work in.
func agentServers(log *slog.Logger) func(provider string, session, chat ahp.URI) []agent.Server {
	return func(provider string, session, chat ahp.URI) []agent.Server {
		path, err := local.Program()
		if err != nil {
			log.Warn("an agent does not get tandemux's tools", "err", err)
			return nil
		}
		s := agent.Server{Name: "tandemux", Command: path, Args: []string{"mcp", "--agent", provider}}
		for _, name := range []string{"HOME", "PATH", "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
			if value, ok := os.LookupEnv(name); ok { // Not every agent passes its own on.
				s.Env = append(s.Env, agent.Var{Name: name, Value: value})
			}
		}
		s.Env = append(s.Env, agent.Var{Name: sessionEnv, Value: session}, agent.Var{Name: chatEnv, Value: chat})
		return []agent.Server{s}
	}
}

func newAgentsCommand() *cobra.Command {
	cmd := cli.WithJSON(&cobra.Command{
		Use:   "agents",
		Short: "List the agents that can be used, and what each needs",
		Long: `List the agents: those of the configuration ([agents.NAME]), those that are
found on the PATH, and those that tandemux knows but does not find. tandemux doctor
tries to start them.`,
		Args: cobra.NoArgs,
		RunE: cli.Did(func(cmd *cobra.Command, _ []string) error {
			s, err := loadSettings(local.FindDirs())
			if err != nil {
				return err
			}
			rows := agentRows(s)
			if err := hostAgents(cmd, &rows); err != nil {
				return err
			}
			return cli.PrintTable(cmd, "NAME\tAGENT\tSTATE\tCOMMAND\tNEEDS", rows, func(r agentRow) []any {
				return []any{r.Name, cli.Short(r.Title), r.state(), cli.Short(strings.Join(r.Command, " ")), r.needs()}
			})
		}),
	})
	cmd.AddCommand(newLoginCommand())
	return cmd
}

func (r agentRow) state() string {
	switch {
	case r.Configured && r.Found:
		return "configured"
	case r.Configured:
		return "configured, no such program"
	case r.Found:
		return "found"
	case r.Host:
		return "added"
	}
	return "not installed"
}

func (r agentRow) needs() string {
	if !r.Found && r.Install != "" {
		return r.Install
	}
	return r.Needs
}

// hostAgents notes which agents the running host has, and adds those that only it
// knows. Without a host there is nothing to note.
func hostAgents(cmd *cobra.Command, rows *[]agentRow) error {
	err := withHost(cmd, false, func(_ context.Context, s *session) error {
		root, _ := s.mirror.Root()
		for _, a := range root.Agents {
			i := slices.IndexFunc(*rows, func(r agentRow) bool { return r.Name == a.Provider })
			if i < 0 {
				*rows = append(*rows, agentRow{Name: a.Provider, Title: a.DisplayName, Command: []string{}, Host: true})
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
		return levelWarn, "the configuration has mistakes; see above"
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), probeTime)
	defer cancel()
	rows := slices.DeleteFunc(agentRows(s), func(r agentRow) bool { return !r.Found && !r.Configured })
	said := make([]string, len(rows))
	failed := make([]bool, len(rows))
	var all sync.WaitGroup
	for i, r := range rows {
		all.Go(func() {
			p, err := r.provider(d, nil)
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
		return levelOK, "none; `tandemux agents` says which there are and how to install them"
	case slices.Contains(failed, true):
		return levelWarn, strings.Join(said, "; ")
	}
	return levelOK, strings.Join(said, "; ")
}

// useAgent has the host make an agent available and gives its name there.
func (s *session) useAgent(ctx context.Context, name string, command []string) (string, error) {
	if name == "" && len(command) == 0 {
		return "", nil // the host's first
	}
	var got ahp.AgentResult
	err := s.call(ctx, ahp.MethodAgent, ahp.AgentParams{Channel: ahp.RootURI, Provider: name, Command: command}, &got)
	return got.Provider, err
}
