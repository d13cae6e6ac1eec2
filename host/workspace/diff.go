package workspace

import (
	"context"
	"io"
)

// FileDiff is one changed file.
type FileDiff struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // the old path, of a rename
	Status  string `json:"status"`         // added, deleted, modified, renamed, mode, type
	Added   int    `json:"added"`          // lines
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

// Diff is what changed in a workspace since it was made, or last merged.
type Diff struct {
	Base    string     `json:"base"` // commit or manifest version
	Files   []FileDiff `json:"files"`
	Added   int        `json:"added"` // lines, of all files
	Deleted int        `json:"deleted"`
}

// DiffOptions say what is wanted.
type DiffOptions struct {
	// Text gets the unified diff; nil: only Diff is wanted.
	Text io.Writer
	// Paths restrict it to files and directories; empty: all.
	Paths []string
	// Context is how many unchanged lines stand around; 0: 3, negative: none.
	Context int
}

// Diff says what changed, committed or not. Files that .gitignore names are left out
// of a worktree's.
func (w *Workspace) Diff(ctx context.Context, o DiffOptions) (Diff, error) { return Diff{}, nil }
