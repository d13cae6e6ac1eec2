package workspace

import (
	"path/filepath"
	"strings"

	"tandemux/host/workspace/filetree"
)

// Kind says where a workspace's files come from.
type Kind string

// The kinds.
const (
	Worktree   Kind = "worktree"   // a git worktree on a branch of its own
	Copy       Kind = "copy"       // a copy of a directory, kept as a new filesystem
	Filesystem Kind = "filesystem" // a filesystem that there is
	ReadOnly   Kind = "ro"         // a directory itself, read-only
	ReadWrite  Kind = "rw"         // a directory itself
	None       Kind = "none"       // a tmpfs
)

// Spec is what a workspace is to be.
type Spec struct {
	Kind Kind `json:"kind"`
	// Dir is the directory that it is made of, absolute: of worktree, any in the
	// repository; of copy, ro and rw, the directory.
	Dir string `json:"dir,omitempty"`
	// Filesystem is the id of a filesystem. Of copy it is the id that the new one
	// gets.
	Filesystem string `json:"filesystem,omitempty"`
	// Name names the task in the branch, tandemux/NAME; letters, digits, "-", "_", ".".
	Name string `json:"name,omitempty"`
	// Branch is the worktree's branch in full; empty: tandemux/NAME, or the next free of
	// tandemux/NAME-2, tandemux/NAME-3 …. One that exists is an error (ErrConflict).
	Branch string `json:"branch,omitempty"`
	// From is the commit that a worktree starts at; empty: the repository's HEAD.
	From string `json:"from,omitempty"`
	// NoUpdate is set when the caller may read the filesystem only (U83): files are
	// never brought back into it, and the mount is read-only.
	NoUpdate bool `json:"noUpdate,omitempty"`
}

// Parse reads what `--workspace` takes: worktree[:DIR], copy:DIR, ro:DIR, rw:DIR,
// fs:ID, none. A relative DIR is taken from cwd, which is absolute.
func Parse(text, cwd string) (Spec, error) {
	word, rest, has := strings.Cut(text, ":")
	spec := Spec{Kind: Kind(word)}
	switch spec.Kind {
	case Worktree:
		if !has {
			rest = "."
		}
	case Copy, ReadOnly, ReadWrite:
		if rest == "" {
			return Spec{}, filetree.Failf(filetree.ErrInvalid, "workspace %q: name the directory: %s:DIR", text, word)
		}
	case "fs", Filesystem:
		if err := filetree.CheckID("filesystem", rest); err != nil {
			return Spec{}, err
		}
		return Spec{Kind: Filesystem, Filesystem: rest}, nil
	case None:
		if has {
			return Spec{}, filetree.Failf(filetree.ErrInvalid, "workspace %q: none takes no directory", text)
		}
		return spec, nil
	default:
		return Spec{}, filetree.Failf(filetree.ErrInvalid, "workspace %q: want worktree, copy:DIR, ro:DIR, rw:DIR, fs:ID or none", text)
	}
	if !filepath.IsAbs(rest) {
		rest = filepath.Join(cwd, rest)
	}
	spec.Dir = filepath.Clean(rest)
	return spec, nil
}
