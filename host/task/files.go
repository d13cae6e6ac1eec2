package task

import (
	"context"
	"os"
	"path/filepath"

	"tandemux/host/task/store"
	"tandemux/host/workspace"
)

// FilesOf is a task's workspace, wherever its files are.
func (s *Service) FilesOf(t store.Task) (*workspace.Workspace, error) {
	w, err := s.Files.Workspace(t.ID)
	if err != nil || w.Info().Kind != workspace.None {
		return w, err
	}
	dir := filepath.Join(s.scratch(t.ID), "workspace")
	if _, err := os.Stat(dir); err != nil {
		return w, nil //nolint:nilerr // it has made no files
	}
	return w.At(dir), nil
}

// Resting says why what is in a task's files may be half of a change: a turn runs, or a
// message waits for one. Nil: nothing of the agent's writes to them. Asked while the
// workspace is locked it holds until that is unlocked, since a turn begins there.
func (s *Service) Resting(ctx context.Context, id string) error {
	t, err := s.Store.Tasks.Find(ctx, id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	l := s.live[t.ID]
	s.mu.Unlock()
	// A turn that somebody begins in the session is there before the record says so.
	busy := t.Status != store.Idle && !t.Status.Final() && s.held(t.ID) == "" || l != nil && l.look().chat.ActiveTurn != nil
	if !busy {
		return nil
	}
	return store.Errorf(store.Stale, "task %[1]s is at work, so its files may hold half of a change: wait until its turn has ended (`tandemux task watch %[1]s`), stop it, or say --running", t.Name)
}
