package task

import (
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
