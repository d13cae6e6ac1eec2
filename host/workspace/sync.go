package workspace

import "context"

// Prefer decides conflicts.
type Prefer string

// What a conflict is decided for.
const (
	Neither         Prefer = ""           // conflicts are reported and stay
	PreferWorkspace Prefer = "workspace"  // the task's
	PreferSource    Prefer = "filesystem" // the other side's
)

// Synced is what a synchronisation did.
type Synced struct {
	Version   string   `json:"version"`       // the filesystem's, afterwards
	Changed   []string `json:"files_changed"` // paths written or removed on the side that was brought up to date; at most 1000
	Count     int      `json:"count"`         // of all that changed
	Conflicts []string `json:"conflicts"`     // changed on both sides, and left as they are on both; at most 1000
	Skipped   []string `json:"skipped"`       // not kept: devices, sockets, FIFOs, unreadable files; at most 1000
}

// SyncDown brings what changed in the filesystem into the workspace (U2, U4): before
// creation's hooks and before events. For kinds without a filesystem it does nothing.
func (w *Workspace) SyncDown(ctx context.Context, prefer Prefer) (Synced, error) {
	return Synced{}, nil
}

// SyncUp brings what changed in the workspace into the filesystem, as one change of
// its version, and of a worktree what a sandboxed agent committed into the repository
// (U2, U4): after creation's hooks and after events, not around cancel (U5).
func (w *Workspace) SyncUp(ctx context.Context, prefer Prefer) (Synced, error) {
	return Synced{}, nil
}
