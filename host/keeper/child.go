package keeper

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/internal/pty"
)

// child is one process with its pty. keeper.mu guards info.Exit and dropped. master is closed,
// under keeper.mu, when the child is forgotten.
type child struct {
	info    Info
	master  int
	dropped bool          // forget it once it has ended, without a report
	ended   chan struct{} // closed after info.Exit was set
}

// maxSize is the largest number in a winsize.
const maxSize = 1<<16 - 1

// check refuses a Spec that cannot be started, before anything is made.
func (s *Spec) check() error {
	switch {
	case s.ID == "" || len(s.ID) > 256:
		return because(ErrInvalid, "start a child: the id must have 1 to 256 bytes, not %d", len(s.ID))
	case len(s.Argv) == 0 || s.Argv[0] == "":
		return because(ErrInvalid, "start %s: there is no command", s.ID)
	case s.Cols < 1 || s.Cols > maxSize || s.Rows < 1 || s.Rows > maxSize:
		return because(ErrInvalid, "start %s: size %d×%d is out of range 1..%d", s.Argv[0], s.Cols, s.Rows, maxSize)
	case !filepath.IsAbs(s.Dir):
		return because(ErrInvalid, "start %s: directory %q is not absolute", s.Argv[0], s.Dir)
	case len(s.Note) > MaxNote:
		return because(ErrInvalid, "start %s: a note of %d bytes is over the limit of %d", s.Argv[0], len(s.Note), MaxNote)
	}
	for _, v := range [][]string{s.Argv, s.Env, {s.Dir}} {
		for _, w := range v {
			if strings.IndexByte(w, 0) >= 0 {
				return because(ErrInvalid, "start %s: a zero byte in its command, environment or directory", s.Argv[0])
			}
		}
	}
	return nil
}

// start makes the pty and the process, whose standard input is stdin unless that is
// negative; on an error nothing is left.
func start(s *Spec, stdin int) (*child, error) {
	if err := checkDir(s.Dir); err != nil {
		return nil, err
	}
	path, err := FindCommand(s)
	if err != nil {
		return nil, err
	}
	// They stay out of Go's poller: a registered master would wake the keeper for every
	// byte that a child writes, and the poller's O_NONBLOCK would break programs.
	master, slave, err := pty.Pair()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Argv[0], err)
	}
	defer unix.Close(slave)
	if err := spare(master); err != nil {
		unix.Close(master)
		return nil, fmt.Errorf("start %s: %w", s.Argv[0], err)
	}
	// Programs that draw pictures want the size in pixels: assume cells of 8x16, as the host does.
	size := unix.Winsize{Col: uint16(s.Cols), Row: uint16(s.Rows), Xpixel: uint16(s.Cols * 8), Ypixel: uint16(s.Rows * 16)}
	if err := unix.IoctlSetWinsize(master, unix.TIOCSWINSZ, &size); err != nil {
		unix.Close(master)
		return nil, fmt.Errorf("start %s: set the terminal's size: %w", s.Argv[0], err)
	}
	env := s.Env
	if env == nil {
		env = []string{} // nil would mean the keeper's own
	}
	if stdin < 0 {
		stdin = slave
	}
	tty := uintptr(slave)
	// Not os.StartProcess, which keeps a descriptor for each process.
	pid, _, err := syscall.StartProcess(path, s.Argv, &syscall.ProcAttr{
		Dir: s.Dir, Env: env, Files: []uintptr{uintptr(stdin), tty, tty},
		Sys: &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1},
	})
	if err != nil {
		unix.Close(master)
		return nil, explainStart(path, err)
	}
	return &child{
		info: Info{
			ID: s.ID, Pid: pid, Argv: boundArgv(s.Argv), Dir: s.Dir,
			Started: time.Now().UnixMilli(), Note: s.Note,
		},
		master: master, ended: make(chan struct{}),
	}, nil
}

// explainStart words why exec refused a file that passed the checks.
func explainStart(path string, err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return fmt.Errorf("start %s: %w", path, err)
	}
	switch errno {
	case syscall.ENOEXEC:
		return because(ErrNotExecutable, "start %s: the file is neither a program for this machine nor a script with #!", path)
	case syscall.EACCES:
		return because(ErrNotExecutable, "start %s: permission denied", path)
	case syscall.ENOENT:
		return because(ErrNotExecutable, "start %s: its interpreter or loader is missing", path)
	case syscall.E2BIG:
		return because(ErrInvalid, "start %s: its arguments and environment are too long for the system", path)
	}
	return fmt.Errorf("start %s: %w", path, errno)
}

// boundArgv shortens argv for List.
func boundArgv(argv []string) []string {
	const limit = 1 << 10
	left := limit
	for i, a := range argv {
		if left -= len(a); left < 0 {
			return append(append([]string(nil), argv[:i]...), "…")
		}
	}
	return argv
}

// checkDir says clearly why a child could not start in dir.
func checkDir(dir string) error {
	fi, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return because(ErrNoDir, "directory %s does not exist", dir)
	case err != nil:
		return because(ErrNoDir, "directory %s: %v", dir, errors.Unwrap(err))
	case !fi.IsDir():
		return because(ErrNoDir, "%s is not a directory", dir)
	}
	if err := unix.Access(dir, unix.X_OK); err != nil {
		return because(ErrNoDir, "directory %s may not be entered: %v", dir, err)
	}
	return nil
}

// FindCommand resolves Argv[0] as execvp would in the child's directory with
// the child's PATH, except that relative entries of PATH don't count.
func FindCommand(s *Spec) (string, error) {
	name := s.Argv[0]
	if strings.ContainsRune(name, '/') {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(s.Dir, name)
		}
		switch err := executable(full); {
		case err == nil:
			return full, nil
		case errors.Is(err, os.ErrNotExist):
			return "", because(ErrNoCommand, "command %s does not exist", name)
		default:
			return "", because(ErrNotExecutable, "command %s is not executable: %v", name, err)
		}
	}
	var denied error
	for _, dir := range filepath.SplitList(pathOf(s.Env)) {
		if !filepath.IsAbs(dir) {
			continue
		}
		full := filepath.Join(dir, name)
		err := executable(full)
		if err == nil {
			return full, nil
		}
		if denied == nil && !errors.Is(err, os.ErrNotExist) {
			denied = because(ErrNotExecutable, "command %s is not executable: %v", full, err)
		}
	}
	if denied != nil {
		return "", denied
	}
	return "", because(ErrNoCommand, "command %s was not found in PATH", name)
}

// pathOf is the last PATH of an environment, or the system's usual one.
func pathOf(env []string) string {
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = v
		}
	}
	return path
}

// executable reports why a file cannot be executed, nil when it can.
func executable(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		if pe, is := errors.AsType[*os.PathError](err); is {
			if pe.Err == syscall.ENOTDIR {
				return os.ErrNotExist
			}
			return pe.Err
		}
		return err
	}
	if fi.IsDir() {
		return syscall.EISDIR
	}
	return unix.Access(path, unix.X_OK)
}

// signal sends sig to the child's process group and the terminal's foreground group. The caller
// holds keeper.mu and knows that the child was not reaped, so no other process can have either
// id.
func (c *child) signal(sig syscall.Signal) error {
	err := syscall.Kill(-c.info.Pid, sig)
	if fg, ferr := unix.IoctlGetInt(c.master, unix.TIOCGPGRP); ferr == nil && fg > 0 && fg != c.info.Pid {
		if ferr := syscall.Kill(-fg, sig); err != nil {
			err = ferr
		}
	}
	if errors.Is(err, syscall.ESRCH) {
		return nil // it has just ended
	}
	return err
}

// exitOf says how a reaped process ended.
func exitOf(id string, ws unix.WaitStatus) Exit {
	if ws.Signaled() {
		name := cmp.Or(unix.SignalName(ws.Signal()), fmt.Sprintf("SIG%d", int(ws.Signal())))
		return Exit{ID: id, Code: 128 + int(ws.Signal()), Signal: name}
	}
	return Exit{ID: id, Code: ws.ExitStatus()}
}
