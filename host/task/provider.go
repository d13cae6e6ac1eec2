package task

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"tandemux/ahp"
	"tandemux/host/agent"
	"tandemux/host/agent/acp"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

// ProviderPrefix begins the ids of the providers of tasks' sessions. The agent's name follows.
const ProviderPrefix = "task-"

// Provider opens the agents of tasks. The version with which a session's task runs says whether the
// agent speaks ACP or consists of hooks. The service is opened once a session begins or is resumed,
// not before.
type Provider struct {
	id   string
	open func() (*Service, error)
}

// NewProvider returns a provider with an id that begins with ProviderPrefix. open returns the service,
// and may be called from any goroutine.
func NewProvider(id string, open func() (*Service, error)) *Provider { return &Provider{id, open} }

func (p *Provider) Info() agent.Info {
	return agent.Info{ID: p.id, Name: strings.TrimPrefix(p.id, ProviderPrefix), Description: "of tasks", Inner: true}
}

// Authenticate returns an error: a task's agent gets its login from its environment.
func (p *Provider) Authenticate(context.Context, string) error {
	return agent.Errorf(agent.KindAuthRequired, "an agent of a task logs in by its environment: `tandemux env set` sets a key")
}

func (p *Provider) Open(ctx context.Context, spec agent.Spec) (agent.Session, error) {
	s, err := p.open()
	if err != nil {
		return nil, agent.Errorf(agent.KindStart, "open the tasks: %v", err)
	}
	t, err := s.taskOf(ctx, spec.Session)
	if err != nil {
		return nil, agent.Errorf(agent.KindNotFound, "this agent is for tasks: `tandemux task new` begins one")
	}
	return s.openAgent(ctx, t, spec)
}

var sessionURI = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^` + ahp.SessionScheme + `/(tsk_[0-9a-z]+)(-[0-9]+)?$`)
})

func (s *Service) taskOf(ctx context.Context, session ahp.URI) (store.Task, error) {
	id := TaskOf(session)
	t, err := s.Store.Tasks.Find(ctx, id)
	if err == nil && (t.ID != id || t.Session != session) {
		err = store.Errorf(store.NotFound, "the session is no task's")
	}
	return t, err
}

// TaskOf returns the id of the task to which a session belongs by its URI, or "".
func TaskOf(session ahp.URI) string {
	if m := sessionURI().FindStringSubmatch(session); m != nil {
		return m[1]
	}
	return ""
}

// openAgent opens the agent that the task runs with.
func (s *Service) openAgent(ctx context.Context, t store.Task, spec agent.Spec) (agent.Session, error) {
	launch, err := s.Agents.Launch(ctx, t.LaunchedID)
	if err != nil {
		return nil, agent.Errorf(agent.KindStart, "%v", err)
	}
	if spec.Confine == nil {
		if err := mayRunBare(launch); err != nil {
			return nil, agent.Errorf(agent.KindStart, "%v", err)
		}
	}
	if !launch.Definition.ACP() {
		return s.openHooks(ctx, t, launch, spec)
	}
	log := s.logger(t, launch, "agent")
	c := acp.Config{
		ID: launch.Agent.Name, Name: launch.Agent.Name, Command: located(launch.Argv(s.codeAt(spec, launch.CodeDir)), spec.Confine != nil),
		Version: s.Version, Log: s.Log, Stderr: func(line string) { log(store.Warning, line) },
	}
	if spec.Confine == nil {
		for _, kv := range append(taskEnv(t, launch), launch.Env...) {
			name, value, _ := strings.Cut(kv, "=")
			c.Env = append(c.Env, agent.Var{Name: name, Value: value})
		}
		c.Environ = os.Environ
	}
	p, err := acp.New(c)
	if err != nil {
		return nil, agent.Errorf(agent.KindStart, "%v", err)
	}
	return p.Open(ctx, spec)
}

// mayRunBare returns an error unless the operator deployed the version: others need a sandbox.
func mayRunBare(l registry.Launch) error {
	if l.Trusted {
		return nil
	}
	return fmt.Errorf("version %d of %s was deployed by %s, not by you: it runs in a sandbox only", l.Version.Number, l.Agent.Name, l.Version.Author)
}

// located replaces a program's name with its path in the host's PATH, because a sandbox has a PATH of
// its own.
func located(argv []string, confined bool) []string {
	if !confined || strings.Contains(argv[0], "/") {
		return argv
	}
	if path, err := exec.LookPath(argv[0]); err == nil && filepath.IsAbs(path) {
		argv = append([]string{path}, argv[1:]...)
	}
	return argv
}

// codeAt returns where the agent sees its code directory.
func (s *Service) codeAt(spec agent.Spec, dir string) string {
	if dir == "" || spec.Confine == nil {
		return dir
	}
	return spec.Confine.Inside(dir)
}

// useProvider makes the provider of a task's agent known to the host, and returns its id.
func (s *Service) useProvider(ctx context.Context, t *store.Task) (string, error) {
	a, err := s.Store.Agents.Find(ctx, t.AgentID)
	if err != nil {
		return "", err
	}
	var got ahp.AgentResult
	for _, id := range []string{ProviderPrefix + a.Name, ProviderPrefix + "any"} { // the host has a limit of providers
		err = s.call(ctx, ahp.MethodAgent, ahp.AgentParams{Channel: ahp.RootURI, Provider: id}, &got)
		if err == nil || ahp.CodeOf(err) != ahp.CodeConflict {
			break
		}
	}
	return got.Provider, err
}
