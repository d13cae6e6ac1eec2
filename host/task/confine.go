package task

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tandemux/host/agent"
	"tandemux/host/sandbox"
	"tandemux/host/task/access"
	"tandemux/host/task/login"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
	"tandemux/host/workspace"
)

// systemFolders are the folders of the home directory of which every task has its own copy (U6). A
// definition may name more.
var systemFolders = []string{".claude", ".codex"}

func foldersOf(l registry.Launch) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(systemFolders, l.Definition.Sandbox.Folders))))
}

// taskEnv returns the environment variables that every process of a task has (U22).
func taskEnv(t store.Task, l registry.Launch) []string {
	env := []string{"TANDEMUX_TASK=" + t.ID, "TANDEMUX_TASK_NAME=" + t.Name, "TANDEMUX_TASK_AGENT=" + l.Agent.Name}
	if len(t.Params) > 0 && len(t.Params) < 32<<10 {
		env = append(env, "TANDEMUX_TASK_PARAMS="+string(t.Params))
	}
	return env
}

// scratch returns a task's directory for its /tmp, and for its files if it has no workspace. It is
// removed with the task. It is not in the runtime directory, whose memory all of the user's sessions
// share.
func (s *Service) scratch(task string) string { return filepath.Join(s.State, "scratch", task) }

// rootOf returns the host's directory in which a task works.
func (s *Service) rootOf(t store.Task) (string, error) {
	if specOf(t).Kind == workspace.None {
		dir := filepath.Join(s.scratch(t.ID), "workspace")
		return dir, os.MkdirAll(dir, 0o700)
	}
	w, err := s.Files.Workspace(t.ID)
	if err != nil {
		return "", &startError{err.Error()}
	}
	if w.Info().Gone {
		return "", &startError{"the workspace " + w.Dir() + " was deleted: delete the task, or bring the directory back"}
	}
	return w.Dir(), nil
}

// support caches what sandbox.Check found on this machine.
type support struct {
	mu  sync.Mutex
	got *sandbox.Support
}

// available returns why there can be no sandboxes, or nil. Only success is cached: what is missing may
// be installed later.
func (s *Service) available() error {
	s.support.mu.Lock()
	defer s.support.mu.Unlock()
	if s.support.got == nil {
		got := sandbox.Check(s.ctx, "")
		if got.Err != nil {
			return store.Errorf(store.Invalid, "a task runs in a sandbox, and there can be none here: %w", got.Err)
		}
		s.support.got = &got
		for _, missing := range got.Missing {
			s.Log.Warn("the sandboxes of tasks", "missing", missing)
		}
	}
	return nil
}

// Confine returns the confinement of a task's session (host.Config.Confine), by the id of the task. It
// is that of the version with which the session began.
func (s *Service) Confine(task string) (agent.Confinement, error) {
	t, err := s.Store.Tasks.Find(s.ctx, task)
	if err != nil {
		return nil, err
	}
	if t.ID != task || t.Status == store.Deleting || t.Facts.Bare {
		return nil, fmt.Errorf("the task %s has no sandbox", task)
	}
	launch, err := s.Agents.Launch(s.ctx, t.LaunchedID)
	if err != nil {
		return nil, err
	}
	spec, err := s.walls(s.ctx, t, launch)
	if err != nil {
		return nil, err
	}
	return sandbox.New(spec)
}

// walls returns what the sandbox of a task contains.
func (s *Service) walls(ctx context.Context, t store.Task, l registry.Launch) (sandbox.Spec, error) {
	root, err := s.rootOf(t)
	if err != nil {
		return sandbox.Spec{}, err
	}
	def := l.Definition.Sandbox
	memory, err := def.MemoryBytes()
	if err != nil {
		return sandbox.Spec{}, err
	}
	tmp := filepath.Join(s.scratch(t.ID), "tmp")
	if err := os.MkdirAll(tmp, 0o700); err != nil {
		return sandbox.Spec{}, fmt.Errorf("make the task's /tmp: %w", err)
	}
	spec := sandbox.Spec{
		Name: t.ID, Workspace: root, Write: t.Writable, Tmp: tmp, Code: s.code(l), Env: slices.Concat(taskEnv(t, l), l.Env),
		NoNetwork: def.Network == "none", Limits: sandbox.Limits{Memory: memory, Processes: def.Processes},
		Program: s.Program, Hidden: []string{s.State, s.Runtime}, Own: []string{filepath.Join(s.State, "tasks", t.ID), s.scratch(t.ID)},
	}
	if l.CodeDir != "" {
		spec.Own = append(spec.Own, l.CodeDir)
	}
	w, err := s.Files.Workspace(t.ID)
	if err != nil {
		return spec, err
	}
	mounts, err := w.Mounts(ctx)
	if err != nil {
		return spec, err
	}
	for _, m := range mounts {
		if m.Target != sandbox.Workspace && m.Source != "" {
			spec.Shares = append(spec.Shares, sandbox.Share{Outside: m.Source, Inside: m.Target, Write: m.Writable})
		}
	}
	for _, name := range foldersOf(l) {
		dir, err := w.SystemFolders().Make(name)
		if err != nil {
			return spec, err
		}
		spec.Shares = append(spec.Shares, sandbox.Share{Outside: dir, Inside: filepath.Join(sandbox.Home, name), Write: true})
	}
	logins, err := s.logins(t, l)
	for _, c := range logins {
		inside := filepath.Join(sandbox.Home, c.Name)
		if slices.ContainsFunc(spec.Shares, func(m sandbox.Share) bool { return m.Inside == inside || strings.HasPrefix(m.Inside, inside+"/") }) {
			return spec, fmt.Errorf("the login ~/%s: tasks have a directory of their own there; name the files in it that are the login", c.Name)
		}
		for _, m := range spec.Shares {
			if m.Inside == filepath.Dir(inside) && m.Write {
				if err := c.Place(m.Outside); err != nil {
					return spec, fmt.Errorf("make a place for the login ~/%s: %w", c.Name, err)
				}
			}
		}
		spec.Shares = append(spec.Shares, sandbox.Share{Outside: c.Path, Inside: inside, Write: true})
	}
	return spec, err
}

// loginsOf returns the login files that the configuration has for the agent, relative to the home
// directory. Only the operator's own tasks with agents that the operator deployed get them.
func (s *Service) loginsOf(t store.Task, l registry.Launch) []string {
	if s.Logins == nil || !l.Trusted || t.Creator != access.TheOperator().String() {
		return nil
	}
	return s.Logins(l.Agent.Name)
}

func (s *Service) logins(t store.Task, l registry.Launch) ([]login.Copy, error) {
	names := s.loginsOf(t, l)
	if len(names) == 0 {
		return nil, nil
	}
	s.seeding.Lock()
	defer s.seeding.Unlock()
	all, missing, err := login.Seed(s.Home, filepath.Join(s.scratch(t.ID), "login"), names)
	for _, name := range missing {
		s.note(t, store.Warning, "the login ~/"+name+" is not there")
	}
	return all, err
}

// code returns the files that the agent's programs need besides the system's.
func (s *Service) code(l registry.Launch) []string {
	path := os.Getenv("PATH")
	var all []string
	if l.CodeDir != "" {
		all = append(all, l.CodeDir)
	}
	hooks := l.Definition.Hooks
	for _, words := range [][]string{slices.Concat(l.Definition.Command, l.Definition.Args), hooks.OnCreate, hooks.OnEvent, hooks.OnCancel} {
		switch {
		case len(words) == 0:
		case l.Trusted:
			all = append(all, sandbox.Code(registry.HookArgv(words, l.CodeDir), path, s.State, s.Runtime)...)
		case !strings.Contains(words[0], "/"): // a path in an API key's definition must not expose a file of the host
			all = append(all, sandbox.Code(words[:1], path, s.State, s.Runtime)...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
