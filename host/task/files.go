package task

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"tandemux/host/task/store"
	"tandemux/host/workspace"
	"tandemux/host/workspace/folders"
)

// FilesOf returns a task's workspace. That of a task without one is its scratch directory, if it has
// made files.
func (s *Service) FilesOf(t store.Task) (*workspace.Workspace, error) {
	w, err := s.Files.Workspace(t.ID)
	if err != nil || w.Info().Kind != workspace.None {
		return w, err
	}
	dir := filepath.Join(s.scratch(t.ID), "workspace")
	if _, err := os.Stat(dir); err != nil {
		return w, nil //nolint:nilerr // the task has made no files
	}
	return w.At(dir), nil
}

// Folders returns a task's system folders of the given types, or all if there are none, with the
// logins in them, which are neither read nor written. A task without a sandbox has no system folders.
func (s *Service) Folders(ctx context.Context, t store.Task, w *workspace.Workspace, types []string) (f folders.Selection, err error) {
	launch, err := s.Agents.Launch(ctx, cmp.Or(t.LaunchedID, t.VersionID))
	if err != nil && launch.Agent.ID == "" { // other errors only keep it from starting
		return f, err
	}
	all, err := w.SystemFolders().Names() // includes those of other versions
	if err != nil {
		return f, err
	}
	if all = slices.Concat(all, foldersOf(launch)); t.Facts.Bare {
		all = nil
	}
	f.Leave = s.loginsOf(t, launch)
	if f.Names, err = folders.Choose(slices.Compact(slices.Sorted(slices.Values(all))), types); err != nil {
		err = store.Errorf(store.Invalid, "%w", err)
	}
	return f, err
}

// Resting returns an error that says why files of the task may be in the middle of a change: a turn
// runs, or a message waits for one. If it is nil the agent writes nothing. While the caller has the
// workspace locked the answer stays true, because a turn has to lock it to begin.
func (s *Service) Resting(ctx context.Context, id string) error {
	t, err := s.Store.Tasks.Find(ctx, id)
	if err != nil {
		return err
	}
	s.mu.Lock()
	l := s.live[t.ID]
	s.mu.Unlock()
	// A turn that somebody else begins in the session is in l.look() before it is in the record.
	busy := t.Status != store.Idle && !t.Status.Final() && s.held(t.ID) == "" || l != nil && l.look().chat.ActiveTurn != nil
	if !busy {
		return nil
	}
	return store.Errorf(store.Stale, "task %[1]s is at work, so its files may hold half of a change: wait until its turn has ended (`tandemux task watch %[1]s`), stop it, or say --running", t.Name)
}
