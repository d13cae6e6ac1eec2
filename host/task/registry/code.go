package registry

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"tandemux/host/task/store"
)

// Bounds of a definition's files.
const (
	MaxCodeFiles = 10_000
	MaxCodeBytes = 64 << 20 // of all contents
)

// CodeDir is where a version's files are, read-only, "" for none.
func (r *Registry) CodeDir(code string) string {
	if code == "" {
		return ""
	}
	return filepath.Join(r.dir, code)
}

// unpack keeps the files of an archive under their hash, and reads the definition
// among them, nil when there is none.
func (r *Registry) unpack(archive io.Reader) (code string, def *Definition, err error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return "", nil, fmt.Errorf("keep an agent's files: %w", err)
	}
	tmp, err := os.MkdirTemp(r.dir, ".new-")
	if err != nil {
		return "", nil, fmt.Errorf("keep an agent's files: %w", err)
	}
	defer os.RemoveAll(tmp)
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return "", nil, fmt.Errorf("keep an agent's files: %w", err)
	}
	defer root.Close()
	if code, err = extract(root, archive); err != nil {
		return "", nil, err
	}
	text, err := fs.ReadFile(root.FS(), DefinitionFile)
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
		return "", nil, fmt.Errorf("keep an agent's files: %w", err)
	}
	return code, def, nil
}

func isThere(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// extract writes an archive's files below a root and gives the hash of their
// names, kinds and contents.
func extract(root *os.Root, archive io.Reader) (string, error) {
	lines := map[string]string{} // by name
	left := int64(MaxCodeBytes)
	for tr := tar.NewReader(archive); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", store.Errorf(store.Invalid, "the files are no tar archive: %w", err)
		}
		name := path.Clean(h.Name)
		if name == "." {
			continue
		}
		if !filepath.IsLocal(name) || strings.Contains(name, "\\") {
			return "", store.Errorf(store.Invalid, "the archive has %.100q, which is not below its directory", h.Name)
		}
		if len(lines) >= MaxCodeFiles {
			return "", store.Errorf(store.TooLarge, "the agent has more than %d files; leave some out by ignore", MaxCodeFiles)
		}
		if left -= h.Size; left < 0 {
			return "", store.Errorf(store.TooLarge, "the agent's files have more than %d bytes; leave some out by ignore", MaxCodeBytes)
		}
		if _, twice := lines[name]; twice && h.Typeflag != tar.TypeDir {
			return "", store.Errorf(store.Invalid, "the archive has %.100q twice", h.Name)
		}
		line, err := extractOne(root, tr, h, name)
		if err != nil {
			return "", err
		}
		if line != "" {
			lines[name] = line
		}
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(sum, "%q %s\n", name, lines[name])
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// extractOne writes an entry, and describes it; directories are of no account.
func extractOne(root *os.Root, tr io.Reader, h *tar.Header, name string) (string, error) {
	refused := func(err error) error {
		return fmt.Errorf("keep an agent's files: %w", err)
	}
	if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return "", store.Errorf(store.Invalid, "the archive's %.100q is below what is no directory", h.Name)
	}
	switch h.Typeflag {
	case tar.TypeDir:
		if err := root.MkdirAll(name, 0o700); err != nil {
			return "", store.Errorf(store.Invalid, "the archive's %.100q is a directory and something else", h.Name)
		}
		return "", nil
	case tar.TypeSymlink:
		target := path.Join(path.Dir(name), h.Linkname)
		if path.IsAbs(h.Linkname) || !filepath.IsLocal(target) {
			return "", store.Errorf(store.Invalid, "the archive's %.100q links out of its directory, to %.100q", h.Name, h.Linkname)
		}
		if err := root.Symlink(h.Linkname, name); err != nil {
			return "", refused(err)
		}
		return "link " + fmt.Sprintf("%q", h.Linkname), nil
	case tar.TypeReg:
	default:
		return "", store.Errorf(store.Invalid, "the archive's %.100q is no file, directory or symbolic link", h.Name)
	}
	kind, mode := "file", fs.FileMode(0o400)
	if h.Mode&0o111 != 0 {
		kind, mode = "program", 0o500
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", refused(err)
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), tr)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", refused(err)
	}
	return kind + " " + hex.EncodeToString(sum.Sum(nil)), nil
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
		// What is older than the database is another one's, that was damaged or is gone.
		if !slices.Contains(used, e.Name()) && err == nil && !info.ModTime().Before(born) {
			if err := os.RemoveAll(filepath.Join(r.dir, e.Name())); err != nil {
				r.o.Log.Warn("remove an agent's files", "err", err)
			}
		}
	}
}

// Pack writes the archive of a definition's directory, without .git and what the
// definition ignores. Symbolic links stay links.
func Pack(w io.Writer, dir string, ignore []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	defer root.Close()
	tw := tar.NewWriter(w)
	files, bytes := 0, int64(0)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case ignored(name, ignore) && d.IsDir():
			return fs.SkipDir
		case ignored(name, ignore):
			return nil
		case !d.IsDir() && !d.Type().IsRegular() && d.Type() != fs.ModeSymlink:
			return fmt.Errorf("%s is no file, directory or symbolic link; name it in ignore", name)
		}
		n, err := packOne(tw, root, name, d)
		files, bytes = files+1, bytes+n
		if err == nil && (files > MaxCodeFiles || bytes > MaxCodeBytes) {
			err = fmt.Errorf("it has more than %d files or %d bytes; name what isn't needed in ignore", MaxCodeFiles, MaxCodeBytes)
		}
		return err
	})
	if err == nil {
		err = tw.Close()
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", dir, err)
	}
	return nil
}

func packOne(tw *tar.Writer, root *os.Root, name string, d fs.DirEntry) (int64, error) {
	if d.IsDir() {
		return 0, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o700})
	}
	if d.Type() == fs.ModeSymlink {
		to, err := root.Readlink(name)
		if err != nil {
			return 0, err
		}
		return 0, tw.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to})
	}
	f, err := root.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	mode := int64(0o400)
	if info.Mode().Perm()&0o111 != 0 {
		mode = 0o500
	}
	if err := tw.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: mode}); err != nil {
		return 0, err
	}
	n, err := io.Copy(tw, io.LimitReader(f, info.Size()))
	if err == nil && n < info.Size() {
		err = fmt.Errorf("%s changed meanwhile", name)
	}
	return n, err
}

// ignored reports whether a deploy leaves a file out: git's own, what variables are kept
// in, and what the definition says.
func ignored(name string, patterns []string) bool {
	for _, p := range append([]string{".git", ".env", ".env.*"}, patterns...) {
		whole, _ := path.Match(p, name)
		last, _ := path.Match(p, path.Base(name))
		if whole || last {
			return true
		}
	}
	return false
}
