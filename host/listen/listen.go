package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"tandemux/ahp"
	"tandemux/internal/config/option"
	"tandemux/internal/daemon"
)

// ErrRunning is returned by Unix when another host of this user has the runtime
// directory.
var ErrRunning = errors.New("another tandemux host is running")

// Names of the files in the runtime directory.
const (
	SocketName = "host.sock"
	KeeperName = daemon.KeeperName
	LockName   = "host.lock"
)

// MaxSocketPath is the shortest of the systems' bounds (macOS), in bytes.
const MaxSocketPath = 103

// Socket is the host's unix listener together with the lock that makes it the
// only one of its runtime directory.
type Socket struct {
	*daemon.Listener
	runtime string

	mu      sync.Mutex
	lock    *os.File
	onClose func()
	closed  bool
}

// dyingTime bounds the wait for the lock of a host that nobody reaches: one that was killed
// has it until the kernel is done with its memory, and one that starts is reached soon.
const dyingTime = 2 * time.Second

func answers(socket string) bool {
	c, err := net.Dial("unix", socket)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// Unix makes the runtime directory (0700), takes host.lock and listens on
// host.sock (0600). It removes a socket that a dead host left behind, refuses a
// path that is something else, and gives ErrRunning when the lock is held.
func Unix(runtime string) (*Socket, error) {
	path := filepath.Join(runtime, SocketName)
	if len(path) > MaxSocketPath {
		return nil, fmt.Errorf("listen: the path %s is longer than the %d bytes a socket may have: set XDG_RUNTIME_DIR to a shorter one", path, MaxSocketPath)
	}
	lock, err := lockDirectory(runtime)
	for until := time.Now().Add(dyingTime); errors.Is(err, ErrRunning) && !answers(path) && time.Now().Before(until); lock, err = lockDirectory(runtime) {
		time.Sleep(10 * time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	ln, err := daemon.Listen(path)
	if err != nil {
		lock.Close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return &Socket{Listener: ln, runtime: runtime, lock: lock}, nil
}

// lockDirectory makes the runtime directory this host's.
func lockDirectory(runtime string) (*os.File, error) {
	if err := OwnDirectory(runtime); err != nil {
		return nil, err
	}
	return takeLock(filepath.Join(runtime, LockName))
}

// Rebind makes what is missing of the runtime directory, the lock and the socket:
// somebody has removed them, as logind does with the directory when the person has
// logged out everywhere. Connections stay.
func (s *Socket) Rebind() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.Bound() {
		return nil
	}
	if !s.locked() {
		lock, err := lockDirectory(s.runtime)
		if err != nil {
			return fmt.Errorf("bind the socket anew: %w", err)
		}
		s.lock.Close()
		s.lock = lock
	}
	if err := s.Listener.Rebind(); err != nil {
		return fmt.Errorf("bind the socket anew: %w", err)
	}
	return nil
}

// locked reports whether the lock file is still the one that is locked. The caller
// holds s.mu.
func (s *Socket) locked() bool {
	ours, err := s.lock.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(filepath.Join(s.runtime, LockName))
	return err == nil && os.SameFile(ours, there)
}

// OnClose has Close call f before it releases the lock.
func (s *Socket) OnClose(f func()) { s.onClose = f }

// OwnDirectory makes a directory that only this user can look into.
func OwnDirectory(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory: move it away", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Getuid() {
		return fmt.Errorf("%s belongs to uid %d, not to you: set XDG_RUNTIME_DIR to a directory of your own", dir, st.Uid)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// takeLock locks a file for this process's life. The file stays: removing it
// would let two hosts lock different files of one name.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%w: it holds %s", ErrRunning, path)
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	// For people and scripts that ask who holds it; nothing here reads it.
	if err := f.Truncate(0); err == nil {
		fmt.Fprintln(f, os.Getpid())
	}
	return f, nil
}

// Close closes the listener, removes the socket and releases the lock. Later
// calls do nothing.
func (s *Socket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.Listener.Close()
	if errors.Is(err, net.ErrClosed) { // the server has closed it
		err = nil
	}
	if s.onClose != nil {
		s.onClose()
	}
	// A child that is just being started may have the file too, until it runs.
	syscall.Flock(int(s.lock.Fd()), syscall.LOCK_UN) //nolint:errcheck // closing does it as well
	return errors.Join(err, s.lock.Close())
}

// TCP listens on a loopback address such as "127.0.0.1:7070" without
// encryption, or on any with plaintext: then whoever is on the way reads tokens
// and everything that is typed.
func TCP(addr string, plaintext bool) (net.Listener, error) {
	a, err := resolve(addr)
	if err != nil {
		return nil, err
	}
	if !a.IP.IsLoopback() && !plaintext {
		return nil, fmt.Errorf("listen on %q: other machines would reach this address, and the connection is not encrypted: use 127.0.0.1, or TLS, or allow it in so many words", addr)
	}
	ln, err := net.ListenTCP("tcp", a)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return ln, nil
}

// TLS listens on any address, with TLS 1.2 or later.
func TLS(addr string, c *Certificate) (net.Listener, error) {
	a, err := resolve(addr)
	if err != nil {
		return nil, err
	}
	ln, err := net.ListenTCP("tcp", a)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return &secureListener{tls.NewListener(ln, c.Config()), c}, nil
}

// secureListener knows its certificate.
type secureListener struct {
	net.Listener
	certificate *Certificate
}

func resolve(addr string) (*net.TCPAddr, error) {
	a, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %q: %w: use an address and a port, such as 127.0.0.1:7070", addr, err)
	}
	return a, nil
}

// OtherMachines reports whether an address to listen on can be reached from
// other machines.
func OtherMachines(addr string) (bool, error) {
	a, err := resolve(addr)
	return err == nil && !a.IP.IsLoopback(), err
}

// Addresses describes listeners as x-tandemux/host does.
func Addresses(all []net.Listener) ahp.HostResult {
	r := ahp.HostResult{Listen: []string{}, URLs: []string{}}
	for _, ln := range all {
		r.Listen = append(r.Listen, ln.Addr().String())
		r.URLs = append(r.URLs, urlOf(ln))
		if s, ok := ln.(*secureListener); ok {
			r.Fingerprint = s.certificate.Fingerprint()
		}
	}
	slices.Sort(r.Listen)
	slices.Sort(r.URLs)
	return r
}

// urlOf is a listener's address for clients; one that listens everywhere is
// named by the machine.
func urlOf(ln net.Listener) string {
	scheme := "ws"
	if _, ok := ln.(*secureListener); ok {
		scheme = "wss"
	}
	at := ln.Addr().String()
	if a, ok := ln.Addr().(*net.TCPAddr); ok && a.IP.IsUnspecified() {
		if name, err := os.Hostname(); err == nil && name != "" {
			at = net.JoinHostPort(name, strconv.Itoa(a.Port))
		}
	}
	return scheme + "://" + at
}

// HostNames are the names that an HTTP request may know a listener by.
type HostNames struct {
	address     net.Addr
	certificate *Certificate // nil unless encrypted
	configured  []string
	hostname    string // the machine's
}

// NamesOf are a listener's, besides those that are configured.
func NamesOf(ln net.Listener, configured []string, hostname string) HostNames {
	n := HostNames{address: ln.Addr(), configured: configured, hostname: hostname}
	if s, ok := ln.(*secureListener); ok {
		n.certificate = s.certificate
	}
	return n
}

// Origin is the Origin of pages from the listener itself, for the Host header of a
// request.
func (n HostNames) Origin(host string) string {
	if n.certificate != nil {
		return "https://" + host
	}
	return "http://" + host
}

// Allow reports whether a Host header names the listener. It keeps out names that an
// attacker's DNS points at us (DNS rebinding).
func (n HostNames) Allow(host string) bool {
	name, port := splitPort(host)
	own, ok := n.address.(*net.TCPAddr)
	if !ok {
		return false
	}
	if want := own.AddrPort().Port(); port != "" && port != strconv.Itoa(int(want)) {
		return false
	}
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	listen := own.AddrPort().Addr().Unmap()
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip == listen ||
			// An address cannot be rebound; listening everywhere, any is ours.
			listen.IsUnspecified()
	}
	named := func(s string) bool { return strings.EqualFold(s, name) }
	switch {
	case name == "localhost" || slices.ContainsFunc(n.configured, named):
		return true
	case name == "" || strings.ContainsAny(name, "*/ "):
		return false
	case n.certificate != nil && n.certificate.isFor(name):
		return true
	}
	// This machine's own name, where others than loopback may connect.
	return !listen.IsLoopback() && (named(n.hostname) || named(n.hostname+".local"))
}

func splitPort(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return host, ""
}

// Settings say where else than on its socket a host listens.
type Settings struct {
	Addresses []string // of TCP, such as "127.0.0.1:7070"
}

// Options gives the options, which keep their values in s.
func (s *Settings) Options() []option.Option {
	return []option.Option{{
		Name: "listen", Value: &s.Addresses,
		Doc: "Where the host also listens, such as \"127.0.0.1:7070\"; encrypted beyond this machine. Clients need a token: `tandemux token new`.",
		Check: option.Faulty(func() error {
			for _, addr := range s.Addresses {
				if _, err := resolve(addr); err != nil {
					return fmt.Errorf("%q is no address and port", addr)
				}
			}
			return nil
		}),
	}}
}

// Open listens on an address: without encryption on this machine's own, else with the
// certificate that is kept in the directory dir.
func Open(addr, dir string, log *slog.Logger) (net.Listener, error) {
	other, err := OtherMachines(addr)
	if err != nil {
		return nil, err
	}
	if !other {
		return TCP(addr, false)
	}
	c, err := SelfSigned(dir, log)
	if err != nil {
		return nil, err
	}
	return TLS(addr, c)
}
