package workspace

import (
	"context"
	"time"
)

// Info is what is known of a workspace.
type Info struct {
	ID      string    `json:"id"` // the task's
	Kind    Kind      `json:"kind"`
	Dir     string    `json:"dir,omitempty"`    // on this machine; empty for none
	Source  string    `json:"source,omitempty"` // the directory, or the repository's top
	Created time.Time `json:"created"`

	Branch string `json:"branch,omitempty"` // worktree
	Base   string `json:"base,omitempty"`   // worktree: the commit it began at; else the base manifest's version

	Filesystem string `json:"filesystem,omitempty"`
	NoUpdate   bool   `json:"noUpdate,omitempty"`
	Gone       bool   `json:"gone,omitempty"` // somebody deleted the directory
}

// Mount is what a sandbox binds. Later ones lie over earlier ones.
type Mount struct {
	Source   string // on this machine; empty: a tmpfs
	Target   string // in the sandbox
	Writable bool
}

// Workspace is a task's.
type Workspace struct {
	store *Store
	info  Info
}

// Create makes the workspace of a task, or gives the one that there is if it was
// made from the same Spec. One that was not made wholly is unmade first. ctx ends it
// early, and unmakes it.
func (s *Store) Create(ctx context.Context, task string, spec Spec) (*Workspace, error) {
	return nil, failf(ErrUnsupported, "create a workspace")
}

// Workspace gives the one of a task; ErrNotFound where there is none.
func (s *Store) Workspace(task string) (*Workspace, error) {
	return nil, failf(ErrNotFound, "task %s has no workspace", clip(task))
}

// Info describes it.
func (w *Workspace) Info() Info { return w.info }

// Dir is the directory on this machine; empty for none.
func (w *Workspace) Dir() string { return w.info.Dir }

// Mounts says what a sandbox binds so that the workspace is at /workspace and git
// works in it. The git directory that it sees of a worktree is the task's own: of the
// repository it can read the objects, and write nothing.
func (w *Workspace) Mounts(ctx context.Context) ([]Mount, error) { return nil, nil }

// SystemFolder makes, if need be, and gives a folder that the sandbox binds into the
// home directory (U6): name is ".claude", ".codex", ".config/opencode", ….
func (w *Workspace) SystemFolder(name string) (string, error) { return "", nil }

// SystemFolders names those that there are.
func (w *Workspace) SystemFolders() ([]string, error) { return nil, nil }

// Delete removes the workspace: its directory (never that of ro: and rw:), system
// folders, and the worktree. The branch stays if it has commits that are nowhere
// else, which kept says; with force it goes. Filesystems stay.
func (w *Workspace) Delete(ctx context.Context, force bool) (kept string, err error) { return "", nil }
