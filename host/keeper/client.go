package keeper

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// Client is the host's connection to a keeper. Its methods may be called from
// any goroutine. It does not reconnect: when Done is closed, Dial again, List,
// and Adopt.
type Client struct{}

// Process is a child that this host has the pty of. The caller owns Pty: it is
// non-blocking, close-on-exec, and closing it ends nothing.
type Process struct {
	ID  string
	Pid int
	Pty *os.File
}

// Dial connects to the keeper that listens on socket and agrees on a version.
// A host that was connected before is superseded. The error says what to do
// when nothing listens.
func Dial(ctx context.Context, socket string) (*Client, error) {
	return nil, errors.New("not yet")
}

// Spawn starts a child on a new pty. Errors that a caller branches on are
// ErrNoDir, ErrNoCommand, ErrNotExecutable, ErrExists and ErrInvalid; a failed
// Spawn leaves nothing behind.
func (c *Client) Spawn(ctx context.Context, s Spec) (Process, error) {
	return Process{}, errors.New("not yet")
}

// List reports all children that were not forgotten, oldest first.
func (c *Client) List(ctx context.Context) ([]Info, error) { return nil, errors.New("not yet") }

// Adopt returns the pty of a child that another host started, or ErrUnknown.
// A child that has exited can be adopted too: what it wrote last is still in
// the pty.
func (c *Client) Adopt(ctx context.Context, id string) (Process, error) {
	return Process{}, errors.New("not yet")
}

// Signal sends sig to the child's process group and to the foreground process
// group of its terminal. It is nil for a child that has exited and ErrUnknown
// for one that is not known.
func (c *Client) Signal(ctx context.Context, id string, sig syscall.Signal) error {
	return errors.New("not yet")
}

// Forget drops an exited child: its pty is closed and its exit not reported
// again. ErrRunning when it still runs, ErrUnknown when it is not known.
func (c *Client) Forget(ctx context.Context, id string) error { return errors.New("not yet") }

// Exits delivers how children ended: first those that ended before Dial and
// were not forgotten, then as it happens. It never drops one, however slowly it
// is read, and is closed after Done.
func (c *Client) Exits() <-chan Exit { return nil }

// Shutdown ends all children (SIGHUP and SIGTERM, SIGKILL after five seconds)
// and then the keeper. It returns when the keeper has let go.
func (c *Client) Shutdown(ctx context.Context) error { return errors.New("not yet") }

// Done is closed when the connection has ended; Err then says why.
func (c *Client) Done() <-chan struct{} { return nil }

// Err says why the connection ended; nil while it lasts and after Close.
// ErrSuperseded when another host took over.
func (c *Client) Err() error { return nil }

// Pid is the keeper's process id.
func (c *Client) Pid() int { return 0 }

// Close ends the connection. The children and the keeper live on.
func (c *Client) Close() error { return nil }
