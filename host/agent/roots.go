package agent

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// maxFile bounds what a Read returns and a Write takes, in bytes.
const maxFile = 10 << 20

// Refusals of paths outside of an agent's roots (P15).
var (
	ErrDirOutside  = &Refusal{Text: "Access denied: working directory outside allowed path"}
	ErrFileOutside = &Refusal{Text: "Access denied: path outside allowed path"}
)

// Roots are the directories that an agent works in. It implements Files: a path is resolved with its
// symbolic links and must then be in one of them, compared by whole components. The file is opened
// beneath that directory (os.Root), so a link that is created meanwhile can't lead out. Its methods
// may be called from any goroutine.
type Roots struct{ dirs []string }

// NewRoots resolves directories, of which there must be at least one.
func NewRoots(dirs []string) (*Roots, error) {
	if len(dirs) == 0 {
		return nil, errors.New("an agent needs a directory to work in")
	}
	r := &Roots{}
	for _, d := range dirs {
		if !filepath.IsAbs(d) {
			return nil, fmt.Errorf("the directory %q is not absolute", d)
		}
		dir, err := filepath.EvalSymlinks(d)
		if err != nil {
			return nil, fmt.Errorf("use directory: %w", err)
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("use directory: %s is not one", d)
		}
		r.dirs = append(r.dirs, dir)
	}
	return r, nil
}

// Dir resolves a working directory; empty means the first root.
func (r *Roots) Dir(path string) (string, error) {
	if path == "" {
		return r.dirs[0], nil
	}
	if !filepath.IsAbs(path) {
		return "", &Refusal{Text: fmt.Sprintf("the working directory %q is not absolute", path)}
	}
	root, rel, err := r.within(path)
	if err != nil {
		return "", err
	}
	if root == "" {
		return "", ErrDirOutside
	}
	dir := filepath.Join(root, rel)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", &Refusal{Text: fmt.Sprintf("there is no directory %q", path)}
	}
	return dir, nil
}

// within resolves a path and returns the root that it is in and the path relative to that; root is ""
// if it is in none.
func (r *Roots) within(path string) (root, rel string, err error) {
	if strings.ContainsRune(path, 0) {
		return "", "", &Refusal{Text: "the path has a zero byte in it"}
	}
	real, err := resolve(filepath.Clean(path))
	if err != nil {
		return "", "", err
	}
	for _, dir := range r.dirs {
		if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
			return dir, rel, nil
		}
	}
	return "", "", nil
}

// resolve resolves the symbolic links in the existing part of a path.
func resolve(path string) (string, error) {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		real, err := filepath.EvalSymlinks(at)
		switch {
		case err == nil:
			return filepath.Join(real, rest), nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("resolve %s: %w", path, err)
		case at == filepath.Dir(at):
			return "", fmt.Errorf("resolve %s: %w", path, err)
		}
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("resolve %s: a symbolic link leads nowhere: %w", path, fs.ErrNotExist)
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// open opens the root that a path is in.
func (r *Roots) open(path string) (*os.Root, string, error) {
	if !filepath.IsAbs(path) {
		return nil, "", &Refusal{Text: fmt.Sprintf("the path %q is not absolute", path)}
	}
	dir, rel, err := r.within(path)
	if err != nil {
		return nil, "", err
	}
	if dir == "" {
		return nil, "", ErrFileOutside
	}
	root, err := os.OpenRoot(dir)
	return root, rel, err
}

func (r *Roots) Read(ctx context.Context, path string, line, limit int) (string, error) {
	root, rel, err := r.open(path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	// Opening a pipe must not block.
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", outside(err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", &Refusal{Text: fmt.Sprintf("%s is not a regular file", path)}
	case line <= 1 && limit == 0 && info.Size() > maxFile:
		return "", tooLarge(path)
	}
	text, err := lines(ctx, f, line, limit)
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return "", tooLarge(path)
	case err != nil:
		return "", err
	case !utf8.ValidString(text):
		return "", &Refusal{Text: fmt.Sprintf("%s is not UTF-8 text", path)}
	}
	return text, nil
}

func tooLarge(path string) error {
	return &Refusal{Text: fmt.Sprintf("%s: that is more than %d MB: read a part with line and limit", path, maxFile>>20)}
}

// lines reads limit lines, or all if limit is 0. The error is bufio.ErrTooLong if they are too many
// bytes.
func lines(ctx context.Context, from io.Reader, line, limit int) (string, error) {
	var b strings.Builder
	r := bufio.NewReaderSize(from, 64<<10)
	for n := 1; limit == 0 || n < max(line, 1)+limit; {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		part, err := r.ReadSlice('\n')
		if n >= line {
			if b.Len()+len(part) > maxFile {
				return "", bufio.ErrTooLong
			}
			b.Write(part)
		}
		switch {
		case err == nil:
			n++
		case errors.Is(err, io.EOF):
			return b.String(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
	return b.String(), nil
}

// Write replaces or creates a file, with its parent directories.
func (r *Roots) Write(_ context.Context, path, content string) error {
	if len(content) > maxFile {
		return &Refusal{Text: fmt.Sprintf("%s: a file of more than %d MB can't be written", path, maxFile>>20)}
	}
	root, rel, err := r.open(path)
	if err != nil {
		return err
	}
	defer root.Close()
	mode := fs.FileMode(0o666)
	info, err := root.Stat(rel)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return &Refusal{Text: fmt.Sprintf("%s is not a regular file", path)}
	case err == nil:
		mode = info.Mode().Perm()
	case errors.Is(err, fs.ErrNotExist):
		if err := root.MkdirAll(filepath.Dir(rel), 0o777); err != nil {
			return outside(err)
		}
	default:
		return outside(err)
	}
	existed := err == nil
	temp := filepath.Join(filepath.Dir(rel), "."+filepath.Base(rel)[:min(len(filepath.Base(rel)), 100)]+"."+rand.Text()[:8])
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return outside(err)
	}
	_, err = f.WriteString(content)
	if existed && err == nil {
		err = f.Chmod(mode) // regardless of the umask
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = root.Rename(temp, rel)
	}
	if err != nil {
		root.Remove(temp)
		return outside(err)
	}
	return nil
}

// outside replaces os.Root's error about a path that leads out by a refusal.
func outside(err error) error {
	if p, is := errors.AsType[*fs.PathError](err); is && strings.Contains(p.Err.Error(), "escapes") {
		return ErrFileOutside
	}
	return err
}
