package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
)

// Listener listens on a unix socket, which it can bind anew.
type Listener struct {
	path string

	mu     sync.Mutex
	ln     *net.UnixListener
	id     fileID
	closed bool
}

// fileID tells a file from another one of the same name.
type fileID struct {
	dev, ino uint64
}

// Listen binds a socket that only this user can use (0600). A socket that is there
// is replaced: the caller knows that nobody listens on it. Anything else is refused.
func Listen(path string) (*Listener, error) {
	l := &Listener{path: path}
	var err error
	l.ln, l.id, err = bind(path)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func bind(path string) (*net.UnixListener, fileID, error) {
	switch info, err := os.Lstat(path); {
	case err == nil && info.Mode()&os.ModeSocket == 0:
		return nil, fileID{}, fmt.Errorf("%s is not a socket: move it away", path)
	case err == nil:
		if err := os.Remove(path); err != nil {
			return nil, fileID{}, fmt.Errorf("remove a dead process's socket: %w", err)
		}
	case !os.IsNotExist(err):
		return nil, fileID{}, err
	}
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fileID{}, err
	}
	// The directory is for this user alone; until here that protects the socket.
	err = os.Chmod(path, 0o600)
	id, there := identify(path)
	if err == nil && !there {
		err = fmt.Errorf("%s was removed", path)
	}
	if err != nil {
		ln.Close()
		return nil, fileID{}, err
	}
	return ln, id, nil
}

func identify(path string) (id fileID, ok bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return fileID{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}, false
	}
	return fileID{uint64(st.Dev), st.Ino}, true
}

// Bound reports whether the socket still has its name.
func (l *Listener) Bound() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	id, ok := identify(l.path)
	return ok && id == l.id
}

// Rebind binds the socket anew, in a directory that exists. Connections stay.
func (l *Listener) Rebind() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	ln, id, err := bind(l.path)
	if err != nil {
		return err
	}
	old := l.ln
	l.ln, l.id = ln, id
	old.SetUnlinkOnClose(false) // the name is the new one's
	old.Close()                 // Accept goes on with the new one
	return nil
}

// AcceptUnix is Accept.
func (l *Listener) AcceptUnix() (*net.UnixConn, error) {
	for {
		l.mu.Lock()
		ln := l.ln
		l.mu.Unlock()
		c, err := ln.AcceptUnix()
		if err == nil || !errors.Is(err, net.ErrClosed) {
			return c, err
		}
		l.mu.Lock()
		same := ln == l.ln
		l.mu.Unlock()
		if same {
			return nil, err
		}
	}
}

func (l *Listener) Accept() (net.Conn, error) {
	c, err := l.AcceptUnix()
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

func (l *Listener) Path() string { return l.path }

// Close closes the listener, and removes the socket if it is still the one that
// was bound.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	l.closed = true
	id, ok := identify(l.path)
	l.ln.SetUnlinkOnClose(ok && id == l.id)
	return l.ln.Close()
}
