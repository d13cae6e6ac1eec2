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

// Folders are a task's system folders of some types, or all of them for none, and the logins
// in them, which neither come out nor are written. A task without a sandbox has none.
func (s *Service) Folders(ctx context.Context, t store.Task, w *workspace.Workspace, types []string) (f folders.Selection, err error) {
	launch, err := s.Agents.Launch(ctx, cmp.Or(t.LaunchedID, t.VersionID))
	if err != nil && launch.Agent.ID == "" { // what else it lacks keeps it from starting only
		return f, err
	}
	all, err := w.SystemFolders().Names() // another version's, too
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
