package task

import (
	"fmt"
	"os"
	"path/filepath"

	"cotty/host/agent"
	"cotty/host/task/registry"
	"cotty/host/task/store"
	"cotty/host/workspace"
)

// taskEnv is what every process of a task is told (U22).
func taskEnv(t store.Task, l registry.Launch) []string {
	env := []string{"COTTY_TASK=" + t.ID, "COTTY_TASK_NAME=" + t.Name, "COTTY_TASK_AGENT=" + l.Agent.Name}
	if len(t.Params) > 0 && len(t.Params) < 32<<10 {
		env = append(env, "COTTY_TASK_PARAMS="+string(t.Params))
	}
	return env
}

// scratch is the directory of a task that has no files: gone with the task, or the
// machine.
func (s *Service) scratch(task string) string { return filepath.Join(s.Runtime, "tasks", task) }

// root is the directory of the host's that a task works in.
func (l *live) root(t *store.Task) (string, error) {
	return l.s.rootOf(*t)
}

func (s *Service) rootOf(t store.Task) (string, error) {
	if specOf(t).Kind == workspace.None {
		dir := s.scratch(t.ID)
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

// confinement is what a task's processes are started in.
type confinement struct{}

// available says why there are no sandboxes, nil if there are.
func (s *Service) available() error {
	return store.Errorf(store.Invalid, "this host has no sandbox: leave it out with --no-sandbox")
}

// Confine gives the confinement of a task's session, which names its sandbox by the
// task's id (host.Config.Confine).
func (s *Service) Confine(task string) (agent.Confinement, error) {
	return nil, fmt.Errorf("the task %s has no sandbox", task)
}

// letGo forgets a task's confinement.
func (s *Service) letGo(task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shut, task)
}
