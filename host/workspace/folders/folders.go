package folders

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/workspace/filetree"
)

// Folders are the system folders of a task.
type Folders struct {
	Dir, Task string
	Limits    filetree.Limits
	// Incoming is a directory beside Dir that exists while files are received. Alone waits until no
	// other call uses it.
	Incoming string
	Alone    func() (unlock func())
	// Lock keeps everything else from changing the task's files.
	Lock func() (unlock func(), err error)
}

// Make returns the path of a folder, which it makes if it does not exist (U6). name is ".claude",
// ".codex", ".config/opencode" and the like.
func (f *Folders) Make(name string) (string, error) {
	if err := filetree.CheckPath(name); err != nil {
		return "", err
	}
	if first, _, _ := strings.Cut(name, "/"); !strings.HasPrefix(name, ".") || first == "." {
		return "", filetree.Failf(filetree.ErrInvalid, "the system folder %q is none: its name begins with a dot", filetree.Clip(name))
	}
	if err := os.MkdirAll(f.Dir, 0o700); err != nil {
		return "", filetree.Full(err)
	}
	top, err := filetree.OpenFolder(f.Dir)
	if err != nil {
		return "", err
	}
	defer top.Close()
	d, err := top.Grow(name)
	if err != nil {
		return "", filetree.Full(err)
	}
	d.Close()
	names, err := f.Names()
	if err != nil {
		return "", err
	}
	if !slices.Contains(names, name) {
		b, err := json.Marshal(append(names, name))
		if err != nil {
			return "", err
		}
		if err := filetree.ReplaceFile(filepath.Join(f.Dir, "folders.json"), b, false); err != nil {
			return "", err
		}
	}
	return filepath.Join(f.Dir, filepath.FromSlash(name)), nil
}

// Names returns the names of the folders that exist.
func (f *Folders) Names() ([]string, error) {
	b, err := filetree.ReadOptional(filepath.Join(f.Dir, "folders.json"))
	if err != nil || b == nil {
		return nil, err
	}
	var names []string
	if err := json.Unmarshal(b, &names); err != nil {
		return nil, filetree.Failf(filetree.ErrDamaged, "the list of system folders of task %s is damaged", f.Task)
	}
	return names, nil
}

// Type returns the name of a folder in requests (U6): dot_claude for .claude.
func Type(folder string) string { return "dot_" + strings.TrimPrefix(folder, ".") }

// Of returns the folder of a type.
func Of(kind string) string { return "." + strings.TrimPrefix(kind, "dot_") }

// Choose returns the folders of some types, or all if there are none. A type without a folder is an
// error.
func Choose(all, types []string) (names []string, err error) {
	if len(types) == 0 {
		return all, nil
	}
	for _, one := range types {
		switch name := Of(one); {
		case slices.Contains(all, name) && Type(name) == one:
			names = append(names, name)
		case len(all) == 0:
			return nil, fmt.Errorf("there is no folder type %q: the task runs without a sandbox, so its agent uses your home directory", filetree.Clip(one))
		default:
			var known []string
			for _, name := range all {
				known = append(known, Type(name))
			}
			return nil, fmt.Errorf("there is no folder type %q; the task has %s", filetree.Clip(one), strings.Join(known, ", "))
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names))), nil
}

// Selection says which folders to copy.
type Selection struct {
	Names []string
	// Leave are paths below them that are not touched on either side, with everything in them: the
	// mounted logins.
	Leave []string
	// Delete removes what the archive does not have, from the folders that it has.
	Delete bool
	// Ready returns why the folders may not be changed, or nil. It is called while they are locked.
	Ready func() error
}

// Brought is what was written into system folders.
type Brought struct {
	Folders []string `json:"folders" doc:"The system folders that the archive has"`
	Changed []string `json:"files_changed" doc:"What was written or removed, at most 1000"`
	Count   int      `json:"count" doc:"Of all that was written or removed"`
	Skipped []string `json:"skipped" doc:"What the archive has besides, and logins, which stay as they are; at most 1000"`
}

// Leaves reports whether a path must not be touched.
func (s *Selection) Leaves(path string) bool {
	return slices.ContainsFunc(s.Leave, func(p string) bool { return filetree.Under(path, p) })
}

// above reports whether a path is a folder, or an ancestor of one.
func (s *Selection) above(path string) bool {
	return slices.ContainsFunc(s.Names, func(name string) bool { return filetree.Under(name, path) })
}

// outside returns the first part of a path that is in none of the folders, or "" if the path is in
// one.
func (s *Selection) outside(path string) string {
	if slices.ContainsFunc(s.Names, func(name string) bool { return filetree.Under(path, name) }) {
		return ""
	}
	for i := range path {
		if path[i] == '/' && !s.above(path[:i]) {
			return path[:i]
		}
	}
	if s.above(path) {
		return ""
	}
	return path
}

// Read writes those files of an archive into folders that differ, as whole files. The archive has a
// folder under its own name: .claude/settings.json. Anything else in it is left out.
func (f *Folders) Read(ctx context.Context, archive io.Reader, s Selection) (Brought, error) {
	out := Brought{Folders: []string{}, Changed: []string{}, Skipped: []string{}}
	if len(s.Names) == 0 {
		return out, filetree.Failf(filetree.ErrUnsupported, "task %s runs without a sandbox, so it has no system folders: its agent uses your home directory", f.Task)
	}
	defer f.Alone()() // an archive may arrive slowly, and a turn must not wait for it
	unlock, err := f.Lock()
	if err != nil {
		return out, err
	}
	unlock()
	in, err := filetree.NewFolder(f.Incoming)
	if err != nil {
		return out, err
	}
	defer func() { _ = filetree.RemoveTree(f.Incoming) }()
	defer in.Close()
	var odd string
	seen := map[string]bool{}
	entries, from, err := filetree.Receive(ctx, archive, in, f.Limits, func(e *filetree.Entry) bool {
		skip := s.outside(e.Path)
		switch {
		case skip == "" && s.Leaves(e.Path):
			skip = e.Path
		case skip == "":
			if s.above(e.Path) && !e.Mode.IsDir() {
				odd = cmp.Or(odd, e.Path)
			}
			return false
		}
		if !seen[skip] && len(out.Skipped) < filetree.MaxListed {
			out.Skipped = append(out.Skipped, skip)
		}
		seen[skip] = true
		return true
	})
	switch {
	case err != nil:
		return out, err
	case odd != "":
		return out, filetree.Failf(filetree.ErrInvalid, "%q is no directory in the archive, so nothing of it was taken", filetree.Clip(odd))
	}
	for _, name := range s.Names {
		if _, there := filetree.Search(entries, name); there {
			out.Folders = append(out.Folders, name)
		}
	}
	if len(out.Folders) == 0 {
		return out, filetree.Failf(filetree.ErrInvalid, "the archive has none of %s: paths in it begin with a folder's name, such as %s/settings.json", strings.Join(s.Names, ", "), s.Names[0])
	}
	unlock, err = f.Lock()
	if err != nil {
		return out, err
	}
	defer unlock()
	if s.Ready != nil {
		if err := s.Ready(); err != nil {
			return out, err
		}
	}
	return out, f.bring(ctx, &s, &out, entries, from)
}

// bring changes what differs in the folders that an archive has.
func (f *Folders) bring(ctx context.Context, s *Selection, out *Brought, entries []filetree.Entry, from filetree.Source) error {
	s.Names = out.Folders
	for _, name := range s.Names {
		if _, err := f.Make(name); err != nil {
			return err
		}
	}
	top, err := filetree.OpenFolder(f.Dir)
	if err != nil {
		return err
	}
	defer top.Close()
	local, err := filetree.Scan(ctx, top, f.Limits, nil, func(path string) bool { return s.outside(path) != "" || s.Leaves(path) })
	if err != nil {
		return err
	}
	if err := filetree.Take(ctx, top, local, nil); err != nil {
		return err
	}
	var changes []filetree.Change
	filetree.WalkThree(local.Files, entries, nil, func(path string, now, next, _ *filetree.Entry) {
		if s.above(path) || filetree.Equal(now, next) || next == nil && (!s.Delete || local.Hidden(path)) {
			return
		}
		changes = append(changes, filetree.Change{Path: path, To: next, Was: now})
		out.Count++
		if len(out.Changed) < filetree.MaxListed {
			out.Changed = append(out.Changed, path)
		}
	})
	return (&filetree.Applier{Ctx: ctx, Top: top, Stage: filepath.Join(f.Incoming, "stage"), From: from}).Apply(changes)
}
