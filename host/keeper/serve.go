package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sort"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"tandemux/internal/daemon"
)

const (
	// graceTime is how long a child has to end before SIGKILL (docs/contributing/decisions.md §16).
	graceTime = 5 * time.Second
	// killTime is how long to wait after SIGKILL; a child that hangs in the kernel is
	// left behind.
	killTime = 2 * time.Second
	// helloTime is how long a connection may take to say hello.
	helloTime = 10 * time.Second
	// maxChildren bounds children that run or were not forgotten.
	maxChildren = 1024
	// maxSessions bounds connections. All but one have not said hello yet, or are hosts
	// that are being told that they were superseded.
	maxSessions = 64
)

// Listen makes the keeper's socket, of mode 0600. It refuses if another keeper listens on it, and
// replaces a socket on which none does.
func Listen(socket string) (*daemon.Listener, error) {
	if conn, err := net.DialTimeout("unix", socket, time.Second); err == nil {
		// A keeper that was killed accepts connections until the kernel has closed its socket.
		conn.SetReadDeadline(time.Now().Add(time.Second))
		_, err = conn.Read(make([]byte, 1))
		conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, fmt.Errorf("make the keeper's socket: another keeper listens on %s", socket)
		}
	}
	ln, err := daemon.Listen(socket)
	if err != nil {
		return nil, fmt.Errorf("make the keeper's socket: %w", err)
	}
	return ln, nil
}

// shielded are signals that do not end the keeper. It is notified of them and does not ignore
// them, so that children start with the default actions.
var shielded = []os.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGALRM,
	syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU,
	syscall.SIGWINCH, syscall.SIGCONT,
}

// idleTime is how long a keeper without host and children stays.
var idleTime = time.Minute

// keeper is the state of Serve.
type keeper struct {
	log *slog.Logger

	mu       sync.Mutex // guards the following, and the fields of children
	children map[string]*child
	files    map[string]*stored
	host     *session // the present host, or nil
	closing  bool     // no more spawns

	sessions map[*session]struct{} // all connections, also before hello

	ended    chan os.Signal // SIGCHLD, or lookAgain
	over     chan struct{}  // closed when a host's Shutdown is done, or nothing is kept
	overOnce sync.Once
	idle     *time.Timer    // runs while there is no host
	work     sync.WaitGroup // sessions

	answers atomic.Uint32 // number of answers to requests
}

// Serve keeps children for the hosts that connect to ln, one after another. It returns nil after a
// host's Shutdown, or when idleTime has passed without host and children. When ctx ends, it ends
// all children as Shutdown does and returns ctx's error. It closes the listener. A nil log
// discards.
//
// Serve must be all that its process does: it handles the signals of terminals and pipes, and marks
// inherited descriptors close-on-exec. The caller has detached the process (own session, standard
// streams elsewhere) and ends ctx on SIGTERM.
func Serve(ctx context.Context, ln *daemon.Listener, log *slog.Logger) error {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	if err := sealFiles(); err != nil {
		return fmt.Errorf("seal inherited descriptors: %w", err)
	}
	swallow := make(chan os.Signal, 1)
	signal.Notify(swallow, shielded...)
	defer signal.Stop(swallow)
	k := &keeper{
		log: log, children: map[string]*child{}, files: map[string]*stored{}, sessions: map[*session]struct{}{},
		ended: make(chan os.Signal, 1), over: make(chan struct{}),
	}
	k.idle = time.AfterFunc(idleTime, k.endIdle)
	defer k.idle.Stop()
	signal.Notify(k.ended, syscall.SIGCHLD)
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		k.reapAll()
	}()
	broken := make(chan error, 1)
	go func() {
		broken <- k.accept(ln)
		close(broken)
	}()

	var err error
	select {
	case <-ctx.Done():
		err = ctx.Err()
	case err = <-broken:
		err = fmt.Errorf("accept a host: %w", err)
	case <-k.over:
	}
	k.endAll()
	ln.Close() // also removes the socket file
	for range broken {
	}
	k.mu.Lock()
	for s := range k.sessions {
		s.wire.close()
	}
	k.mu.Unlock()
	k.work.Wait()
	signal.Stop(k.ended)
	close(k.ended)
	<-reaped
	k.dropFiles()
	return err
}

// accept serves connections until the listener fails.
func (k *keeper) accept(ln *daemon.Listener) error {
	for number := uint64(0); ; {
		conn, err := ln.AcceptUnix()
		var ne net.Error
		switch {
		case err == nil:
		case errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) ||
			errors.Is(err, syscall.ECONNABORTED) || errors.As(err, &ne) && ne.Timeout():
			// Out of descriptors for now, which must not end the keeper and its shells.
			k.log.Warn("accept", "err", err)
			time.Sleep(100 * time.Millisecond)
			continue
		default:
			return err
		}
		if err := daemon.SameUser(conn); err != nil {
			k.log.Warn("refused a connection", "err", err)
			conn.Close()
			continue
		}
		number++
		s := &session{keeper: k, wire: newWire(conn), number: number}
		if !k.admit(s) {
			k.log.Warn("refused a connection: there are too many", "limit", maxSessions)
			conn.Close()
			continue
		}
		k.work.Go(func() {
			err := s.serve()
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				k.log.Warn("host connection", "err", err)
			}
		})
	}
}

// admit adds a connection, unless there are too many.
func (k *keeper) admit(s *session) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.sessions) >= maxSessions {
		return false
	}
	k.sessions[s] = struct{}{}
	return true
}

// spawn starts a child under an id that is free; see start.
func (k *keeper) spawn(by *session, r *request, stdin int) (*child, error) {
	s := r.Spec
	if err := s.check(); err != nil {
		return nil, err
	}
	if err := by.enter(r); err != nil {
		return nil, err
	}
	err := k.reserve(s.ID)
	k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	c, err := start(s, stdin)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		delete(k.children, s.ID)
		return nil, err
	}
	k.children[s.ID] = c
	k.lookAgain() // it may have ended before it was in the table
	switch {
	case k.closing: // endAll has not seen it
		err = because(ErrClosing, "start %s: the keeper is shutting down", s.Argv[0])
	case k.host != by: // the new host has not seen it
		err = because(ErrSuperseded, "start %s: another host took over", s.Argv[0])
	default:
		return c, nil
	}
	c.dropped = true
	c.signal(syscall.SIGKILL)
	return nil, err
}

// endIdle ends a keeper without children. An ended child that was not forgotten counts as one.
func (k *keeper) endIdle() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.host != nil || k.closing || len(k.children) > 0 {
		return
	}
	k.closing = true
	k.log.Info("nothing is left to keep, and no host has come", "after", idleTime)
	k.overOnce.Do(func() { close(k.over) })
}

// reserve takes an id; the child's place is nil until it runs. The caller holds
// mu.
func (k *keeper) reserve(id string) error {
	if k.closing {
		return because(ErrClosing, "start %s: the keeper is shutting down", id)
	}
	if _, ok := k.children[id]; ok {
		return because(ErrExists, "start %s: the id is in use", id)
	}
	if len(k.children) >= maxChildren {
		return because(ErrFull, "start %s: %d children are kept, which is the limit; close some", id, maxChildren)
	}
	k.children[id] = nil
	return nil
}

func (k *keeper) isClosing() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.closing
}

// remove forgets a child that has ended. The caller holds mu.
func (k *keeper) remove(c *child) {
	delete(k.children, c.info.ID)
	closeFD(c.master)
	c.master = -1
	if k.host == nil {
		k.idle.Reset(idleTime)
	}
}

// find returns a child that was not forgotten. The caller holds mu.
func (k *keeper) find(id string) (*child, error) {
	if c := k.children[id]; c != nil && !c.dropped {
		return c, nil
	}
	return nil, because(ErrUnknown, "the keeper knows no child %q", id)
}

// list returns the children, oldest first. The caller holds mu.
func (k *keeper) list() []*child {
	all := make([]*child, 0, len(k.children))
	for _, c := range k.children {
		if c != nil && !c.dropped {
			all = append(all, c)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		a, b := all[i].info, all[j].info
		return a.Started < b.Started || a.Started == b.Started && a.ID < b.ID
	})
	return all
}

// running describes the running children, without commands and notes.
func (k *keeper) running() []Info {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []Info
	for _, c := range k.list() {
		if c.info.Exit == nil {
			all = append(all, Info{ID: c.info.ID, Pid: c.info.Pid, Started: c.info.Started})
		}
	}
	return all
}

// endSteps is how processes are ended: the signals to send, and how long to wait then.
var endSteps = []struct {
	signals []syscall.Signal
	wait    time.Duration
}{
	// SIGCONT, so that a stopped job gets the other signals.
	{[]syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGCONT}, graceTime},
	{[]syscall.Signal{syscall.SIGKILL}, killTime},
}

// endAll ends every child: SIGHUP and SIGTERM, then SIGKILL. It may be called more than once, and
// concurrently.
func (k *keeper) endAll() {
	for _, step := range endSteps {
		alive := k.signalAll(step.signals)
		timeout := time.After(step.wait)
		for _, c := range alive {
			select {
			case <-c.ended:
				continue
			case <-timeout:
			}
			break
		}
	}
	for _, c := range k.signalAll(nil) {
		k.log.Error("a child outlives SIGKILL", "id", c.info.ID, "pid", c.info.Pid)
	}
}

// signalAll signals the running children and returns them.
func (k *keeper) signalAll(signals []syscall.Signal) []*child {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closing = true
	var alive []*child
	for _, c := range k.children {
		if c == nil || c.info.Exit != nil {
			continue
		}
		alive = append(alive, c)
		for _, sig := range signals {
			if err := c.signal(sig); err != nil {
				k.log.Warn("signal a child", "id", c.info.ID, "signal", sig, "err", err)
			}
		}
	}
	return alive
}
