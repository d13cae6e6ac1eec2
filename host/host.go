package host

import (
	"context"
	"errors"
	"log/slog"
	"net"

	"cotty/host/keeper"
)

// Names of the files in the runtime directory.
const (
	SocketName = "host.sock"
	KeeperName = "keeper.sock"
	LockName   = "host.lock"
)

// Config is what a Host needs. Directories must be absolute.
type Config struct {
	// Runtime holds the sockets and the lock (0700), State the tokens and the
	// audit log, Config the user's files.
	Runtime, State, Config string
	// Shell is an absolute path; empty means $SHELL, then the passwd entry.
	Shell string
	// Engine names the emulator; empty means engine.Default.
	Engine string
	// Version is reported to clients and children.
	Version string
	// Log gets what the host does, never what terminals show; nil discards.
	Log *slog.Logger
	// Keeper owns the ptys. The host takes it over and closes it on Shutdown.
	Keeper *keeper.Client
	// Listen holds the TCP addresses that Run listens on. Others than loopback
	// are refused unless AllowRemote is set.
	Listen      []string
	AllowRemote bool
	// Origins are the browser origins that may connect over TCP, such as
	// "https://example.org"; none by default.
	Origins []string
	// Limits bounds everything from outside; zero members mean the defaults.
	Limits Limits
}

// Kind says how a listener's peers are authenticated.
type Kind int

// The kinds of listener.
const (
	Unix Kind = iota // same uid by SO_PEERCRED: the operator
	TCP              // a token
)

// Host is the one writer of all state.
type Host struct{}

// New makes a host; it serves nothing yet.
func New(c Config) (*Host, error) { return nil, errors.New("not built yet") }

// Serve accepts connections until ctx ends, the host stops, or the listener
// fails. It closes ln. A stop gives nil.
func (h *Host) Serve(ctx context.Context, ln net.Listener, kind Kind) error { return nil }

// Run serves the unix listener and every address of Config.Listen until ctx
// ends or a client stops the host, then shuts down. Terminals end only with a
// stop (x-cotty/stop); otherwise the keeper keeps them.
func (h *Host) Run(ctx context.Context, ln *Socket) error { return nil }

// Shutdown closes every connection and listener. It does not end terminals:
// the keeper keeps them.
func (h *Host) Shutdown(ctx context.Context) error { return nil }

// Done is closed when the host has stopped: after Shutdown, or after a client's
// x-cotty/stop has ended all terminals.
func (h *Host) Done() <-chan struct{} { return nil }

// Limits bounds what clients can ask for. Zero members mean the defaults.
type Limits struct {
	Connections   int // open at once
	Terminals     int // existing at once, exited ones included
	Subscriptions int // per connection
	FrameBytes    int // per message from a client
	QueueBytes    int // waiting for one connection before it is closed
}

// ErrRunning is returned by Listen when another host of this user has the
// runtime directory.
var ErrRunning = errors.New("another cotty host is running")

// Socket is the host's unix listener together with the lock that makes it the
// only one of its runtime directory.
type Socket struct{ *net.UnixListener }

// Listen makes the runtime directory (0700), takes host.lock and listens on
// host.sock (0600). It removes a socket that a dead host left behind, refuses a
// path that is something else, and gives ErrRunning when the lock is held.
func Listen(runtime string) (*Socket, error) { return nil, errors.New("not built yet") }

// Path is the socket's path, the value of COTTY in terminals.
func (s *Socket) Path() string { return "" }

// Close closes the listener, removes the socket and releases the lock.
func (s *Socket) Close() error { return nil }

// ListenTCP listens on a loopback address, or on any with allowRemote.
func ListenTCP(addr string, allowRemote bool) (net.Listener, error) {
	return nil, errors.New("not built yet")
}
