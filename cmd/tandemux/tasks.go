package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/host/agent"
	"tandemux/host/agent/catalog"
	"tandemux/host/changes"
	"tandemux/host/task"
	"tandemux/host/task/budget"
	"tandemux/host/task/home"
	"tandemux/host/task/queue"
	"tandemux/host/task/registry"
	"tandemux/internal/local"
)

// tasks are the host's: nothing of them is opened before somebody asks for them, or
// an earlier host has left work undone.
type tasks struct {
	d    local.Dirs
	now  func() *settings
	log  *slog.Logger
	host chan *host.Host // holds the host once it is made

	mu     sync.Mutex // Protects following.
	s      *task.Service
	closed bool
}

func newTasks(d local.Dirs, now func() *settings, log *slog.Logger) *tasks {
	return &tasks{d: d, now: now, log: log, host: make(chan *host.Host, 1)}
}

// open gives the service, opened when it is needed first.
func (t *tasks) open() (*task.Service, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.closed:
		return nil, errors.New("the host is stopping")
	case t.s != nil:
		return t.s, nil
	}
	path, err := local.Program()
	if err != nil {
		return nil, err
	}
	h := <-t.host
	t.host <- h
	dir, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	s, err := task.Open(context.Background(), task.Options{
		State: t.d.State, Database: t.now().database, Runtime: t.d.Runtime, Configured: t.configured, Repositories: func() home.Repositories { return t.now().homes }, Limits: func() queue.Limits { return t.now().tasks }, Home: dir, Logins: func(agent string) []string { return t.now().catalog[agent].Logins }, Budgets: func() budget.Defaults { return t.now().budgets }, Dial: h.Front().Service("tasks"), Version: version, Program: path, Log: t.log,
	})
	if err != nil {
		return nil, err
	}
	if notice := s.Store.Notice(); notice != "" {
		h.Warn("the database of tasks", errors.New(notice))
	}
	t.s = s
	return s, nil
}

// begin goes on with what an earlier host left undone.
func (t *tasks) begin(h *host.Host) {
	t.host <- h
	if !task.Unfinished(t.d.State) {
		return
	}
	go func() {
		if _, err := t.open(); err != nil {
			t.log.Error("go on with the tasks", "err", err)
		}
	}()
}

// limitsChanged has tasks begin that may begin now.
func (t *tasks) limitsChanged() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s != nil {
		t.s.LimitsChanged()
	}
}

func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	s := t.s
	t.mu.Unlock()
	if s != nil {
		s.Close()
	}
}

// definition is what is deployed of an agent of the configuration that tasks use by
// its name; found says whether it can be run.
func (s *settings) definition(name string) (d registry.Definition, found, known bool) {
	r, known := catalog.Named(s.catalog.Rows(), name)
	d = registry.Definition{Name: r.Name, Description: r.Title, Command: r.Command, Variables: r.Agent.Env, Confirm: r.Agent.Confirm}
	known = known && len(r.Command) > 0
	return d, known && (r.Configured || r.Found), known
}

// configured is the definition of an agent of the configuration, or of one that is
// known and installed; the error says how to get one.
func (t *tasks) configured(name string) (registry.Definition, error) {
	s := t.now()
	d, found, _ := s.definition(name)
	if found {
		return d, nil
	}
	_, err := catalog.Usable(s.catalog.Rows(), name)
	return d, err
}

func configuredAgent(name string) (registry.Definition, error) {
	s, err := loadSettings(local.FindDirs())
	if err != nil {
		return registry.Definition{}, err
	}
	d, _, known := s.definition(name)
	if !known {
		return d, ahp.NotFound("the configuration has no agent %q; `tandemux agent ls` lists them", name)
	}
	return d, nil
}

// find gives the providers of tasks' sessions, and the others as before.
func (t *tasks) find(others func(string, []string) (agent.Provider, error)) func(string, []string) (agent.Provider, error) {
	return func(id string, command []string) (agent.Provider, error) {
		if len(command) == 0 && strings.HasPrefix(id, task.ProviderPrefix) {
			return task.NewProvider(id, t.open), nil
		}
		return others(id, command)
	}
}

func (t *tasks) confine(sandbox string) (agent.Confinement, error) {
	s, err := t.open()
	if err != nil {
		return nil, err
	}
	return s.Confine(sandbox)
}

// changes are those of the workspace that a directory is, if it is a task's.
func (t *tasks) changes(dir string) (changes.Tree, error) {
	if rel, err := filepath.Rel(t.d.State, dir); err != nil || !filepath.IsLocal(rel) {
		return nil, nil //nolint:nilerr // then it is none
	}
	s, err := t.open()
	if err != nil {
		return nil, err
	}
	if c := s.Files.ChangesAt(dir); c != nil {
		return c, nil
	}
	return nil, nil
}
