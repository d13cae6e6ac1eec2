package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/adrg/xdg"

	"tandemux/internal/statefile"
)

// dirs are the places of one user's tandemux.
type dirs struct {
	runtime string // sockets and the lock
	state   string // log, tokens
	config  string // config.toml, themes
}

// findDirs follows the XDG base directories. Without XDG_RUNTIME_DIR the
// sockets live in a directory of this user's own below the temporary one.
func findDirs() dirs {
	xdg.Reload()
	runtime := os.Getenv("XDG_RUNTIME_DIR")
	if runtime == "" {
		runtime = filepath.Join(os.TempDir(), "tandemux-"+strconv.Itoa(os.Getuid()))
	} else {
		runtime = filepath.Join(runtime, "tandemux")
	}
	return dirs{
		runtime: runtime,
		state:   filepath.Join(xdg.StateHome, "tandemux"),
		config:  filepath.Join(xdg.ConfigHome, "tandemux"),
	}
}

// make creates the directories, 0700, and refuses a runtime directory that
// somebody else could have put there.
func (d dirs) make() error {
	if err := os.MkdirAll(d.runtime, 0o700); err != nil {
		return fmt.Errorf("make directory %s: %w", d.runtime, err)
	}
	if err := os.MkdirAll(d.state, 0o700); err != nil && !statefile.Unwritable(err) {
		return fmt.Errorf("make directory %s: %w", d.state, err)
	}
	return d.check()
}

// check reports whether the runtime directory, if there, is safe to use.
func (d dirs) check() error {
	info, err := os.Lstat(d.runtime)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", d.runtime, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory; move it away or set XDG_RUNTIME_DIR", d.runtime)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to uid %d, not to you; set XDG_RUNTIME_DIR to a directory of your own", d.runtime, st.Uid)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(d.runtime, 0o700); err != nil {
			return fmt.Errorf("close %s to others: %w", d.runtime, err)
		}
	}
	return nil
}

// The socket paths can be at most 107 bytes long on Linux, 103 on macOS.
const maxSocketPath = 103

func (d dirs) socket(name string) (string, error) {
	p := filepath.Join(d.runtime, name)
	if len(p) > maxSocketPath {
		return "", fmt.Errorf("the socket path %s is longer than %d bytes; set XDG_RUNTIME_DIR to a shorter directory", p, maxSocketPath)
	}
	return p, nil
}
