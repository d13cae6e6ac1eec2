package shell

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// Launch is how a process is started: its arguments, the first of which is the
// program, and its complete environment.
type Launch struct {
	Argv []string
	Env  []string
}

// The variables by which a script learns what is ours. Each takes them out of
// the environment as the first thing it does.
const (
	envNonce = "COTTY_SHELL_NONCE"
	// envKept holds the user's value of a variable that had to be borrowed; it
	// is not set when the user had none.
	envKept = "COTTY_SHELL_KEPT"
)

//go:embed all:script
var scripts embed.FS

// Inject changes how an interactive shell is started so that it marks its
// commands, and returns the nonce of its marks. It reports false, and the launch
// as it was, for what has to be left alone: programs that are no bash, zsh or
// fish, and shells that get arguments other than -i, -l and --login, as -c, a
// script, or options that keep startup files from being read.
//
// dir is a directory for the scripts, which is made if it is missing; it must be
// the user's alone, and its path absolute. The scripts stay there under a name
// made from what they say, so that hosts of several versions may share it; they
// may be removed when no shell is just starting. An error says that dir can't be
// used; the launch is then as it was and may go ahead without marks.
func Inject(l Launch, dir string) (out Launch, nonce string, ok bool, err error) {
	if len(l.Argv) == 0 {
		return l, "", false, nil
	}
	args, interactive := kinds[filepath.Base(l.Argv[0])]
	if !interactive || slices.ContainsFunc(l.Argv[1:], func(a string) bool { return !plainArgs[a] }) {
		return l, "", false, nil
	}
	login := slices.ContainsFunc(l.Argv[1:], func(a string) bool { return strings.Contains(a, "l") && a != "--interactive" })
	change := change{Launch: Launch{Argv: slices.Clone(l.Argv), Env: slices.Clone(l.Env)}, login: login}
	if !args.suits(&change) {
		return l, "", false, nil
	}
	root, err := install(dir)
	if err != nil {
		return l, "", false, fmt.Errorf("install the shell integration: %w", err)
	}
	nonce = rand.Text()
	args.change(&change, filepath.Join(root, args.folder))
	change.set(envNonce, nonce)
	return change.Launch, nonce, true, nil
}

// plainArgs are the arguments that a shell may have and still be injected.
var plainArgs = map[string]bool{
	"-i": true, "-l": true, "-il": true, "-li": true, "--login": true, "--interactive": true,
}

// kind is how a shell is made to run its script.
type kind struct {
	folder string
	suits  func(*change) bool
	change func(c *change, folder string)
}

var kinds = map[string]kind{
	"bash": {"bash", suitsBash, changeBash},
	"zsh":  {"zsh", suitsZsh, changeZsh},
	"fish": {"fish", func(*change) bool { return true }, changeFish},
}

// change is a launch that is being changed.
type change struct {
	Launch
	login bool
}

func (c *change) get(name string) (string, bool) {
	for _, kv := range slices.Backward(c.Env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

func (c *change) unset(name string) {
	c.Env = slices.DeleteFunc(c.Env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

func (c *change) set(name, value string) {
	c.unset(name)
	c.Env = append(c.Env, name+"="+value)
}

// borrow sets a variable whose value the script restores.
func (c *change) borrow(name, value string) {
	c.unset(envKept)
	if old, ok := c.get(name); ok {
		c.set(envKept, old)
	}
	c.set(name, value)
}

// suitsBash leaves a bash alone that shall start in POSIX mode, which reads
// other startup files, and Apple's, which ignores ENV.
func suitsBash(c *change) bool {
	_, posix := c.get("POSIXLY_CORRECT")
	return !posix && (runtime.GOOS != "darwin" || c.Argv[0] != "/bin/bash")
}

// changeBash has an interactive bash read our script in place of ~/.bashrc,
// which the script reads then. A login shell ignores --init-file, and reads none
// of the user's files in POSIX mode but what ENV names: our script, which leaves
// POSIX mode and reads the others.
func changeBash(c *change, folder string) {
	script := filepath.Join(folder, "cotty.bash")
	if c.login {
		c.Argv = slices.Insert(c.Argv, 1, "--posix")
		c.borrow("ENV", script)
		return
	}
	c.Argv = slices.Insert(c.Argv, 1, "--init-file", script)
}

// suitsZsh leaves a zsh alone whose user has no startup file at all: it greets
// new users with questions, unless it finds such a file, as it would find ours.
func suitsZsh(c *change) bool {
	dir, ok := c.get("ZDOTDIR")
	if !ok {
		dir, _ = c.get("HOME")
	}
	return runtime.GOOS == "darwin" || slices.ContainsFunc([]string{".zshenv", ".zprofile", ".zshrc", ".zlogin"}, func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	})
}

// changeZsh has zsh look for its startup files in our folder, which has only a
// .zshenv: it restores ZDOTDIR before anything else is read.
func changeZsh(c *change, folder string) {
	c.borrow("ZDOTDIR", folder)
}

// changeFish runs our script after the user's configuration.
func changeFish(c *change, folder string) {
	quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(filepath.Join(folder, "cotty.fish"))
	c.Argv = slices.Insert(c.Argv, 1, "--init-command", "source '"+quoted+"'")
}

// install puts the scripts into a folder of dir named after their contents, if
// they are not there yet, and returns it.
func install(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%q is not an absolute path", dir)
	}
	if err := private(dir); err != nil {
		return "", err
	}
	files, sum, err := embedded()
	if err != nil {
		return "", err
	}
	root := filepath.Join(dir, "shell-"+sum)
	for name, text := range files {
		path := filepath.Join(root, name)
		if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, text) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := replace(path, text); err != nil {
			return "", err
		}
	}
	return root, nil
}

// private makes dir if it is missing, and checks that nobody else may write to
// it or read it: shells run what is in it.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others have access to %s (mode %04o): chmod it to 0700", dir, info.Mode().Perm())
	case ok && int(stat.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to user %d, not to %d", dir, stat.Uid, os.Getuid())
	}
	return nil
}

// replace writes a file at once, so that a shell that starts now reads the old
// one or the new one.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// embedded returns the scripts by their path in the folder, and a short hash.
func embedded() (files map[string][]byte, sum string, err error) {
	files = map[string][]byte{}
	hash := sha256.New()
	err = fs.WalkDir(scripts, "script", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := scripts.ReadFile(path)
		name := strings.TrimPrefix(path, "script/")
		files[name] = text
		fmt.Fprintf(hash, "%s %d\n", name, len(text))
		hash.Write(text)
		return err
	})
	return files, hex.EncodeToString(hash.Sum(nil))[:12], err
}
