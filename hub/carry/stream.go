package carry

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"tandemux/hub/server"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/pace"
)

const (
	// PartBytes is the longest part of a message, Window how much is on the way.
	PartBytes = 32 << 10
	Window    = 256 << 10
	// frameCost is what a frame counts besides its bytes, so that there are not too many.
	frameCost = 64
	// quiet is after how long without a word the other side is asked whether it is there,
	// and patience how long its answer may take.
	quiet    = 15 * time.Second
	patience = 10 * time.Second
)

// Kinds of frames.
const (
	kindWhole = 'w' // the end of a message, or all of it
	kindPart  = 'p' // what more of follows
	kindTaken = 't' // how much was taken
	kindClose = 'c' // the end, with AHP's reason
	kindAsk   = 'q' // a request: are you there?
)

const subjects = "tandemux.carry."

func openSubject(host string) string     { return subjects + host + ".open" }
func upSubject(host, id string) string   { return subjects + host + ".up." + id }
func downSubject(host, id string) string { return subjects + host + ".down." + id }

// Grant is what a host may do whose terminals are reached through the hub.
func Grant(host string) server.Grant {
	return server.Grant{Publish: []string{downSubject(host, "*")}, Subscribe: []string{openSubject(host), upSubject(host, "*")}}
}

// frame is one of the wire.
type frame struct {
	kind byte
	seq  uint32
	data []byte
}

const frameHeader = 5

func (f frame) append(buf []byte) []byte {
	return append(binary.BigEndian.AppendUint32(append(buf, f.kind), f.seq), f.data...)
}

// cost is what a frame of a message counts of the window.
func (f frame) cost() int64 { return int64(len(f.data)) + frameCost }

func parseFrame(b []byte) (frame, error) {
	if len(b) < frameHeader {
		return frame{}, errors.New("a frame is too short")
	}
	f := frame{b[0], binary.BigEndian.Uint32(b[1:]), b[frameHeader:]}
	switch {
	case len(f.data) > PartBytes:
		return f, errors.New("a frame is too long")
	case f.kind == kindTaken && len(f.data) != 8, f.kind == kindClose && len(f.data) < 2:
		return f, errors.New("a frame is not complete")
	}
	return f, nil
}

// joiner makes messages of frames, in order.
type joiner struct {
	limit int // of a message
	buf   []byte
}

// add takes a frame of a message and gives the message once it is whole; it is valid until
// the next call.
func (j *joiner) add(f frame) (msg []byte, err error) {
	if len(j.buf)+len(f.data) > j.limit {
		return nil, fmt.Errorf("a message is longer than %d bytes", j.limit)
	}
	j.buf = append(j.buf, f.data...)
	if f.kind == kindPart {
		return nil, nil
	}
	msg = j.buf
	if j.buf = j.buf[:0]; cap(j.buf) > 1<<20 {
		j.buf = nil
	}
	return msg, nil
}

// stream is one side of what is carried.
type stream struct {
	nc *nats.Conn
	to string
	t  jsonrpc.Transport

	next uint32     // of the goroutine that sorts what comes
	data chan frame // what of it waits for t

	// Of the goroutine that gives it to t.
	in          joiner
	taken, told int64

	ctx context.Context
	end context.CancelCauseFunc

	heard *time.Timer // runs out when the other side was quiet

	mu    sync.Mutex // held while a frame is sent
	seq   uint32
	sent  int64
	acked int64
	room  chan struct{} // holds one when acked has grown
}

func newStream(ctx context.Context, nc *nats.Conn, to string, limit int) *stream {
	s := &stream{nc: nc, to: to, in: joiner{limit: limit}, data: make(chan frame, Window/frameCost), room: make(chan struct{}, 1)}
	s.ctx, s.end = context.WithCancelCause(ctx)
	return s
}

// listen subscribes to what the other side sends. What comes before run waits.
func (s *stream) listen(subject string) (chan *nats.Msg, *nats.Subscription, error) {
	// More than the window holds: what doesn't fit is lost, and ends the stream.
	frames := make(chan *nats.Msg, 2*Window/frameCost)
	sub, err := s.nc.ChanSubscribe(subject, frames)
	return frames, sub, err
}

// run carries messages of t until either side ends, and gives the reason.
func (s *stream) run(t jsonrpc.Transport, frames <-chan *nats.Msg) error {
	s.t = t
	var both sync.WaitGroup
	s.heard = time.AfterFunc(quiet, s.ask)
	defer s.heard.Stop()
	both.Go(func() { s.end(s.readAll()) })
	both.Go(func() { s.end(s.sortAll(frames)) })
	both.Go(func() { s.end(s.giveAll()) })
	<-s.ctx.Done()
	err := context.Cause(s.ctx)
	closed := &jsonrpc.CloseError{Code: jsonrpc.CloseAway, Reason: "the hub lost the way to the host"}
	errors.As(err, &closed)
	if !errors.As(err, new(farClose)) {
		s.send(frame{kind: kindClose, data: append(binary.BigEndian.AppendUint16(nil, uint16(closed.Code)), closed.Reason...)}) //nolint:errcheck // it is over
	}
	t.Close(closed.Code, closed.Reason) //nolint:errcheck // it is over
	both.Wait()
	return err
}

// farClose is the end as the other side told it.
type farClose struct{ *jsonrpc.CloseError }

func (f farClose) Unwrap() error { return f.CloseError }

// readAll sends what t says.
func (s *stream) readAll() error {
	for {
		// Close ends it: a WebSocket whose context ends says no goodbye.
		msg, err := s.t.Read(context.WithoutCancel(s.ctx))
		if err != nil {
			return err
		}
		for {
			f := frame{kind: kindWhole, data: msg}
			if len(msg) > PartBytes {
				f = frame{kind: kindPart, data: msg[:PartBytes]}
			}
			if err := s.wait(f.cost()); err != nil {
				return err
			}
			if err := s.send(f); err != nil {
				return err
			}
			if f.kind == kindWhole {
				break
			}
			msg = msg[PartBytes:]
		}
	}
}

// wait waits until there is room in the window, and takes it.
func (s *stream) wait(cost int64) error {
	for {
		s.mu.Lock()
		ok := s.sent-s.acked+cost <= Window
		if ok {
			s.sent += cost
		}
		s.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-s.room:
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
}

func (s *stream) send(f frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.seq = s.seq
	s.seq++
	return s.nc.Publish(s.to, f.append(make([]byte, 0, frameHeader+len(f.data))))
}

// sortAll hears what the other side says: how much it took counts at once, also while t
// takes nothing, or two who wait for each other would do so for ever.
func (s *stream) sortAll(frames <-chan *nats.Msg) error {
	for {
		select {
		case m := <-frames:
			if err := s.sort(m); err != nil {
				return err
			}
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
}

func (s *stream) sort(m *nats.Msg) error {
	s.heard.Reset(quiet)
	f, err := parseFrame(m.Data)
	if err != nil {
		return err
	}
	if f.kind == kindAsk {
		return m.Respond(nil)
	}
	if f.seq != s.next {
		return fmt.Errorf("frames were lost on the way, %d instead of %d", f.seq, s.next)
	}
	s.next++
	switch f.kind {
	case kindTaken:
		return s.hadTaken(int64(binary.BigEndian.Uint64(f.data)))
	case kindWhole, kindPart, kindClose:
		select {
		case s.data <- f:
			return nil
		default:
			return errors.New("the other side sends more than there is room for")
		}
	}
	return fmt.Errorf("a frame is of the kind %q", f.kind)
}

// hadTaken notes that the other side has taken n of what was sent.
func (s *stream) hadTaken(n int64) error {
	s.mu.Lock()
	bad := n < s.acked || n > s.sent
	s.acked = n
	s.mu.Unlock()
	if bad {
		return errors.New("more was taken than sent")
	}
	pace.Wake(s.room)
	return nil
}

// giveAll gives t what the other side says.
func (s *stream) giveAll() error {
	for {
		select {
		case f := <-s.data:
			if err := s.give(f); err != nil {
				return err
			}
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
}

func (s *stream) give(f frame) error {
	if f.kind == kindClose {
		return farClose{&jsonrpc.CloseError{Code: int(binary.BigEndian.Uint16(f.data)), Reason: string(f.data[2:])}}
	}
	msg, err := s.in.add(f)
	if err != nil {
		return err
	}
	if f.kind == kindWhole {
		if err := s.t.Write(context.WithoutCancel(s.ctx), msg); err != nil {
			return err
		}
	}
	if s.taken += f.cost(); s.taken-s.told < Window/4 {
		return nil
	}
	s.told = s.taken
	return s.send(frame{kind: kindTaken, data: binary.BigEndian.AppendUint64(nil, uint64(s.taken))})
}

// ask finds out whether the other side is there, which has said nothing for a while.
func (s *stream) ask() {
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	if _, err := s.nc.RequestWithContext(ctx, s.to, frame{kind: kindAsk}.append(nil)); err != nil {
		s.end(fmt.Errorf("ask whether the other side is there: %w", err))
		return
	}
	s.heard.Reset(quiet)
}
