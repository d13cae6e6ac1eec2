package files

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"tandemux/ahp"
	"tandemux/ahp/resource"
)

// Bounds of changes.
const (
	maxRewritten = 64 << 20 // bytes of a file that is written anew for a change within
	maxCopied    = 1 << 30  // bytes of a copy
)

// tempPrefix begins the names of files that are being written. Watches leave them out.
const tempPrefix = ".tandemux-"

func tempName() string { return tempPrefix + rand.Text()[:12] }

// free refuses the changes that nobody may make by requests: of a root itself, and of
// what holds the host's own files or is among them.
func (s *Server) free(p place, uri ahp.URI) error {
	if p.rel == "." {
		return ahp.PermissionDenied("files: %q is a directory that this host serves, which stays", clip(uri))
	}
	over := slices.ContainsFunc(s.own, func(dir string) bool { _, over := below(dir, p.path()); return over })
	if over || s.isOwn(p) {
		return ahp.PermissionDenied("files: %q holds files of this host's own", clip(uri))
	}
	return nil
}

// isOwn reports whether a place is among the host's own files.
func (s *Server) isOwn(p place) bool {
	return slices.ContainsFunc(s.own, func(dir string) bool { _, in := below(p.path(), dir); return in })
}

// room finds the place of what may not be there yet, and the names on the way that are
// missing, "" when nothing is. With follow set a link at the end is followed; one that
// leads nowhere is an error on the way.
func (s *Server) room(uri ahp.URI, follow bool) (p place, missing string, err error) {
	path, err := s.path(uri)
	if err != nil {
		return p, "", err
	}
	var first error
	for at := path; ; at, follow = filepath.Dir(at), true {
		if p, err = s.find(at, uri, follow); err == nil {
			_, err = p.lstat()
		}
		switch {
		case err == nil:
			return p, missing, nil
		case first != nil && ahp.CodeOf(err) == ahp.CodePermissionDenied: // the root is gone
			return p, "", first
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		case ahp.CodeOf(err) != ahp.CodeNotFound:
			return p, "", fileError(uri, err)
		}
		first = fileError(uri, err)
		if link, linkErr := s.find(at, uri, false); linkErr == nil {
			if _, linkErr = link.lstat(); linkErr == nil {
				return p, "", first
			}
		}
		missing = filepath.Join(filepath.Base(at), missing)
	}
}

// target is where something is or can be made, in a directory that is there.
func (s *Server) target(uri ahp.URI, follow bool) (p place, there bool, err error) {
	p, missing, err := s.room(uri, follow)
	if err == nil && missing != "" {
		if info, statErr := p.lstat(); statErr != nil || !info.IsDir() || strings.ContainsRune(missing, filepath.Separator) {
			err = fileError(uri, fs.ErrNotExist)
		}
	}
	if err == nil {
		p.rel = filepath.Join(p.rel, missing)
		err = s.free(p, uri)
	}
	return p, missing == "", err
}

// write is one that is being carried out.
type write struct{ resource.WriteParams }

// content checks a write and decodes what it holds.
func (w *write) content() (data []byte, err error) {
	switch {
	case !slices.Contains([]string{"", resource.Truncate, resource.Append, resource.Insert}, w.Mode):
		return nil, ahp.InvalidParams("mode: %q is none of %q, %q and %q", clip(w.Mode), resource.Truncate, resource.Append, resource.Insert)
	case w.Position < 0:
		return nil, ahp.InvalidParams("position: it must be 0 or more")
	case w.Encoding == resource.UTF8:
		data = []byte(w.Data)
	case w.Encoding == resource.Base64:
		if data, err = base64.StdEncoding.DecodeString(w.Data); err != nil {
			return nil, ahp.InvalidParams("data: it is not base64")
		}
	default:
		return nil, ahp.InvalidParams("encoding: %q is neither %q nor %q", clip(w.Encoding), resource.UTF8, resource.Base64)
	}
	if len(data) > maxFileBytes {
		return nil, ahp.Conflict("write %q: that is more than %d bytes, the most that is written at once", clip(w.URI), maxFileBytes)
	}
	return data, nil
}

// Write writes a file (AHP's resourceWrite), as a whole or at its end in place, anything else by a new file in
// place of the old one. Of several writes one comes after the other.
func (s *Server) Write(p resource.WriteParams) error {
	w := write{p}
	data, err := w.content()
	if err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	at, _, err := s.target(w.URI, true)
	if err != nil {
		return err
	}
	return fileError(w.URI, at.in(func(root *os.Root) error {
		// From here on the directory is the same, whatever its name leads to.
		dir, err := root.OpenRoot(filepath.Dir(at.rel))
		if err != nil {
			return err
		}
		defer dir.Close()
		return w.into(dir, filepath.Base(at.rel), data)
	}))
}

func (w *write) into(dir *os.Root, name string, data []byte) error {
	info, err := dir.Lstat(name)
	there := err == nil
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case there && w.CreateOnly:
		return fs.ErrExist
	case w.IfMatch != nil && (!there || etag(info) != *w.IfMatch):
		return ahp.Conflict("write %q: it has changed: its etag is not %q", clip(w.URI), clip(*w.IfMatch))
	case !there && w.CreateOnly:
		return create(dir, name, bytes.NewReader(data), 0o666, false)
	case !there:
		return replace(dir, name, bytes.NewReader(data), 0o666, false)
	case info.IsDir():
		return ahp.InvalidParams("write %q: it is a directory", clip(w.URI))
	case !info.Mode().IsRegular():
		return ahp.PermissionDenied("write %q: it is not a file but a device, a pipe or a socket", clip(w.URI))
	case w.Mode == resource.Append && w.Position == 0:
		return extend(dir, name, data)
	}
	size := info.Size()
	head, tail := min(w.Position, size), size // what stays: up to head, and from tail on
	switch w.Mode {
	case resource.Append:
		head = max(size-w.Position, 0)
		tail = head
	case resource.Insert:
		tail = head
	}
	if head == 0 && tail == size {
		return replace(dir, name, bytes.NewReader(data), info.Mode().Perm(), true)
	}
	if size > maxRewritten {
		return ahp.Conflict("write %q: it has more than %d bytes, the most that are written anew for a change within", clip(w.URI), maxRewritten)
	}
	old, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer old.Close()
	return replace(dir, name, io.MultiReader(
		io.NewSectionReader(old, 0, head), bytes.NewReader(data), io.NewSectionReader(old, tail, size-tail),
	), info.Mode().Perm(), true)
}

// replace makes a file in place of what has its name.
func replace(dir *os.Root, name string, from io.Reader, mode fs.FileMode, exact bool) error {
	temp := tempName()
	err := create(dir, temp, from, mode, exact)
	if err == nil {
		if err = dir.Rename(temp, name); err != nil {
			dir.Remove(temp) //nolint:errcheck // the first error counts
		}
	}
	return err
}

// create makes a file that must not be there, or none; exact says that the umask does not
// count.
func create(dir *os.Root, name string, from io.Reader, mode fs.FileMode, exact bool) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if exact {
		err = f.Chmod(mode)
	}
	if err == nil {
		_, err = io.Copy(f, from)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		dir.Remove(name) //nolint:errcheck // the first error counts
	}
	return err
}

// extend writes at the end, wherever other writers have brought it.
func extend(dir *os.Root, name string, data []byte) error {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(data)
	return err
}

// Mkdir makes a directory and those that it is in (AHP's resourceMkdir).
func (s *Server) Mkdir(uri ahp.URI) error {
	p, missing, err := s.room(uri, true)
	if err != nil {
		return err
	}
	return fileError(uri, p.in(func(root *os.Root) error {
		if missing != "" {
			p.rel = filepath.Join(p.rel, missing)
			if err := s.free(p, uri); err != nil {
				return err
			}
			if err := root.MkdirAll(p.rel, 0o777); err != nil {
				return err
			}
		}
		if info, err := root.Stat(p.rel); err != nil || !info.IsDir() {
			return ahp.AlreadyExists("make the directory %q: that is a file", clip(uri))
		}
		return nil
	}))
}

// Delete removes a file, a link or a directory (AHP's resourceDelete); one that is not
// empty only if recursive is set, and not if too much is in it.
func (s *Server) Delete(ctx context.Context, uri ahp.URI, recursive bool) error {
	p, err := s.locate(uri, false)
	if err == nil {
		err = s.free(p, uri)
	}
	if err != nil {
		return err
	}
	return fileError(uri, p.in(func(root *os.Root) error {
		if !recursive {
			return root.Remove(p.rel)
		}
		if err := s.countable(ctx, root, p.rel, uri); err != nil {
			return err
		}
		return root.RemoveAll(p.rel)
	}))
}

// countable refuses a tree that is not there, or too large to be removed or replaced.
func (s *Server) countable(ctx context.Context, root *os.Root, rel string, uri ahp.URI) error {
	info, err := root.Lstat(rel)
	if err == nil && info.IsDir() {
		t := tree{root: root, left: s.limits.TreeEntries, lenient: true}
		err = t.walk(ctx, rel, func(string, fs.FileMode) error { return nil })
	}
	if errors.Is(err, errTooMany) {
		return ahp.Conflict("files: %q has more than %d entries, the most that are changed at once", clip(uri), s.limits.TreeEntries)
	}
	return fileError(uri, err)
}

// transfer does something with the two ends of a transfer, when they are fit for it: in is
// the root of the source, dir the destination's directory, which is the same from then on.
func (s *Server) transfer(ctx context.Context, t resource.TransferParams, follow bool, do func(from, to place, in, dir *os.Root) error) error {
	from, err := s.locate(t.Source, follow)
	if err != nil {
		return err
	}
	to, there, err := s.target(t.Destination, false)
	if err != nil {
		return err
	}
	in, err := os.OpenRoot(from.root)
	if err != nil {
		return fileError(t.Source, err)
	}
	defer in.Close()
	out, err := os.OpenRoot(to.root)
	if err != nil {
		return fileError(t.Destination, err)
	}
	defer out.Close()
	if _, err := in.Lstat(from.rel); err != nil {
		return fileError(t.Source, err)
	}
	if there && t.FailIfExists {
		return fileError(t.Destination, fs.ErrExist)
	}
	_, within := below(to.path(), from.path())
	if _, holds := below(from.path(), to.path()); within || holds {
		return ahp.Conflict("files: of %q and %q one is in the other", clip(t.Source), clip(t.Destination))
	}
	if there {
		if err := s.countable(ctx, out, to.rel, t.Destination); err != nil {
			return err
		}
	}
	dir, err := out.OpenRoot(filepath.Dir(to.rel))
	if err != nil {
		return fileError(t.Destination, err)
	}
	defer dir.Close()
	return do(from, to, in, dir)
}

// Move gives a file or a directory another name (AHP's resourceMove), in place of what
// has it.
func (s *Server) Move(ctx context.Context, t resource.TransferParams) error {
	return s.transfer(ctx, t, false, func(from, to place, in, dir *os.Root) error {
		if err := s.free(from, t.Source); err != nil {
			return err
		}
		if from.root != to.root {
			return ahp.Conflict("move %q: %q is not below the same directory: copy it", clip(t.Source), clip(t.Destination))
		}
		return fileError(t.Destination, install(dir, filepath.Base(to.rel), func() error { return in.Rename(from.rel, to.rel) }))
	})
}

// Copy copies a file or a directory (AHP's resourceCopy), in place of what has the name.
// Links in a directory stay the links that they are.
func (s *Server) Copy(ctx context.Context, t resource.TransferParams) error {
	return s.transfer(ctx, t, true, func(from, to place, in, dir *os.Root) error {
		name := filepath.Base(to.rel)
		temp := tempName()
		c := copying{from: tree{root: in, left: s.limits.TreeEntries}, to: dir, left: maxCopied}
		err := c.all(ctx, from.rel, temp)
		if err == nil {
			err = install(dir, name, func() error { return dir.Rename(temp, name) })
		}
		switch {
		case err == nil:
			err = c.close(name)
		case errors.Is(err, errTooMany):
			err = ahp.Conflict("copy %q: it has more than %d entries or %d bytes, the most that are copied", clip(t.Source), s.limits.TreeEntries, maxCopied)
		}
		if err == nil {
			return nil
		}
		dir.RemoveAll(temp) //nolint:errcheck // the first error counts
		return fileError(t.Source, err)
	})
}

// install has something renamed to a name of a directory. What had that goes, once it has.
func install(dir *os.Root, name string, rename func() error) error {
	err := rename()
	if !errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.EISDIR) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	old := tempName()
	if err := dir.Rename(name, old); err != nil {
		return err
	}
	if err := rename(); err != nil {
		return errors.Join(err, dir.Rename(old, name))
	}
	return dir.RemoveAll(old)
}
