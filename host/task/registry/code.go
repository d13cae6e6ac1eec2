package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"tandemux/host/task/store"
	"tandemux/host/workspace/filetree"
)

// Bounds of a definition's files.
const (
	MaxCodeFiles = 10_000
	MaxCodeBytes = 64 << 20 // bytes of all files
)

// CodeDir returns the directory with a version's read-only files, or "".
func (r *Registry) CodeDir(code string) string {
	if code == "" {
		return ""
	}
	return filepath.Join(r.dir, code)
}

// limits are the bounds in filetree's form.
var limits = filetree.Limits{Files: MaxCodeFiles, Bytes: MaxCodeBytes, FileSize: MaxCodeBytes}

// unpack stores the files of an archive under their hash, and returns the definition among them, or
// nil.
func (r *Registry) unpack(ctx context.Context, archive io.Reader) (code string, def *Definition, err error) {
	defer func() {
		switch {
		case err == nil || errors.Is(err, store.Invalid) || errors.Is(err, store.TooLarge):
		case errors.Is(err, filetree.ErrTooLarge):
			err = store.Errorf(store.TooLarge, "%w; leave files out by ignore", err)
		case errors.Is(err, filetree.ErrInvalid):
			err = store.Errorf(store.Invalid, "%w", err)
		default:
			err = fmt.Errorf("keep an agent's files: %w", err)
		}
	}()
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return "", nil, err
	}
	tmp, err := os.MkdirTemp(r.dir, ".new-")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(tmp)
	if _, err := filetree.Unpack(ctx, archive, tmp, filetree.PullOptions{Limits: &limits}); err != nil {
		return "", nil, err
	}
	if code, err = settle(ctx, tmp); err != nil {
		return "", nil, err
	}
	text, err := os.ReadFile(filepath.Join(tmp, DefinitionFile))
	if err == nil {
		d, err := ParseDefinition(text)
		if err != nil {
			return "", nil, err
		}
		def = &d
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", nil, store.Errorf(store.Invalid, "%s is no regular file", DefinitionFile)
	}
	err = os.Rename(tmp, r.CodeDir(code))
	if err != nil && !isThere(r.CodeDir(code)) {
		return "", nil, err
	}
	return code, def, nil
}

func isThere(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// settle makes files read-only, and returns the hash of their names, kinds and contents. Directories
// are not part of the hash.
func settle(ctx context.Context, dir string) (hash string, err error) {
	top, err := filetree.OpenFolder(dir)
	if err != nil {
		return "", err
	}
	defer top.Close()
	seen, err := filetree.Scan(ctx, top, limits, nil, nil)
	if err == nil {
		err = filetree.Take(ctx, top, seen, nil)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, e := range seen.Files {
		switch {
		case e.Mode.IsDir():
			continue
		case e.IsLink():
			if target := path.Join(path.Dir(e.Path), e.Target); path.IsAbs(e.Target) || !filepath.IsLocal(target) {
				return "", store.Errorf(store.Invalid, "the archive's %.100q links out of its directory, to %.100q", e.Path, e.Target)
			}
			fmt.Fprintf(sum, "%q link %q\n", e.Path, e.Target)
			continue
		}
		kind, mode := "file", fs.FileMode(0o400)
		if e.Mode&0o111 != 0 {
			kind, mode = "program", 0o500
		}
		if err := os.Chmod(filepath.Join(dir, e.Path), mode); err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%q %s %s\n", e.Path, kind, e.Version())
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// sweep removes files that no version has.
func (r *Registry) sweep(ctx context.Context) {
	r.files.Lock()
	defer r.files.Unlock()
	used, err := r.store.Codes(ctx)
	born, berr := r.store.Born(ctx)
	if err = errors.Join(err, berr); err != nil {
		r.o.Log.Warn("look for agents' files that nothing needs", "err", err)
		return
	}
	entries, err := os.ReadDir(r.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.o.Log.Warn("look for agents' files that nothing needs", "err", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		// Older files belong to another database, which was damaged or is gone.
		if !slices.Contains(used, e.Name()) && err == nil && !info.ModTime().Before(born) {
			if err := os.RemoveAll(filepath.Join(r.dir, e.Name())); err != nil {
				r.o.Log.Warn("remove an agent's files", "err", err)
			}
		}
	}
}

// Pack writes an archive of a definition's directory to w, without .git, .env files, and files that
// match ignore. Symbolic links stay links.
func Pack(ctx context.Context, w io.Writer, dir string, ignore []string) error {
	top, err := filetree.OpenFolder(dir)
	if err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	defer top.Close()
	// git's files are left out, those in which variables are kept, and those that the definition
	// ignores.
	seen, err := filetree.Scan(ctx, top, limits, nil, func(name string) bool {
		for _, p := range append([]string{".git", ".env", ".env.*"}, ignore...) {
			whole, _ := path.Match(p, name)
			if last, _ := path.Match(p, path.Base(name)); whole || last {
				return true
			}
		}
		return false
	})
	if err == nil && len(seen.Skipped) > 0 {
		err = fmt.Errorf("%s is no file, directory or symbolic link that can be read", seen.Skipped[0])
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w; name what isn't needed in ignore", dir, err)
	}
	return filetree.WriteTar(ctx, w, filetree.Part{From: filetree.Source{Top: top}, Entries: seen.Files})
}
