package workspace

import "context"

// MergeOptions say how work comes home.
type MergeOptions struct {
	// Message is the commit's, of a worktree; empty: one that names the task.
	Message string
	// DryRun only says what would be.
	DryRun bool
}

// Merged is what a merge did.
type Merged struct {
	Into    string     `json:"into"`             // branch or directory
	Commit  string     `json:"commit,omitempty"` // worktree: what the branch is at now
	Files   []FileDiff `json:"files"`
	Nothing bool       `json:"nothing,omitempty"` // there was nothing to bring home
}

// Conflicts is the error of a merge that was not done: nothing was changed.
type Conflicts struct {
	Into  string
	Paths []string
}

// Merge brings what was changed home: of a worktree into the branch that is checked
// out in the repository, of a copy into the directory that it was made of. It does all
// or nothing: where both sides changed a file so that they don't join, or the user's
// uncommitted changes are in the way, the error says which (ErrConflict, Conflicts).
func (w *Workspace) Merge(ctx context.Context, o MergeOptions) (Merged, error) {
	return Merged{}, nil
}
