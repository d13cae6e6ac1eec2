package workspace

import "context"

// PullOptions say how files are taken out.
type PullOptions struct {
	// Overwrite allows an OUT that has files; those that are not in the workspace stay.
	Overwrite bool
}

// Pulled is what Pull wrote.
type Pulled struct {
	Out     string   `json:"out"`
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Folders []string `json:"folders"` // system folders
	Skipped []string `json:"skipped"` // not kept: devices, sockets, FIFOs
}

// Pull writes OUT/workspace/ and the system folders beside it (U108). OUT is absolute;
// nothing outside of it is written.
func (w *Workspace) Pull(ctx context.Context, out string, o PullOptions) (Pulled, error) {
	return Pulled{}, nil
}
