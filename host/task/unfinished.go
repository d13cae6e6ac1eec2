package task

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"tandemux/host/task/store"
)

// unfinishedName is a file in the state directory that is there while a task may
// have something to do: a host that finds it goes on with the tasks when it starts,
// and one that doesn't opens nothing.
const unfinishedName = "tasks.unfinished"

// Unfinished reports whether a Service of this state directory may have left work
// undone.
func Unfinished(state string) bool {
	_, err := os.Stat(filepath.Join(state, unfinishedName))
	return err == nil
}

// begun notes that there is something to do.
func (s *Service) begun() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.marked {
		return
	}
	err := os.WriteFile(filepath.Join(s.State, unfinishedName), nil, 0o600)
	if s.marked = err == nil; err != nil {
		s.Log.Warn("note that tasks are unfinished", "err", err)
	}
}

// settled removes the note if nothing is left to do.
func (s *Service) settled() {
	unfinished, _, err := s.Store.Tasks.List(context.Background(), store.Where{"status": []store.TaskStatus{store.Creating, store.Running, store.Deleting}}, store.Page{Limit: 1})
	waiting, failed := s.Store.CountWaiting(context.Background())
	if err != nil || failed != nil || len(unfinished) > 0 || waiting > 0 {
		return
	}
	if err := os.Remove(filepath.Join(s.State, unfinishedName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.Log.Warn("note that all tasks are at rest", "err", err)
	}
}
