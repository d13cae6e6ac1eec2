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
	// MaxNames bounds what is named, maxFiles and maxBytes what one name stands for.
	MaxNames = 20
	maxFiles = 1000
	maxBytes = 16 << 20
)

// Copy is a copy of what a name stands for.
type Copy struct {
	Name string // relative to the home directory
	Path string // absolute
}

// item is a file, a directory or a link that is copied.
type item struct {
	name string // relative to home
	info fs.FileInfo
	link string
}

// Seed copies what names stand for, relative to home, below into, and says which are not there.
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

// seed makes or finds a copy, and removes those of what was there before.
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

// look lists what a name stands for, directories before what is in them.
func look(root *os.Root, name string) ([]item, error) {
	info, err := root.Stat(name) // the owner may have linked it within the home directory
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

// check refuses what is no file of a login.
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

// lay copies an item, which must be what was looked at.
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
	if errors.Is(err, io.EOF) { // it is shorter by now
		err = nil
	}
	return errors.Join(err, out.Close())
}

// Place makes something empty in a folder of a task's, where a copy is mounted over it.
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

// Check says what is wrong with a name of the configuration, and gives it relative to the home
// directory.
func Check(text string) (string, error) {
	name, ok := strings.CutPrefix(text, "~/")
	if !ok || !filepath.IsLocal(name) || filepath.Clean(name) != name || !strings.HasPrefix(name, ".") || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%.64q is no file of a login in your home directory: give one such as \"~/.claude/.credentials.json\"", text)
	}
	return name, nil
}
