package daemon

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrTaken is Take's answer when the place has a holder.
var ErrTaken = errors.New("another one runs")

// Place is where one process of a kind can be: the byte of File that Key chooses.
type Place struct {
	File string // absolute; made by Take, 0600, and never removed
	Key  string
}

// PlaceOf is the place of the one process of its kind ("host", "keeper") for a
// runtime directory, in a state directory, which several machines and containers
// may share.
func PlaceOf(state, kind, runtime string) Place {
	machine, _ := os.Hostname()
	id, _ := os.ReadFile("/etc/machine-id")     // none on some systems
	pids, _ := os.Readlink("/proc/self/ns/pid") // nor this
	return Place{filepath.Join(state, kind+".lock"), strings.Join([]string{machine, string(id), pids, runtime}, "\x00")}
}

// A process that closes any descriptor of a file loses all its record locks there,
// so the files in which it has taken places stay open.
var taken = struct {
	sync.Mutex
	files map[string]*os.File
}{files: map[string]*os.File{}}

// Take makes this process the holder of the place, until release is called or the
// process ends. ErrTaken, with the holder's process id, when there is one. A
// process that has a place gets it again.
func (p Place) Take() (release func(), err error) {
	taken.Lock()
	defer taken.Unlock()
	f := taken.files[p.File]
	if f == nil {
		f, err = os.OpenFile(p.File, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the lock file: %w", err)
		}
		taken.files[p.File] = f
	}
	lock := p.lock(unix.F_WRLCK)
	err = unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		pid, _ := p.ask(f) //nolint:errcheck // it may end just now
		return nil, fmt.Errorf("%w: pid %d holds %s", ErrTaken, pid, p.File)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", p.File, err)
	}
	return func() {
		free := p.lock(unix.F_UNLCK)
		unix.FcntlFlock(f.Fd(), unix.F_SETLK, &free) //nolint:errcheck // it ends with the process
	}, nil
}

// Holder is the process that holds the place, 0 when none does. One that this
// process can't see, as in another container, is -1.
func (p Place) Holder() (pid int, err error) {
	taken.Lock()
	defer taken.Unlock()
	f := taken.files[p.File]
	if f == nil {
		f, err = os.OpenFile(p.File, os.O_RDWR|syscall.O_NOFOLLOW, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, fmt.Errorf("open the lock file: %w", err)
		}
		defer f.Close()
	}
	return p.ask(f)
}

func (p Place) ask(f *os.File) (pid int, err error) {
	lock := p.lock(unix.F_WRLCK)
	if err := unix.FcntlFlock(f.Fd(), unix.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("ask who holds %s: %w", p.File, err)
	}
	switch {
	case lock.Type == unix.F_UNLCK:
		return 0, nil
	case lock.Pid <= 0:
		return -1, nil
	}
	return int(lock.Pid), nil
}

// Signal signals the holder and gives its process id, 0 when there is none. No
// other process gets the signal where the system has descriptors of processes
// (Linux).
func (p Place) Signal(sig os.Signal) (pid int, err error) {
	if pid, err = p.Holder(); err != nil || pid <= 0 {
		return pid, err
	}
	// The process that is found has the number as long as it is held.
	proc, err := os.FindProcess(pid)
	if err != nil {
		return 0, err
	}
	defer proc.Release() //nolint:errcheck // nothing depends on it
	if again, err := p.Holder(); err != nil || again != pid {
		return 0, err
	}
	if err := proc.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return pid, fmt.Errorf("signal process %d: %w", pid, err)
	}
	return pid, nil
}

func (p Place) lock(kind int16) unix.Flock_t {
	sum := sha256.Sum256([]byte(p.Key))
	at := int64(binary.BigEndian.Uint64(sum[:]) >> 2)
	return unix.Flock_t{Type: kind, Start: at, Len: 1}
}
