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

// ProviderPrefix begins the ids of the providers of tasks' sessions; the agent's
// name follows.
const ProviderPrefix = "task-"

// Provider opens the agents of tasks: what a session's task is to run with decides
// what that is, an ACP agent or hooks. It opens the service when a session of it
// begins or goes on, never before.
type Provider struct {
	id   string
	open func() (*Service, error)
}

// NewProvider makes the provider of an id that begins with ProviderPrefix. open
// gives the service; it is called from any goroutine.
func NewProvider(id string, open func() (*Service, error)) *Provider { return &Provider{id, open} }

func (p *Provider) Info() agent.Info {
	return agent.Info{ID: p.id, Name: strings.TrimPrefix(p.id, ProviderPrefix), Description: "of tasks", Inner: true}
}

// Authenticate is not for tasks: an agent that needs a login has it from its
// environment.
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

// TaskOf is the id of the task that a session's URI names; empty when it is no
// task's.
func TaskOf(session ahp.URI) string {
	if m := sessionURI().FindStringSubmatch(session); m != nil {
		return m[1]
	}
	return ""
}

// openAgent opens what a task runs with.
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

// mayRunBare says whether a version may run without a sandbox: only the operator's.
func mayRunBare(l registry.Launch) error {
	if l.Trusted {
		return nil
	}
	return fmt.Errorf("version %d of %s was deployed by %s, not by you: it runs in a sandbox only", l.Version.Number, l.Agent.Name, l.Version.Author)
}

// located names a program that is looked up in the host's PATH by its path: a sandbox
// has a PATH of its own.
func located(argv []string, confined bool) []string {
	if !confined || strings.Contains(argv[0], "/") {
		return argv
	}
	if path, err := exec.LookPath(argv[0]); err == nil && filepath.IsAbs(path) {
		argv = append([]string{path}, argv[1:]...)
	}
	return argv
}

// codeAt is where an agent sees its files.
func (s *Service) codeAt(spec agent.Spec, dir string) string {
	if dir == "" || spec.Confine == nil {
		return dir
	}
	return spec.Confine.Inside(dir)
}

// useProvider has the host know the provider of a task's agent, and gives its id.
func (s *Service) useProvider(ctx context.Context, t *store.Task) (string, error) {
	a, err := s.Store.Agents.Find(ctx, t.AgentID)
	if err != nil {
		return "", err
	}
	var got ahp.AgentResult
	for _, id := range []string{ProviderPrefix + a.Name, ProviderPrefix + "any"} { // a host has so many at most
		err = s.call(ctx, ahp.MethodAgent, ahp.AgentParams{Channel: ahp.RootURI, Provider: id}, &got)
		if err == nil || ahp.CodeOf(err) != ahp.CodeConflict {
			break
		}
	}
	return got.Provider, err
}
