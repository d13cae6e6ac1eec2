package acp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/internal/jsonrpc"
)

type Config struct {
	// ID is the provider's name in AHP, and in the configuration.
	ID string
	// Name is shown to people; it may be empty.
	Name string
	// Command is the agent's program, looked up in PATH, and its arguments.
	Command []string
	Env     []agent.Var
	// Panes says how to make the agent leave commands to a tool of the host's; nil means not at all.
	Panes *Panes
	// Resource is what its users need a token for; nil means nothing. It is not Required if the
	// environment has its variable.
	Resource *agent.Resource
	// Dir is the directory that the agent starts in; empty means the session's first.
	Dir string
	// Confirm says which of its questions are answered without a person: ahp.ConfirmAsk, the default,
	// or another of ahp.Confirms.
	Confirm string
	// Version is tandemux's.
	Version string
	// Environ returns the environment that Env is added to; nil means os.Environ.
	Environ func() []string
	// LogFile is the file for the agent's stderr, or "".
	LogFile string
	// Stderr, if not nil, is called with each line of stderr, in a separate goroutine. Until it
	// returns, no more of stderr is read.
	Stderr func(line string)
	Log    *slog.Logger // nil: none

	// Start bounds the time until a session is open; 0 means agent.DefaultStart.
	Start time.Duration
	// Grace is how long an agent may take to end a cancelled turn before its process is ended; 0 means
	// ten seconds.
	Grace time.Duration
	// Idle is after how long without a turn the agent's process is ended, if the agent can resume its
	// session, has not kept its own shell and holds no terminal. The next turn starts it again. 0
	// means never.
	Idle time.Duration
	// MaxLine bounds a message of the agent, in bytes; 0 means 32 MiB.
	MaxLine int
}

// Provider is an agent.Provider that runs a command.
type Provider struct {
	c   Config
	log *slog.Logger

	mu   sync.Mutex
	info agent.Info
}

// New returns a provider. It starts nothing.
func New(c Config) (*Provider, error) {
	if c.ID == "" || len(c.Command) == 0 || c.Command[0] == "" {
		return nil, fmt.Errorf("agent %q: it has no name or no command", c.ID)
	}
	c.Confirm = cmp.Or(c.Confirm, ahp.ConfirmAsk)
	if !slices.Contains(ahp.Confirms, c.Confirm) {
		return nil, fmt.Errorf("agent %s: confirm is %q: use one of %q", c.ID, c.Confirm, ahp.Confirms)
	}
	c.Start = cmp.Or(c.Start, agent.DefaultStart)
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	c.MaxLine = cmp.Or(c.MaxLine, defaultMaxLine)
	if c.Environ == nil {
		c.Environ = os.Environ
	}
	log := cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if r := c.Resource; r != nil {
		own := *r
		own.Required = own.Required && !slices.ContainsFunc(environ(c.Environ(), c.Env), func(kv string) bool { return strings.HasPrefix(kv, r.Variable+"=") })
		c.Resource = &own
	}
	return &Provider{c: c, log: log, info: agent.Info{
		ID: c.ID, Name: cmp.Or(c.Name, c.ID), Resource: c.Resource,
	}}, nil
}

func (p *Provider) Info() agent.Info {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.info
	i.Models, i.Auth = slices.Clone(i.Models), slices.Clone(i.Auth)
	return i
}

// learn stores what the agent said about itself.
func (p *Provider) learn(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := l.init.AgentInfo; a != nil {
		p.info.Version = clip(a.Version, 100)
		if p.c.Name == "" {
			p.info.Name = clip(cmp.Or(a.Title, a.Name, p.c.ID), 200)
		}
	}
	can := l.init.AgentCapabilities.PromptCapabilities
	p.info.Images, p.info.Audio, p.info.Embedded = can.Image, can.Audio, can.EmbeddedContext
	p.info.Fork = given(l.init.AgentCapabilities.SessionCapabilities.Fork)
	if l.s == nil || l.s.spec.Confine == nil { // nobody else runs what an agent in a sandbox says
		p.info.Auth = p.auth(l)
	}
}

// Probe starts the agent, gets its information, and ends it.
func (p *Provider) Probe(ctx context.Context) (agent.Info, error) {
	ctx, cancel := context.WithTimeout(ctx, p.c.Start)
	defer cancel()
	l, err := p.dial(ctx, "", nil)
	if err != nil {
		return p.Info(), err
	}
	l.stop()
	return p.Info(), nil
}

func (p *Provider) Open(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	if len(spec.Roots) == 0 || spec.Events == nil {
		return nil, agent.Errorf(agent.KindStart, "start agent %s: no working directory was given", p.c.ID)
	}
	s := &session{p: p, spec: spec, terms: map[string]agent.Terminal{}, displays: map[string]*agent.TerminalContent{}}
	ctx, cancel := context.WithTimeout(ctx, p.c.Start)
	defer cancel()
	resumed, err := s.connect(ctx, spec.Resume, spec.Fork)
	if err != nil {
		return nil, err
	}
	s.resumed = resumed
	for id, value := range spec.Config {
		if err := s.SetOption(ctx, id, value); err != nil {
			p.log.Info("option not set", "agent", p.c.ID, "option", id, "err", err)
		}
	}
	return s, nil
}

// Authenticate logs in with one of the agent's own methods.
func (p *Provider) Authenticate(ctx context.Context, methodID string) error {
	l, err := p.dial(ctx, "", nil)
	if err != nil {
		return err
	}
	defer l.stop()
	for _, m := range p.auth(l) {
		if m.ID == methodID && m.Kind != agent.AuthAgent {
			return &agent.Error{Kind: agent.KindAuthRequired, Auth: p.auth(l), Message: fmt.Sprintf(
				"log in to %s: %q is done by a person, not by the agent", p.c.ID, m.Name)}
		}
	}
	return l.call(ctx, methodAuthenticate, map[string]string{"methodId": methodID}, nil)
}

// auth returns the ways to log in. Of an agent in a sandbox it returns only those by environment,
// because nobody should run a command that such an agent names.
func (p *Provider) auth(l *link) []agent.AuthMethod {
	var out []agent.AuthMethod
	for _, m := range l.init.AuthMethods[:min(len(l.init.AuthMethods), 50)] {
		if m.Type != "env_var" && l.s != nil && l.s.spec.Confine != nil {
			continue
		}
		a := agent.AuthMethod{ID: m.ID, Name: cmp.Or(m.Name, m.ID), Description: m.Description, Kind: agent.AuthAgent}
		switch {
		case m.Meta.Terminal != nil && m.Meta.Terminal.Command != "":
			a.Kind = agent.AuthTerminal
			a.Command = append([]string{m.Meta.Terminal.Command}, m.Meta.Terminal.Args...)
			a.Env = m.Meta.Terminal.Env
		case m.Type == "terminal":
			a.Kind = agent.AuthTerminal
			a.Command = append(slices.Clone(p.c.Command), m.Args...)
			a.Env = map[string]string{}
			for _, v := range p.c.Env {
				a.Env[v.Name] = v.Value
			}
			maps.Copy(a.Env, m.Env)
		case m.Type == "env_var":
			a.Kind = agent.AuthEnv
			if m.VarName != "" {
				a.Variables = append(a.Variables, m.VarName)
			}
			for _, v := range m.Vars {
				a.Variables = append(a.Variables, v.Name)
			}
		}
		out = append(out, a)
	}
	return out
}

// howToLogIn says what a person can do to log in.
func (p *Provider) howToLogIn(l *link, e *jsonrpc.Error) string {
	var ways []string
	for _, m := range p.auth(l) {
		switch m.Kind {
		case agent.AuthTerminal:
			ways = append(ways, fmt.Sprintf("run `%s`", strings.Join(m.Command, " ")))
		case agent.AuthEnv:
			ways = append(ways, fmt.Sprintf("set %s in [agents.%s.env]", strings.Join(m.Variables, " and "), p.c.ID))
		default:
			way := m.Name
			if m.Description != "" {
				way += " (" + clip(m.Description, 200) + ")"
			}
			ways = append(ways, way)
		}
	}
	if len(ways) == 0 {
		ways = append(ways, rpcText(e))
	}
	text := strings.Join(ways, ", or ")
	if l.s != nil && l.s.spec.Confine != nil {
		text += fmt.Sprintf("; its sandbox has none of your logins: `logins` in [agents.%s] names those that it gets, or `tandemux env set` sets a key", p.c.ID)
	}
	return text
}
