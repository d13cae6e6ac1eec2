package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"tandemux/host/agent"
	"tandemux/host/agent/acp"
	"tandemux/host/shell"
	"tandemux/internal/statefile"
)

type Maker struct {
	State   string // the state directory
	Version string // of this program
	Program string // its path, for agents with Panes.Shell
	Log     *slog.Logger
}

func (m Maker) Provider(r Row) (*acp.Provider, error) {
	if len(r.Command) == 0 {
		return nil, fmt.Errorf("the agent %s has no command: give one in [agents.%s]", r.Name, r.Name)
	}
	c := acp.Config{
		ID: r.Name, Name: r.Title, Command: r.Command, Dir: r.Agent.Cwd, Confirm: r.Agent.Confirm, Resource: r.Agent.Login,
		Version: m.Version, Log: m.Log, LogFile: filepath.Join(m.State, "agents", r.Name+".log"),
	}
	c.Env = sorted(r.Agent.Env)
	var err error
	if c.Panes, err = m.panes(r); err != nil {
		m.Log.Warn("an agent keeps a shell of its own", "agent", r.Name, "err", err)
	}
	switch idle := r.Agent.Idle; {
	case idle != nil:
		c.Idle = time.Duration(*idle) * time.Second
	case knownBy(r).rests && !r.Agent.OwnShell:
		c.Idle = DefaultIdle
	}
	return acp.New(c)
}

// knownBy returns what is known about an agent, by its program or else by its name.
func knownBy(r Row) Row {
	if i := slices.IndexFunc(known, func(k Row) bool { return k.Command[0] == filepath.Base(r.Command[0]) }); i >= 0 {
		return known[i]
	}
	k, _ := Named(known, r.Name)
	return k
}

// panes returns how to make an agent leave commands to tandemux's tools: as configured, else as known
// for its program; nil means not at all.
func (m Maker) panes(r Row) (*acp.Panes, error) {
	if r.Agent.OwnShell {
		return nil, nil
	}
	k := knownBy(r)
	p := cmp.Or(r.Agent.Panes, k.panes)
	if p == nil || p.Shell != "" && m.Program == "" {
		return nil, nil
	}
	if p.Shell == "" && k.policy == "" || r.Agent.Panes != nil && p.Shell == "" {
		return p, nil
	}
	own := *p
	file, text, mode := "policy.toml", k.policy, os.FileMode(0o600)
	dir := filepath.Join(m.State, "agents", "panes", r.Name)
	if p.Shell != "" {
		file, mode = "tandemux-shell", 0o700
		sh := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
		text = fmt.Sprintf("#!/bin/sh\nexport %s; exec %s \"$@\"\n", shell.Quote([]string{"SHELL=" + sh}, ""), shell.Quote([]string{m.Program, "run", "--chat", "--", sh}, ""))
		own.Shell = filepath.Join(dir, file)
	} else {
		own.Args, own.Files = append(slices.Clone(p.Args), dir), []string{dir}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := statefile.Write(filepath.Join(dir, file), []byte(text)); err != nil {
		return nil, err
	}
	return &own, os.Chmod(filepath.Join(dir, file), mode)
}

// Providers returns the providers that a host starts with. A later call returns the same provider for
// the same row, because it may have learned what its agent offers. of stores that; only one goroutine
// may use it.
func (m Maker) Providers(t Tables, of map[string]Made) []agent.Provider {
	var out []agent.Provider
	for _, r := range t.Rows() {
		if !r.Configured && !r.Found {
			continue
		}
		made := of[r.Name]
		if made.provider == nil || !reflect.DeepEqual(made.row, r) {
			p, err := m.Provider(r)
			if err != nil {
				m.Log.Warn("agent left out", "err", err)
				continue
			}
			made = Made{r, p}
			of[r.Name] = made
		}
		out = append(out, made.provider)
	}
	return out
}

// Made is a provider and the row it was made of.
type Made struct {
	row      Row
	provider agent.Provider
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// Finder returns a function that makes providers which the host lacked when it started: by a name, or
// by a command line, which is stored. now returns the current configuration.
func (m Maker) Finder(now func() Tables) func(id string, command []string) (agent.Provider, error) {
	return func(id string, command []string) (agent.Provider, error) {
		if len(command) > 0 {
			sum := sha256.Sum256([]byte(strings.Join(command, "\x00")))
			title := filepath.Base(command[0])
			r := Row{Name: fmt.Sprintf("%.30s-%x", unfit.ReplaceAllString(title, "-"), sum[:3]), Title: title, Command: command}
			p, err := m.Provider(r)
			if err == nil {
				if err := m.remember(r.Name, command); err != nil {
					m.Log.Warn("the next host won't know this agent", "agent", r.Name, "err", err)
				}
			}
			return p, err
		}
		if command := m.commands()[id]; len(command) > 0 {
			return m.Provider(Row{Name: id, Title: filepath.Base(command[0]), Command: command})
		}
		r, err := Usable(now().Rows(), id)
		if err != nil {
			return nil, err
		}
		return m.Provider(r)
	}
}

// Usable returns the agent with a name if it has a program; "" means the first. The error says what to
// do.
func Usable(rows []Row, name string) (Row, error) {
	r, ok := Named(rows, name)
	switch {
	case name == "" && len(rows) > 0 && rows[0].Found:
		return rows[0], nil
	case name == "":
		return r, errors.New("no agent is installed where the host looks, on its PATH: `tandemux agent ls` says which there are, and how to install them")
	case !ok:
		return r, fmt.Errorf("there is no agent %.60q: `tandemux agent ls` lists them, and [agents.NAME] in the configuration makes one", name)
	case !r.Found && r.Configured && len(r.Command) > 0:
		return r, fmt.Errorf("the agent %s is configured, but there is no program %q on the host's PATH", name, r.Command[0])
	case len(r.Command) == 0:
		return r, fmt.Errorf("the agent %s has no command", name)
	case !r.Found:
		return r, fmt.Errorf("the agent %s is not installed: %s (the host's PATH has no %s)", name, r.Install, r.Command[0])
	}
	return r, nil
}

// maxCommands bounds the command lines that are stored.
const maxCommands = 100

func (m Maker) file() string { return filepath.Join(m.State, "agents", "commands.json") }

// commands returns the agents that were given as command lines, by name. They are stored because a
// session with one outlives the host.
func (m Maker) commands() map[string][]string {
	all := map[string][]string{}
	if b, err := os.ReadFile(m.file()); err == nil {
		json.Unmarshal(b, &all) //nolint:errcheck // an invalid file counts as empty
	}
	return all
}

func (m Maker) remember(name string, command []string) error {
	all := m.commands()
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
	if err == nil {
		err = os.MkdirAll(filepath.Dir(m.file()), 0o700)
	}
	if err != nil {
		return err
	}
	return statefile.Write(m.file(), b)
}
