package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tandemux/host"
	"tandemux/host/agent"
	"tandemux/host/agent/catalog"
	"tandemux/host/auth"
	"tandemux/host/front"
	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/api"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
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
	s, err := task.Open(context.Background(), task.Options{
		State: t.d.State, Runtime: t.d.Runtime, Configured: t.configured, Dial: h.Front().Service("tasks"), Version: version, Program: path, Log: t.log,
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

func (t *tasks) close() {
	t.mu.Lock()
	t.closed = true
	s := t.s
	t.mu.Unlock()
	if s != nil {
		s.Close()
	}
}

// configured is the definition of an agent of the configuration, or of one that is
// known and installed.
func (t *tasks) configured(name string) (registry.Definition, bool) {
	r, ok := catalog.Named(t.now().catalog.Rows(), name)
	return definitionOf(r), ok && len(r.Command) > 0 && (r.Configured || r.Found)
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

// keyCaller begins the principal of who has an API key.
const keyCaller = "key:"

// door is the tasks' interface on the host's listeners.
func (t *tasks) door() front.Door {
	a := &api.API{Open: t.open, Version: version, Log: t.log}
	return front.Door{
		Prefix: api.Prefix + "/", Inside: true, Identify: t.identify, Refuse: api.Refuse,
		Serve: func(w http.ResponseWriter, r *http.Request, c front.Caller) {
			who, ended, err := t.caller(c)
			if err != nil {
				api.Refuse(w, http.StatusUnauthorized, err.Error())
				return
			}
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			if ended != nil {
				go func() {
					select {
					case <-ended:
						cancel()
					case <-ctx.Done():
					}
				}()
			}
			a.Serve(w, r.WithContext(ctx), who)
		},
	}
}

// identify says whose an API key is. A host that has no tasks has no keys.
func (t *tasks) identify(secret string) string {
	if !strings.Contains(secret, "_sk_") { // keys of the program's former name count too
		return ""
	}
	if _, err := os.Stat(filepath.Join(t.d.State, store.File)); err != nil {
		return ""
	}
	s, err := t.open()
	if err != nil {
		t.log.Error("look up an API key", "err", err)
		return ""
	}
	id, ok := s.Agents.Authenticate(secret)
	if !ok {
		return ""
	}
	return keyCaller + id
}

// caller is who asks, in the tasks' words; ended is closed when that is over.
func (t *tasks) caller(c front.Caller) (who access.Principal, ended <-chan struct{}, err error) {
	switch id, isKey := strings.CutPrefix(c.Principal, keyCaller); {
	case c.Sandbox != "":
		return access.Principal{Kind: access.TaskKind, ID: task.TaskOf(c.Sandbox)}, nil, nil
	case isKey:
		s, err := t.open()
		if err != nil {
			return who, nil, err
		}
		who, ended, ok := s.Agents.Principal(id)
		if !ok {
			return who, nil, errors.New("the API key was revoked")
		}
		return who, ended, nil
	case c.Operates:
		return access.TheOperator(), nil, nil
	}
	return access.Principal{Kind: access.Key, ID: strings.ReplaceAll(c.Principal, ":", "-"), Scopes: scopesOf(c.Scopes)}, nil, nil
}

// scopesOf is what a token of the host's may do with tasks: who may drive sessions
// runs all agents and changes all projects, who may look at terminals looks at both.
func scopesOf(scopes []string) []access.Scope {
	switch {
	case slices.Contains(scopes, auth.ScopeSession):
		return []access.Scope{{Kind: access.Agent, ID: access.All, Role: access.Executor}, {Kind: access.Project, ID: access.All, Role: access.Editor}}
	case slices.Contains(scopes, auth.ScopeRead):
		return []access.Scope{{Kind: access.Agent, ID: access.All, Role: access.Viewer}, {Kind: access.Project, ID: access.All, Role: access.Viewer}}
	}
	return nil
}
