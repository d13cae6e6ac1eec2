package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/internal/daemon"
	"tandemux/internal/pace"
	"tandemux/internal/rawio"
)

// Client is the host's connection to a keeper. Its methods may be called from
// any goroutine. It does not reconnect: when Done is closed, Dial again, List,
// and Adopt.
type Client struct {
	wire    *wire
	pid     int
	version int // that both speak

	mu    sync.Mutex
	seq   uint64
	calls map[uint64]chan answer // of capacity 1: requests without an answer
	ended []Exit                 // not delivered yet; at most one for each child
	err   error                  // why the connection ended
	over  bool                   // the connection has ended

	exits chan Exit
	kick  chan struct{} // ended has grown
	done  chan struct{}
}

type answer struct {
	message
	fd int // -1 without a descriptor
}

// Process is a child with its pty. The caller owns Pty, which is non-blocking and close-on-exec.
// Closing it does not end the child.
type Process struct {
	ID       string
	Pid      int
	Identity Identity // zero if it has ended already
	Pty      rawio.File
}

// Dial connects to the keeper that listens on socket, agrees on a version with it, and supersedes
// a host that was connected before. It returns ErrNotRunning if nothing listens there, and
// ErrVersion if there is no common version. A ctx without a deadline gets five seconds.
func Dial(ctx context.Context, socket string) (*Client, error) {
	w, m, err := greet(ctx, socket, MinVersion, ProtocolVersion)
	switch {
	case err != nil:
		return nil, err
	case errors.Is(m.Error.err(), ErrVersion):
		err = cannotMeet(&m)
	case m.Error != nil:
		err = m.Error
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("greet the keeper on %s: %w", socket, err)
	}
	c := &Client{
		wire: w, pid: m.Pid, version: m.Version, calls: map[uint64]chan answer{},
		exits: make(chan Exit), kick: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go c.receive()
	go c.deliver()
	return c, nil
}

// greet connects, says hello with a range of versions, and returns the answer.
func greet(ctx context.Context, socket string, oldest, newest int) (_ *wire, m message, err error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	switch {
	case errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED):
		return nil, m, &reason{"connect to the keeper: none is running on " + socket, []error{ErrNotRunning, err}}
	case err != nil:
		return nil, m, fmt.Errorf("connect to the keeper: %w", err)
	}
	w := newWire(conn.(*net.UnixConn))
	defer func() {
		if err != nil {
			w.close()
			err = fmt.Errorf("greet the keeper on %s: %w", socket, err)
		}
	}()
	if err := daemon.SameUser(w.conn); err != nil {
		return nil, m, err
	}
	stop := context.AfterFunc(ctx, func() { w.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := w.send(request{Op: opHello, Min: oldest, Max: newest}, -1); err != nil {
		return nil, m, err
	}
	if err := w.recv(&m); err != nil {
		if ctx.Err() != nil {
			err = silent(w.conn, ctx.Err())
		}
		return nil, m, err
	}
	if !stop() {
		return nil, m, ctx.Err()
	}
	return w, m, nil
}

// cannotMeet says what to do about a keeper whose versions are all older or all newer than ours.
// The user must decide, as the keeper holds shells.
func cannotMeet(m *message) error {
	who := "the keeper, which holds the running terminals,"
	if m.Pid > 0 {
		who = fmt.Sprintf("the keeper (pid %d), which holds the running terminals,", m.Pid)
	}
	ours := fmt.Sprintf("this tandemux speaks versions %d to %d of its protocol", MinVersion, ProtocolVersion)
	switch {
	case m.Max > 0 && m.Max < MinVersion:
		return because(ErrVersion, "%s is too old: it speaks up to version %d, and %s: go on with the tandemux that started it, or end its terminals with that one's `tandemux stop`", who, m.Max, ours)
	case m.Min > ProtocolVersion:
		return because(ErrVersion, "%s is newer than this program: it speaks version %d and later, and %s: use the newer tandemux", who, m.Min, ours)
	}
	return because(ErrVersion, "%s and this program have no version in common: %s; the keeper says: %v", who, ours, m.Error)
}

// receive passes answers to the waiting calls, and events on, until the connection ends.
func (c *Client) receive() {
	err := c.receiveAll()
	c.wire.close()
	c.wire.dropFiles()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.over = true
		c.err = fmt.Errorf("the connection to the keeper broke: %w", err)
		if errors.Is(err, ErrSuperseded) {
			c.err = err
		}
	}
	c.calls = nil
	close(c.done)
}

func (c *Client) receiveAll() error {
	for {
		var m message
		if err := c.wire.recv(&m); err != nil {
			return err
		}
		switch {
		case m.Event == eventSuperseded:
			return ErrSuperseded
		case m.Event == eventExit && m.Exit != nil:
			c.mu.Lock()
			c.ended = append(c.ended, *m.Exit)
			c.mu.Unlock()
			pace.Wake(c.kick)
		case m.Event == "":
			a := answer{message: m, fd: -1}
			if m.File {
				fd, ok := c.wire.takeFile()
				if !ok {
					return errors.New("the keeper announced a descriptor and sent none")
				}
				a.fd = fd
			}
			c.mu.Lock()
			w := c.calls[a.Seq]
			delete(c.calls, a.Seq)
			c.mu.Unlock()
			if w == nil {
				closeFD(a.fd)
			} else {
				w <- a
			}
		}
	}
}

// deliver feeds Exits.
func (c *Client) deliver() {
	defer close(c.exits)
	for {
		c.mu.Lock()
		todo := c.ended
		c.ended = nil
		c.mu.Unlock()
		for _, e := range todo {
			select {
			case c.exits <- e:
			case <-c.done:
				return // the keeper reports it to the next host
			}
		}
		select {
		case <-c.kick:
		case <-c.done:
			return
		}
	}
}

// ask sends a request and waits for its answer. If ctx ends first, late, unless it is nil, is
// called with an answer that still comes; that answer's descriptor is closed.
func (c *Client) ask(ctx context.Context, r request, late func(answer)) (answer, error) {
	return c.askWith(ctx, r, -1, late)
}

// askWith is ask with a descriptor, unless it is negative.
func (c *Client) askWith(ctx context.Context, r request, fd int, late func(answer)) (answer, error) {
	w := make(chan answer, 1)
	c.mu.Lock()
	if c.over || c.calls == nil {
		err := c.err
		c.mu.Unlock()
		if err == nil {
			err = ErrConnClosed
		}
		return answer{fd: -1}, err
	}
	c.seq++
	r.Seq = c.seq
	c.calls[r.Seq] = w
	c.mu.Unlock()

	if err := c.wire.send(r, fd); err != nil {
		c.mu.Lock()
		delete(c.calls, r.Seq)
		c.mu.Unlock()
		if !errors.Is(err, ErrInvalid) { // nothing of a refused message was sent
			c.wire.close()
		}
		return answer{fd: -1}, fmt.Errorf("send to the keeper: %w", err)
	}
	select {
	case a := <-w:
		return a.check()
	case <-c.done:
		if a, ok := c.last(w); ok {
			return a.check()
		}
		if err := c.Err(); err != nil {
			return answer{fd: -1}, err
		}
		return answer{fd: -1}, ErrConnClosed
	case <-ctx.Done():
		go func() {
			if a, ok := c.last(w); ok {
				closeFD(a.fd)
				if late != nil {
					late(a)
				}
			}
		}()
		return answer{fd: -1}, explainSilence(c.pid, isStopped(c.pid), ctx.Err())
	}
}

// last waits for an answer until the connection has ended.
func (c *Client) last(w chan answer) (a answer, ok bool) {
	select {
	case a = <-w:
		return a, true
	case <-c.done:
	}
	select {
	case a = <-w:
		return a, true
	default:
		return a, false
	}
}

func (a answer) check() (answer, error) {
	if a.Error != nil {
		closeFD(a.fd)
		return answer{fd: -1}, a.Error
	}
	return a, nil
}

// process is the child of an answer, with the pty that came with it.
func (a answer) process(id string) (Process, error) {
	if a.fd < 0 {
		return Process{}, fmt.Errorf("the keeper sent no pty for %q", id)
	}
	if err := unix.SetNonblock(a.fd, true); err != nil {
		closeFD(a.fd)
		return Process{}, fmt.Errorf("make the pty of %q non-blocking: %w", id, err)
	}
	pty, err := rawio.Open(a.fd)
	if err != nil {
		return Process{}, fmt.Errorf("wait for the pty of %q: %w", id, err)
	}
	return Process{ID: id, Pid: a.Pid, Identity: Identify(a.Pid), Pty: pty}, nil
}

// Spawn starts a child on a new pty. Errors that a caller branches on are ErrNoDir, ErrNoCommand,
// ErrNotExecutable, ErrExists and ErrInvalid. A failed Spawn leaves nothing behind, also if ctx
// ends first. A child that ends at once may be on Exits before Spawn returns.
func (c *Client) Spawn(ctx context.Context, s Spec) (Process, error) {
	late := func(a answer) {
		if a.Error == nil {
			c.ask(context.Background(), request{Op: opDrop, ID: s.ID}, nil)
		}
	}
	fd := -1
	if s.Stdin != nil {
		fd = int(s.Stdin.Fd()) // which makes it blocking, as programs expect it
	}
	a, err := c.askWith(ctx, request{Op: opSpawn, Spec: &s, File: fd >= 0}, fd, late)
	if err != nil {
		return Process{}, err
	}
	return a.process(s.ID)
}

// List reports all children that were not forgotten, oldest first.
func (c *Client) List(ctx context.Context) ([]Info, error) {
	a, err := c.ask(ctx, request{Op: opList}, nil)
	return a.List, err
}

// Adopt returns the pty of a child that another host started, or ErrUnknown. A child that has
// exited can be adopted too: its last output is still in the pty.
func (c *Client) Adopt(ctx context.Context, id string) (Process, error) {
	a, err := c.ask(ctx, request{Op: opAdopt, ID: id}, nil)
	if err != nil {
		return Process{}, err
	}
	return a.process(id)
}

// Signal sends sig to the child's process group and to the foreground process group of its
// terminal. It returns nil for a child that has exited, and ErrUnknown for an unknown one.
func (c *Client) Signal(ctx context.Context, id string, sig syscall.Signal) error {
	_, err := c.ask(ctx, request{Op: opSignal, ID: id, Signal: int(sig)}, nil)
	return err
}

// Forget drops an exited child: its pty is closed and its exit not reported again. It returns
// ErrRunning if the child still runs, and ErrUnknown if it is not known.
func (c *Client) Forget(ctx context.Context, id string) error {
	_, err := c.ask(ctx, request{Op: opForget, ID: id}, nil)
	return err
}

// Exits delivers how children ended: first those that ended before Dial and were not forgotten,
// then others as they end. It drops none, however slowly it is read, and is closed after Done.
func (c *Client) Exits() <-chan Exit { return c.exits }

// Shutdown ends all children (SIGHUP and SIGTERM, SIGKILL after five seconds) and then the keeper.
// It returns when the keeper has closed its socket.
func (c *Client) Shutdown(ctx context.Context) error {
	if _, err := c.ask(ctx, request{Op: opShutdown}, nil); err != nil {
		return err
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the keeper's end: %w", ctx.Err())
	}
}

// Done is closed when the connection has ended; Err then says why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err says why the connection ended: ErrSuperseded if another host took over, nil while it lasts
// and after Close.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// TakesStdin reports whether the keeper knows Spec.Stdin.
func (c *Client) TakesStdin() bool { return c.version >= 3 }

// Pid is the keeper's process id.
func (c *Client) Pid() int { return c.pid }

// Close ends the connection. The keeper and the children continue.
func (c *Client) Close() error {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.wire.close()
	<-c.done
	return nil
}

// Store leaves a file for the next host under a name of 1 to 1100 bytes, and replaces an earlier
// file of that name. The keeper gets its own descriptor; f stays the caller's. Store returns
// ErrFull if the keeper has no room. On Linux f must be a memory file that is sealed against
// shrinking, since a process that maps a file dies if that is truncated.
func (c *Client) Store(ctx context.Context, name string, f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("store %q: %w", name, err)
	}
	var aerr error
	if err := raw.Control(func(fd uintptr) {
		_, aerr = c.askWith(ctx, request{Op: opStore, Name: name, File: true}, int(fd), nil)
	}); err != nil {
		return fmt.Errorf("store %q: %w", name, err)
	}
	return aerr
}

// Fetch returns a stored file, or ErrUnknown. The keeper keeps its own descriptor.
func (c *Client) Fetch(ctx context.Context, name string) (*os.File, error) {
	a, err := c.ask(ctx, request{Op: opFetch, Name: name}, nil)
	if err != nil {
		return nil, err
	}
	if a.fd < 0 {
		return nil, fmt.Errorf("the keeper sent no descriptor for %q", name)
	}
	return os.NewFile(uintptr(a.fd), name), nil
}

// Files lists the stored files by name.
func (c *Client) Files(ctx context.Context) ([]FileInfo, error) {
	a, err := c.ask(ctx, request{Op: opFiles}, nil)
	return a.Files, err
}

// Discard drops a stored file. It returns nil if there is none of that name.
func (c *Client) Discard(ctx context.Context, name string) error {
	_, err := c.ask(ctx, request{Op: opDiscard, Name: name}, nil)
	return err
}
