package keeper

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/internal/memtrim"
)

// session is the keeper's side of one host connection.
type session struct {
	keeper *keeper
	wire   *wire
	number uint64 // rises with each connection
}

// serve answers requests, in order, until the connection ends, which does not affect the children.
func (s *session) serve() error {
	defer s.leave()
	if err := s.hello(); err != nil {
		return err
	}
	for {
		var r request
		if err := s.wire.recv(&r); err != nil {
			return err
		}
		if err := s.answer(&r); err != nil {
			return err
		}
		if s.wire.empty() {
			s.wire.dropFiles() // the request has none, as it does not say so
		}
		if r.Op == opShutdown && s.keeper.isClosing() {
			s.keeper.overOnce.Do(func() { close(s.keeper.over) })
		}
	}
}

func (s *session) answer(r *request) (err error) {
	defer s.keeper.rest()
	defer s.keeper.fence("answer " + r.Op)
	err = fmt.Errorf("the request %q failed inside the keeper", r.Op) // the answer after a panic
	var m message
	failed := because(ErrInvalid, "the keeper does not know the request %q", r.Op)
	if h, ok := handlers[r.Op]; ok {
		m, failed = h(s, r)
	}
	if failed != nil {
		m = message{Error: newFault(failed)}
	}
	m.Seq = r.Seq
	if !m.File {
		return s.wire.send(m, -1)
	}
	defer unix.Close(m.fd)
	return s.wire.send(m, m.fd)
}

// rest collects garbage while the keeper is idle, if there may be a megabyte of it.
func (k *keeper) rest() {
	if k.answers.Add(1)%256 == 0 {
		memtrim.Idle()
	} else {
		memtrim.Rest()
	}
}

// enter takes keeper.mu for a request that changes something. It refuses if the host was superseded
// and does not know it yet: only the new host, which has listed the children, may change anything.
func (s *session) enter(r *request) error {
	s.keeper.mu.Lock()
	if s.keeper.host == s {
		return nil
	}
	s.keeper.mu.Unlock()
	return because(ErrSuperseded, "%s: another host took over", r.Op)
}

// speaks is the versions that the keeper offers; tests change it to an older or newer keeper's.
var speaks = struct{ min, max int }{MinVersion, ProtocolVersion}

// hello agrees on a version, takes over from the host before, and reports what
// ended while there was none.
func (s *session) hello() error {
	s.wire.conn.SetReadDeadline(time.Now().Add(helloTime))
	var r request
	if err := s.wire.recv(&r); err != nil {
		return err
	}
	s.wire.conn.SetReadDeadline(time.Time{})
	if r.Op != opHello {
		return s.refuse(&r, because(ErrInvalid, "the first request must be hello, not %q", r.Op))
	}
	version := min(r.Max, speaks.max)
	if version < r.Min || version < speaks.min {
		err := because(ErrVersion, "the host speaks versions %d to %d of the keeper's protocol, the keeper (pid %d) %d to %d",
			r.Min, r.Max, os.Getpid(), speaks.min, speaks.max)
		s.wire.send(message{
			Seq: r.Seq, Error: newFault(err), Pid: os.Getpid(), Min: speaks.min, Max: speaks.max,
			List: s.keeper.running(),
		}, -1)
		if r.Min == noVersion {
			return nil // it was a Probe
		}
		return err
	}
	// wmu is held from before the session is the host's until earlier exits are written: a
	// child that ends meanwhile is reported after them, and none twice.
	s.wire.wmu.Lock()
	defer s.wire.wmu.Unlock()
	old, exits, err := s.takeOver()
	if err != nil {
		s.wire.sendLocked(message{Seq: r.Seq, Error: newFault(err)}, -1)
		return err
	}
	if old != nil {
		// Don't wait for it: the old host may not be reading.
		go old.supersede()
	}
	if err := s.wire.sendLocked(message{Seq: r.Seq, Version: version, Pid: os.Getpid(), Min: speaks.min, Max: speaks.max}, -1); err != nil {
		return err
	}
	for i := range exits {
		if err := s.wire.sendLocked(message{Event: eventExit, Exit: &exits[i]}, -1); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) takeOver() (old *session, exits []Exit, err error) {
	k := s.keeper
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.host != nil && k.host.number > s.number {
		// A later host's hello was faster; mostly this host is dead already.
		return nil, nil, because(ErrSuperseded, "a host that connected later has taken over")
	}
	old, k.host = k.host, s
	for _, c := range k.list() {
		if c.info.Exit != nil {
			exits = append(exits, *c.info.Exit)
		}
	}
	return old, exits, nil
}

// supersede tells an old host why it is closed.
func (s *session) supersede() {
	s.wire.send(message{Event: eventSuperseded}, -1)
	s.wire.close()
}

// leave forgets the connection; the children stay.
func (s *session) leave() {
	k := s.keeper
	k.mu.Lock()
	delete(k.sessions, s)
	if k.host == s {
		k.host = nil
		k.idle.Reset(idleTime)
	}
	k.mu.Unlock()
	s.wire.close()
	s.wire.dropFiles()
}

// report tells the host how a child ended. If that fails, the connection ends, and the next host is
// told.
func (s *session) report(e Exit) {
	if err := s.wire.send(message{Event: eventExit, Exit: &e}, -1); err != nil {
		s.wire.close()
	}
}

func (s *session) refuse(r *request, err error) error {
	return s.wire.send(message{Seq: r.Seq, Error: newFault(err)}, -1)
}

// handler answers one kind of request.
type handler func(*session, *request) (message, error)

// handlers is the table of requests after hello.
var handlers = map[string]handler{
	opSpawn:    (*session).spawn,
	opList:     (*session).list,
	opAdopt:    (*session).adopt,
	opSignal:   ofChild((*keeper).signal),
	opForget:   ofChild((*keeper).forget),
	opDrop:     changing((*keeper).drop),
	opShutdown: (*session).shutdown,
	opStore:    (*session).store,
	opFetch:    (*session).fetch,
	opFiles:    (*session).listFiles,
	opDiscard:  changing((*keeper).discard),
}

// changing is the handler of a request that changes something; do is called with keeper.mu held.
func changing(do func(*keeper, *request) error) handler {
	return func(s *session, r *request) (message, error) {
		if err := s.enter(r); err != nil {
			return message{}, err
		}
		defer s.keeper.mu.Unlock()
		return message{}, do(s.keeper, r)
	}
}

// ofChild is changing for requests about an existing child.
func ofChild(do func(*keeper, *child, *request) error) handler {
	return changing(func(k *keeper, r *request) error {
		c, err := k.find(r.ID)
		if err != nil {
			return err
		}
		return do(k, c, r)
	})
}

func (s *session) spawn(r *request) (message, error) {
	stdin, err := s.file(r)
	if err != nil {
		return message{}, err
	}
	defer closeFD(stdin) // the child has its own
	if r.Spec == nil {
		return message{}, because(ErrInvalid, "start a child: the request has no spec")
	}
	c, err := s.keeper.spawn(s, r, stdin)
	if err != nil {
		return message{}, err
	}
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	return c.hand()
}

func (s *session) adopt(r *request) (message, error) {
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	c, err := s.keeper.find(r.ID)
	if err != nil {
		return message{}, err
	}
	return c.hand()
}

// hand is an answer with a duplicate of the pty's descriptor: a new host may forget the child before
// this one is sent. The caller holds keeper.mu.
func (c *child) hand() (message, error) {
	fd, err := duplicate(c.master)
	if err != nil {
		return message{}, fmt.Errorf("hand over the pty of %q: %w", c.info.ID, err)
	}
	return message{Pid: c.info.Pid, File: true, fd: fd}, nil
}

// duplicate is a copy of a descriptor that children don't inherit.
func duplicate(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3) }

func (s *session) list(*request) (message, error) {
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	m := message{}
	for _, c := range s.keeper.list() {
		m.List = append(m.List, c.info)
	}
	return m, nil
}

func (k *keeper) signal(c *child, r *request) error {
	switch {
	case r.Signal < 1 || r.Signal > 64:
		return because(ErrInvalid, "signal %q: %d is not a signal", r.ID, r.Signal)
	case c.info.Exit != nil:
		return nil
	}
	return c.signal(syscall.Signal(r.Signal))
}

func (k *keeper) forget(c *child, _ *request) error {
	if c.info.Exit == nil {
		return because(ErrRunning, "forget %q: it still runs; end it first", c.info.ID)
	}
	k.remove(c)
	return nil
}

func (k *keeper) drop(r *request) error {
	c, err := k.find(r.ID)
	switch {
	case err != nil:
		return nil //nolint:nilerr // the child is gone already
	case c.info.Exit != nil:
		k.remove(c)
		return nil
	}
	c.dropped = true
	return c.signal(syscall.SIGKILL)
}

// shutdown answers when every child has ended. The connection ends when the socket is gone.
func (s *session) shutdown(r *request) (message, error) {
	if err := s.enter(r); err != nil {
		return message{}, err
	}
	s.keeper.mu.Unlock()
	s.keeper.endAll()
	return message{}, nil
}

func closeFD(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}
