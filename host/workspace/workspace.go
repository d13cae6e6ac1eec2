package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandemux/host/git"
	"tandemux/host/workspace/filetree"
	"tandemux/host/workspace/folders"
)

// Info is what is known about a workspace.
type Info struct {
	ID      string    `json:"id"` // the task's id
	Kind    Kind      `json:"kind"`
	Dir     string    `json:"dir,omitempty"`    // on this machine; empty for kind none
	Source  string    `json:"source,omitempty"` // the directory, or the top of the repository
	Created time.Time `json:"created"`

	Branch string `json:"branch,omitempty"` // worktree
	// Base is, of a worktree, the commit that it began at or was updated to; else the version of the
	// base's manifest.
	Base string `json:"base,omitempty"`

	Merged time.Time `json:"merged,omitzero"` // worktree: when its work was last merged

	Filesystem string `json:"filesystem,omitempty"`
	NoUpdate   bool   `json:"noUpdate,omitempty"`
	Gone       bool   `json:"gone,omitempty"` // somebody deleted the directory
	// Conflicts are files that both sides changed, at most 1000: with a filesystem, those that were
	// left different; of a worktree, those that an update left.
	Conflicts []string `json:"conflicts,omitempty"`
}

// record is the contents of STATE/tasks/ID/workspace.json: first what is to be made, then what exists.
type record struct {
	Info
	Spec Spec `json:"spec"`
	// Done is set once the workspace is complete. Until then it is to be removed.
	Done bool `json:"done"`
	// Deleting is set once it is being deleted. What is left of it is to be removed.
	Deleting bool `json:"deleting,omitempty"`

	Common string `json:"common,omitempty"` // worktree: the repository's git directory
	Admin  string `json:"admin,omitempty"`  // worktree: its own git directory in Common
	// Made is set if the branch was made for this workspace, at the commit Start.
	Made  bool   `json:"made,omitempty"`
	Start string `json:"start,omitempty"`
	// Upstream is the full name of the branch that a worktree was made from; empty if it was a commit.
	Upstream string `json:"upstream,omitempty"`
	// Update is an update in progress.
	Update *updating `json:"update,omitempty"`
	Moving string    `json:"moving,omitempty"` // a commit that the branch is being moved to
	Home   *coming   `json:"home,omitempty"`   // work that is being merged
	// Taken is the last commit of the sandboxed agent's branch that is in the repository.
	Taken string `json:"taken,omitempty"`
}

// Workspace is the workspace of a task. It may be used after somebody has deleted the workspace: what
// needs the files then returns ErrNotFound.
type Workspace struct {
	store *Store
	id    string
	info  Info
	files string // of kind none: where the files are, if anywhere
}

func (s *Store) taskDir(task string) string { return filepath.Join(s.options.State, "tasks", task) }

func (w *Workspace) path(name string) string { return filepath.Join(w.store.taskDir(w.id), name) }

// Names in a task's directory.
const (
	filesName  = "workspace"
	recordName = "workspace.json"
	baseName   = "workspace.base"

	gitName = "workspace.git"
	// gitFileName is beside that directory and not in it, because the agent must not be able to write
	// what is mounted.
	gitFileName = "workspace.gitfile"
	stageName   = "workspace.stage" // files that are being copied into the workspace
	systemName  = "system"
	// incomingName has files that are being copied into system folders.
	incomingName = "workspace.incoming"
	modulesName  = "workspace.modules" // which submodules were filled, and with what
)

func (w *Workspace) load() (*record, error) {
	b, err := os.ReadFile(w.path(recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, filetree.Failf(filetree.ErrNotFound, "task %s has no workspace", filetree.Clip(w.id))
	}
	if err != nil {
		return nil, err
	}
	r := &record{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, filetree.Failf(filetree.ErrDamaged, "the record of the workspace of task %s is damaged: %w", w.id, err)
	}
	return r, nil
}

func (w *Workspace) save(r *record) error {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return filetree.ReplaceFile(w.path(recordName), append(b, '\n'), false)
}

// Create makes the workspace of a task, or returns the existing one if it was made from the same Spec.
// One that is incomplete is removed first. If ctx ends, what was made is removed.
func (s *Store) Create(ctx context.Context, task string, spec Spec) (*Workspace, error) {
	if err := filetree.CheckID("task", task); err != nil {
		return nil, err
	}
	makers := map[Kind]func(context.Context, *Workspace, *record) error{
		Worktree: makeWorktree, Copy: makeCopy, Filesystem: makeAttached,
		ReadOnly: makeBound, ReadWrite: makeBound, None: makeNone,
	}
	make, ok := makers[spec.Kind]
	if !ok {
		return nil, filetree.Failf(filetree.ErrInvalid, "there is no kind of workspace %q", filetree.Clip(string(spec.Kind)))
	}
	unlock := s.moving.Lock(task)
	defer unlock()
	w := &Workspace{store: s, id: task}
	switch r, err := w.load(); {
	case err == nil && r.Deleting:
		if _, err := w.drop(ctx, r, false); err != nil {
			return nil, err
		}
	case err == nil && r.Done && r.Spec == spec:
		w.info = r.Info
		return w, nil
	case err == nil && r.Done:
		return nil, filetree.Failf(filetree.ErrConflict, "task %s has a workspace already, made otherwise", task)
	case err == nil:
		if err := w.unmake(ctx, r); err != nil {
			return nil, err
		}
	case !errors.Is(err, filetree.ErrNotFound):
		return nil, err
	}
	if err := os.MkdirAll(s.taskDir(task), 0o700); err != nil {
		return nil, filetree.Full(err)
	}
	r := &record{Spec: spec, Info: Info{ID: task, Kind: spec.Kind, Created: time.Now().UTC().Truncate(time.Millisecond), NoUpdate: spec.NoUpdate}}
	err := make(ctx, w, r)
	if err == nil {
		r.Done = true
		err = w.save(r)
	}
	if err != nil {
		if e := w.unmake(context.WithoutCancel(ctx), r); e != nil {
			err = errors.Join(err, e)
		}
		return nil, err
	}
	w.info = r.Info
	return w, nil
}

// The functions that make a workspace of a kind save the record before they make anything that unmake
// has to find.

func makeNone(_ context.Context, _ *Workspace, _ *record) error { return nil }

func makeBound(_ context.Context, w *Workspace, r *record) error {
	dir, err := realDir(r.Spec.Dir)
	if err != nil {
		return err
	}
	if rel, err := filepath.Rel(w.store.options.State, dir); err == nil && (rel == "." || filepath.IsLocal(rel)) {
		return filetree.Failf(filetree.ErrInvalid, "%s belongs to tandemux itself", dir)
	}
	r.Source, r.Dir, r.NoUpdate = dir, dir, r.Kind == ReadOnly || r.NoUpdate
	return nil
}

// realDir returns a directory's path without symbolic links.
func realDir(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", filetree.Failf(filetree.ErrInvalid, "the directory %q is not absolute", filetree.Clip(dir))
	}
	at, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", filetree.Missing(err, "the directory %s", dir)
	}
	if st, err := os.Stat(at); err != nil || !st.IsDir() {
		return "", filetree.Failf(filetree.ErrInvalid, "%s is not a directory", dir)
	}
	return at, nil
}

func makeCopy(ctx context.Context, w *Workspace, r *record) error {
	dir, err := realDir(r.Spec.Dir)
	if err != nil {
		return err
	}
	r.Source, r.Filesystem = dir, r.Spec.Filesystem
	r.Filesystem = cmp.Or(r.Filesystem, w.id)
	if err := filetree.CheckID("filesystem", r.Filesystem); err != nil {
		return err
	}
	if _, err := w.store.Tree(r.Filesystem); err == nil {
		name := r.Filesystem
		r.Filesystem = "" // unmake must not remove it
		return filetree.Failf(filetree.ErrConflict, "there is a filesystem %s already", name)
	}
	r.Made = true
	if err := w.save(r); err != nil {
		return err
	}
	t, err := w.store.NewTree(ctx, r.Filesystem, dir)
	if err != nil {
		return err
	}
	return w.attach(ctx, r, t)
}

func makeAttached(ctx context.Context, w *Workspace, r *record) error {
	t, err := w.store.Tree(r.Spec.Filesystem)
	if err != nil {
		return err
	}
	r.Filesystem = r.Spec.Filesystem
	if err := w.save(r); err != nil {
		return err
	}
	return w.attach(ctx, r, t)
}

// attach copies the filesystem's files into the workspace.
func (w *Workspace) attach(ctx context.Context, r *record, t *filetree.Tree) error {
	if err := t.Pin(w.id); err != nil {
		return err
	}
	v, err := t.ViewOf(filetree.PinName(w.id))
	if err != nil {
		return err
	}
	defer v.Close()
	stage, final := w.path(stageName), w.path(filesName)
	top, err := filetree.NewFolder(stage)
	if err != nil {
		return err
	}
	defer top.Close()
	if err := filetree.LayOut(ctx, v.Source(), top, v.Entries); err != nil {
		return err
	}
	if err := os.Chmod(stage, 0o755); err != nil {
		return err
	}
	if err := filetree.ReplaceFile(w.path(baseName), (&filetree.Sheet{Manifest: v.Manifest, Local: true}).Encode(), false); err != nil {
		return err
	}
	r.Dir, r.Base = final, v.Version()
	return os.Rename(stage, final)
}

// unmake removes an incomplete workspace, and what it was made of.
func (w *Workspace) unmake(ctx context.Context, r *record) error {
	_, err := w.release(ctx, r, true, r.Made)
	return err
}

// release removes the worktree, the filesystem's reference for the task, the filesystem itself if made
// is set, and the files.
func (w *Workspace) release(ctx context.Context, r *record, force, made bool) (kept string, err error) {
	if r.Kind == Worktree {
		if kept, err = w.dropWorktree(ctx, r, force); err != nil {
			return "", err
		}
	}
	if t, err := w.store.Tree(r.Filesystem); err == nil {
		if err := t.Unpin(w.id); err != nil {
			return "", err
		}
		if made {
			if err := w.store.RemoveTree(r.Filesystem); err != nil {
				return "", err
			}
		}
	}
	return kept, w.removeFiles()
}

// removeFiles removes this package's files in the task's directory, the record last.
func (w *Workspace) removeFiles() error {
	list, err := os.ReadDir(w.store.taskDir(w.id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names := []string{}
	for _, e := range list {
		if name := e.Name(); name == systemName || strings.HasPrefix(name, filesName) && name != recordName {
			names = append(names, name)
		}
	}
	for _, name := range append(names, recordName) {
		if err := filetree.RemoveTree(w.path(name)); err != nil {
			return fmt.Errorf("remove the workspace of task %s: %w", w.id, err)
		}
	}
	_ = os.Remove(w.store.taskDir(w.id)) // fails if others have files in it
	return nil
}

// Workspace returns the workspace of a task, or ErrNotFound if there is none or it is incomplete.
func (s *Store) Workspace(task string) (*Workspace, error) {
	if err := filetree.CheckID("task", task); err != nil {
		return nil, filetree.Failf(filetree.ErrNotFound, "there is no task %q", filetree.Clip(task))
	}
	w := &Workspace{store: s, id: task}
	r, err := w.load()
	if err != nil {
		return nil, err
	}
	if err := r.usable(); err != nil {
		return nil, err
	}
	w.info = r.Info
	if r.Update != nil && r.Update.Left {
		w.info.Conflicts = git.PathsOf(r.Update.Unmerged)
		w.info.Conflicts = w.info.Conflicts[:min(len(w.info.Conflicts), filetree.MaxListed)]
	}
	return w, nil
}

// Remove removes a task's workspace, even an incomplete one; see Workspace.Delete.
func (s *Store) Remove(ctx context.Context, task string, force bool) (Removed, error) {
	if err := filetree.CheckID("task", task); err != nil {
		return Removed{}, err
	}
	return (&Workspace{store: s, id: task}).Delete(ctx, force)
}

func (w *Workspace) Info() Info {
	i := w.info
	if i.Dir != "" {
		st, err := os.Stat(i.Dir)
		i.Gone = err != nil || !st.IsDir()
	}
	return i
}

// Dir returns the directory on this machine; "" for kind none.
func (w *Workspace) Dir() string { return w.info.Dir }

// At returns a workspace of kind none whose files are in dir for now, so that they can be copied out.
// It does not change workspaces of other kinds.
func (w *Workspace) At(dir string) *Workspace {
	at := *w
	at.files = dir
	return &at
}

// begin locks the workspace and finishes what a host that died was doing.
func (w *Workspace) begin() (*record, func(), error) {
	unlock := w.store.moving.Lock(w.id)
	r, err := w.load()
	if err == nil {
		err = r.usable()
	}
	if err == nil && r.Update != nil && !r.Update.Left {
		err = w.carry(context.Background(), r, r.Update) // the host died during the update
		if r.Update == nil {
			err = nil // done, or given up
		}
	}
	if err == nil && r.Moving != "" {
		err = w.moved(context.Background(), r)
	}
	if err == nil && r.Home != nil {
		err = w.arrived(context.Background(), r) // the host died during the merge
	}
	if err != nil {
		unlock()
		return nil, nil, err
	}
	return r, unlock, nil
}

// name returns the name of the task for people.
func (r *record) name() string { return cmp.Or(r.Spec.Name, r.ID) }

// usable returns an error if the workspace is deleted or incomplete.
func (r *record) usable() error {
	switch {
	case r.Deleting:
		return filetree.Failf(filetree.ErrNotFound, "the workspace of task %s was deleted", r.ID)
	case !r.Done:
		return filetree.Failf(filetree.ErrNotFound, "the workspace of task %s was not made wholly", r.ID)
	}
	return nil
}

func (r *record) open() (*filetree.Folder, error) {
	if r.Dir == "" {
		return nil, filetree.Failf(filetree.ErrUnsupported, "the workspace of task %s is a tmpfs: its files are in the sandbox only, and end with it", r.ID)
	}
	top, err := filetree.OpenFolder(r.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, filetree.Failf(filetree.ErrNotFound, "the workspace of task %s was deleted: %s is not there any more", r.ID, r.Dir)
	}
	return top, err
}

// repository returns an error if a worktree's repository does not exist.
func (r *record) repository() error {
	if _, err := os.Stat(r.Dir); err != nil {
		return nil //nolint:nilerr // the error about the directory says more
	}
	if _, err := os.Stat(r.Common); errors.Is(err, fs.ErrNotExist) {
		return filetree.Failf(filetree.ErrNotFound, "the repository %s of task %s is not there: it was moved or deleted, or its disk is not mounted", r.Common, r.ID)
	}
	return nil
}

// SystemFolders returns the task's system folders (U6).
func (w *Workspace) SystemFolders() *folders.Folders {
	incoming := w.path(incomingName)
	return &folders.Folders{
		Dir: w.path(systemName), Task: w.id, Limits: w.store.Limits,
		Incoming: incoming, Alone: func() func() { return w.store.moving.Lock(incoming) },
		Lock: func() (func(), error) {
			_, unlock, err := w.begin()
			return unlock, err
		},
	}
}
