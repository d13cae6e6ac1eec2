package login

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const (
	// MaxNames bounds the number of names; maxFiles and maxBytes bound the files of one name.
	MaxNames = 20
	maxFiles = 1000
	maxBytes = 16 << 20
)

// Copy is a copy of the files of one name.
type Copy struct {
	Name string // relative to the home directory
	Path string // absolute
}

// item is a file, directory or link to copy.
type item struct {
	name string // relative to home
	info fs.FileInfo
	link string
}

// Seed copies the named files, relative to home, below into, and returns those names that do not
// exist.
func Seed(home, into string, names []string) (copies []Copy, missing []string, err error) {
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil, nil, fmt.Errorf("look for logins: %w", err)
	}
	defer root.Close()
	if err := os.MkdirAll(into, 0o700); err != nil {
		return nil, nil, fmt.Errorf("make a place for logins: %w", err)
	}
	for i, name := range names {
		path, err := seed(root, filepath.Join(into, strconv.Itoa(i)), name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, name)
		case err != nil:
			return nil, nil, fmt.Errorf("copy the login ~/%s: %w", name, err)
		default:
			copies = append(copies, Copy{name, path})
		}
	}
	return copies, missing, nil
}

// seed returns the directory of a copy, which it makes if the files have changed, and removes older
// copies.
func seed(root *os.Root, at, name string) (string, error) {
	items, err := look(root, name)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, it := range items {
		fmt.Fprintf(sum, "%q %v %d %d %q\n", it.name, it.info.Mode(), it.info.Size(), it.info.ModTime().UnixNano(), it.link)
	}
	dir := at + "-" + hex.EncodeToString(sum.Sum(nil)[:8])
	path := filepath.Join(dir, filepath.Base(name))
	if _, err := os.Lstat(path); err == nil {
		return path, nil
	}
	old, err := filepath.Glob(at + "-*")
	if err != nil {
		return "", err
	}
	half, err := os.MkdirTemp(filepath.Dir(at), "half-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(half)
	for _, it := range items {
		if err := lay(root, it, filepath.Join(half, strings.TrimPrefix("/"+it.name, filepath.Join("/", filepath.Dir(name))))); err != nil {
			return "", err
		}
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return "", err
		}
	}
	return path, os.Rename(half, dir)
}

// look lists the files of a name, directories before their contents.
func look(root *os.Root, name string) ([]item, error) {
	info, err := root.Stat(name) // a link within the home directory is allowed
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		it := item{name: name, info: info}
		return []item{it}, it.check(maxBytes)
	}
	top, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	var items []item
	room := int64(maxBytes)
	err = fs.WalkDir(top.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		it := item{name: filepath.Join(name, path)}
		if it.info, err = d.Info(); err != nil {
			return err
		}
		if len(items) >= maxFiles {
			return fmt.Errorf("it has more than %d files: name those that are the login", maxFiles)
		}
		if d.Type() == fs.ModeSymlink {
			if it.link, err = top.Readlink(path); err == nil {
				_, err = top.Stat(path)
			}
			if err != nil || filepath.IsAbs(it.link) {
				return fmt.Errorf("%s is a link that leads out of it, or nowhere", filepath.Join("~", it.name))
			}
		} else if err := it.check(room); err != nil {
			return err
		}
		if it.info.Mode().IsRegular() {
			room -= it.info.Size()
		}
		items = append(items, it)
		return nil
	})
	return items, err
}

// check returns an error if the item can't be part of a login, or is larger than room bytes.
func (it item) check(room int64) error {
	switch mode := it.info.Mode(); {
	case mode.IsDir():
	case !mode.IsRegular():
		return fmt.Errorf("%s is neither a file nor a directory", filepath.Join("~", it.name))
	case it.info.Size() > room:
		return fmt.Errorf("it has more than %d MiB: name the files that are the login", maxBytes>>20)
	}
	return nil
}

// lay copies an item, which must not have changed since look.
func lay(root *os.Root, it item, to string) error {
	switch {
	case it.link != "":
		return os.Symlink(it.link, to)
	case it.info.IsDir():
		return os.Mkdir(to, 0o700)
	}
	from, err := root.OpenFile(it.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	now, err := from.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(now, it.info) {
		return fmt.Errorf("%s was changed meanwhile", filepath.Join("~", it.name))
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|it.info.Mode().Perm()&0o100)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, from, it.info.Size())
	if errors.Is(err, io.EOF) { // the file has become shorter
		err = nil
	}
	return errors.Join(err, out.Close())
}

// Place makes an empty file or directory in a task's folder, on which the copy is mounted.
func (c Copy) Place(folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := os.Stat(c.Path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		err = root.Mkdir(filepath.Base(c.Name), 0o700)
	} else if f, e := root.OpenFile(filepath.Base(c.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); e == nil {
		err = f.Close()
	} else {
		err = e
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Check returns a name of the configuration relative to the home directory, or why it is not valid.
func Check(text string) (string, error) {
	name, ok := strings.CutPrefix(text, "~/")
	if !ok || !filepath.IsLocal(name) || filepath.Clean(name) != name || !strings.HasPrefix(name, ".") || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%.64q is no file of a login in your home directory: give one such as \"~/.claude/.credentials.json\"", text)
	}
	return name, nil
}
