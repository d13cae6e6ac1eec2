package daemon

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"tandemux/internal/statefile"
)

// Dirs are where the processes of one user's tandemux meet.
type Dirs struct {
	Runtime string // sockets and the lock
	State   string // log, tokens
}

// Make creates the directories, 0700, and refuses a runtime directory that
// somebody else could have put there.
func (d Dirs) Make() error {
	if err := os.MkdirAll(d.Runtime, 0o700); err != nil {
		return fmt.Errorf("make directory %s: %w", d.Runtime, err)
	}
	if err := os.MkdirAll(d.State, 0o700); err != nil && !statefile.Unwritable(err) {
		return fmt.Errorf("make directory %s: %w", d.State, err)
	}
	return d.Check()
}

// Check closes the directories, as far as they are there, to others, and reports whether
// they are safe to use.
func (d Dirs) Check() error {
	if err := statefile.Secure(d.State); err != nil {
		return fmt.Errorf("the state directory is not safe: %w", err)
	}
	if err := closeToOthers(d.State); err != nil && !statefile.Unwritable(err) {
		return err
	}
	if err := d.checkRuntime(); err != nil {
		return err
	}
	if err := statefile.Secure(d.Runtime); err != nil {
		return fmt.Errorf("the runtime directory is not safe: %w", err)
	}
	return nil
}

func (d Dirs) checkRuntime() error {
	info, err := os.Lstat(d.Runtime)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at %s: %w", d.Runtime, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory; move it away or set XDG_RUNTIME_DIR", d.Runtime)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to uid %d, not to you; set XDG_RUNTIME_DIR to a directory of your own", d.Runtime, st.Uid)
	}
	return closeToOthers(d.Runtime)
}

func closeToOthers(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("close %s to others: %w", dir, err)
	}
	return nil
}

// The socket paths can be at most 107 bytes long on Linux, 103 on macOS.
const maxSocketPath = 103

func (d Dirs) Socket(name string) (string, error) {
	p := filepath.Join(d.Runtime, name)
	if len(p) > maxSocketPath {
		return "", fmt.Errorf("the socket path %s is longer than %d bytes; set XDG_RUNTIME_DIR to a shorter directory", p, maxSocketPath)
	}
	return p, nil
}

// maxLog is the size at which a log is begun anew, keeping one old file.
const maxLog = 4 << 20

// OpenLog opens a log in the state directory, 0600.
func (d Dirs) OpenLog(name string) (*slog.Logger, func(), error) {
	// Whoever uses only hosts elsewhere has no directory yet.
	if err := os.MkdirAll(d.State, 0o700); err != nil && !statefile.Unwritable(err) {
		return nil, nil, fmt.Errorf("make the directory of the log: %w", err)
	}
	path := filepath.Join(d.State, name)
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil && !statefile.Unwritable(err) {
			return nil, nil, fmt.Errorf("rotate the log: %w", err)
		}
	}
	f, err := statefile.Open(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if statefile.Unwritable(err) { // Terminals matter more than their log.
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the log: %w", err)
	}
	return slog.New(slog.NewTextHandler(f, nil)), func() { f.Close() }, nil
}
