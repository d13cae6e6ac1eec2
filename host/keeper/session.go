package keeper

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// session is the keeper's side of one host connection.
type session struct {
	keeper *keeper
	wire   *wire
	number uint64 // rises with each connection
}

// serve answers requests, in order, until the connection ends. Whatever the
// host does with its end, the children are not concerned.
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
			s.wire.dropFiles() // a request that has one says so
		}
		if r.Op == opShutdown && s.keeper.isClosing() {
			s.keeper.overOnce.Do(func() { close(s.keeper.over) })
		}
	}
}

// answer handles one request.
func (s *session) answer(r *request) (err error) {
	defer s.keeper.fence("answer " + r.Op)
	err = fmt.Errorf("the request %q failed inside the keeper", r.Op) // unless it returns
	h, ok := handlers[r.Op]
	if !ok {
		h = unsupported
	}
	return h(s, r)
}

// enter takes keeper.mu for a request that changes something, unless the host
// was superseded and did not know it yet: what it wants is for the new host to
// decide, which has looked at what there is.
func (s *session) enter(r *request) error {
	s.keeper.mu.Lock()
	if s.keeper.host == s {
		return nil
	}
	s.keeper.mu.Unlock()
	return because(ErrSuperseded, "%s: another host took over", r.Op)
}

func unsupported(s *session, r *request) error {
	return s.refuse(r, because(ErrInvalid, "the keeper does not know the request %q", r.Op))
}

// speaks is what the keeper's side offers; tests make it an older or a newer
// keeper.
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
			List: s.keeper.running(), Counted: true,
		}, -1)
		if r.Min == noVersion {
			return nil // it has only looked
		}
		return err
	}
	// wmu is held from before the session is known until its exits are written:
	// a child that ends meanwhile is reported after them, and none twice.
	s.wire.wmu.Lock()
	defer s.wire.wmu.Unlock()
	old, exits, err := s.takeOver()
	if err != nil {
		s.wire.sendLocked(message{Seq: r.Seq, Error: newFault(err)}, -1)
		return err
	}
	if old != nil {
		// Not waited for: the old host may not be reading.
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
		// Its hello was overtaken; mostly it is dead already.
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

// leave forgets the connection, not the children.
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

// report tells the host how a child ended. A failure is the connection's end;
// the next host is told again.
func (s *session) report(e Exit) {
	if err := s.wire.send(message{Event: eventExit, Exit: &e}, -1); err != nil {
		s.wire.close()
	}
}

func (s *session) refuse(r *request, err error) error {
	return s.wire.send(message{Seq: r.Seq, Error: newFault(err)}, -1)
}

// done answers a request that has nothing to say, or failed.
func (s *session) done(r *request, err error) error {
	if err != nil {
		return s.refuse(r, err)
	}
	return s.wire.send(message{Seq: r.Seq}, -1)
}

// handlers is the table of requests after hello. A returned error ends the
// connection.
var handlers = map[string]func(*session, *request) error{
	opSpawn:    (*session).spawn,
	opList:     (*session).list,
	opAdopt:    (*session).adopt,
	opSignal:   (*session).signal,
	opForget:   (*session).forget,
	opDrop:     (*session).drop,
	opShutdown: (*session).shutdown,
	opAnnotate: (*session).annotate,
	opStore:    (*session).store,
	opFetch:    (*session).fetch,
	opFiles:    (*session).listFiles,
	opDiscard:  (*session).discard,
}

func (s *session) spawn(r *request) error {
	if r.Spec == nil {
		return s.refuse(r, because(ErrInvalid, "start a child: the request has no spec"))
	}
	c, err := s.keeper.spawn(s, r)
	if err != nil {
		return s.refuse(r, err)
	}
	return s.hand(r, c)
}

func (s *session) adopt(r *request) error {
	s.keeper.mu.Lock()
	c, err := s.keeper.find(r.ID)
	s.keeper.mu.Unlock()
	if err != nil {
		return s.refuse(r, err)
	}
	return s.hand(r, c)
}

// hand sends a copy of the child's pty. It is duplicated first, as the child
// may be forgotten by a new host while this one is slow.
func (s *session) hand(r *request, c *child) error {
	s.keeper.mu.Lock()
	fd, err := -1, error(unix.EBADF)
	if c.master >= 0 {
		fd, err = unix.FcntlInt(uintptr(c.master), unix.F_DUPFD_CLOEXEC, 3)
	}
	s.keeper.mu.Unlock()
	if err != nil {
		return s.refuse(r, fmt.Errorf("hand over the pty of %q: %w", c.info.ID, err))
	}
	defer closeFD(fd)
	return s.wire.send(message{Seq: r.Seq, Pid: c.info.Pid, File: true}, fd)
}

func (s *session) list(r *request) error {
	s.keeper.mu.Lock()
	all := s.keeper.list()
	infos := make([]Info, len(all))
	for i, c := range all {
		infos[i] = c.info
	}
	s.keeper.mu.Unlock()
	return s.wire.send(message{Seq: r.Seq, List: infos}, -1)
}

func (s *session) signal(r *request) error {
	if err := s.enter(r); err != nil {
		return s.refuse(r, err)
	}
	c, err := s.keeper.find(r.ID)
	switch {
	case err != nil:
	case r.Signal < 1 || r.Signal > 64:
		err = because(ErrInvalid, "signal %q: %d is not a signal", r.ID, r.Signal)
	case c.info.Exit == nil:
		err = c.signal(syscall.Signal(r.Signal))
	}
	s.keeper.mu.Unlock()
	return s.done(r, err)
}

func (s *session) forget(r *request) error {
	if err := s.enter(r); err != nil {
		return s.refuse(r, err)
	}
	c, err := s.keeper.find(r.ID)
	switch {
	case err != nil:
	case c.info.Exit == nil:
		err = because(ErrRunning, "forget %q: it still runs; end it first", r.ID)
	default:
		s.keeper.remove(c)
	}
	s.keeper.mu.Unlock()
	return s.done(r, err)
}

func (s *session) drop(r *request) error {
	if err := s.enter(r); err != nil {
		return s.refuse(r, err)
	}
	c, err := s.keeper.find(r.ID)
	switch {
	case errors.Is(err, ErrUnknown):
		err = nil
	case c.info.Exit != nil:
		s.keeper.remove(c)
	default:
		c.dropped = true
		err = c.signal(syscall.SIGKILL)
	}
	s.keeper.mu.Unlock()
	return s.done(r, err)
}

func (s *session) annotate(r *request) error {
	if err := s.enter(r); err != nil {
		return s.refuse(r, err)
	}
	c, err := s.keeper.find(r.ID)
	switch {
	case err != nil:
	case len(r.Note) > MaxNote:
		err = because(ErrInvalid, "annotate %q: a note of %d bytes is over the limit of %d", r.ID, len(r.Note), MaxNote)
	default:
		c.info.Note = r.Note
	}
	s.keeper.mu.Unlock()
	return s.done(r, err)
}

// shutdown answers when every child has ended; the connection's end then says
// that the socket is gone.
func (s *session) shutdown(r *request) error {
	if err := s.enter(r); err != nil {
		return s.refuse(r, err)
	}
	s.keeper.mu.Unlock()
	s.keeper.endAll()
	return s.done(r, nil)
}

func closeFD(fd int) {
	if fd >= 0 {
		unix.Close(fd)
	}
}
