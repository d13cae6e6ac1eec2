package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// noVersion is one that no keeper speaks.
const noVersion = 1 << 30

// Census is what a keeper says without being taken over.
type Census struct {
	Pid int
	// Running are its children that run, without their commands and notes. One of an
	// earlier release does not say; Counted is false then.
	Running []Info
	Counted bool
}

// Probe reports whether this program could talk to the keeper that listens on
// socket, and what that keeps, without taking it over from the host that it serves:
// nil, ErrVersion with what to do, or ErrNotRunning. It asks for a version that there
// is not, and reads in the refusal which there are. A ctx without a deadline gets
// five seconds.
func Probe(ctx context.Context, socket string) (Census, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return Census{}, &reason{fmt.Sprintf("probe the keeper on %s: %v", socket, err), []error{ErrNotRunning, err}}
	}
	defer conn.Close()
	uc := conn.(*net.UnixConn)
	if err := checkPeer(uc); err != nil {
		return Census{}, fmt.Errorf("probe the keeper: %w", err)
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	w := newWire(uc)
	if err := w.send(request{Op: opHello, Min: noVersion, Max: noVersion}, -1); err != nil {
		return Census{}, fmt.Errorf("probe the keeper: %w", err)
	}
	var m message
	if err := w.recv(&m); err != nil {
		if ctx.Err() != nil {
			err = silent(uc, ctx.Err())
		}
		return Census{}, fmt.Errorf("probe the keeper: %w", err)
	}
	c := Census{m.Pid, m.List, m.Counted}
	switch {
	case !errors.Is(m.Error.err(), ErrVersion):
		return Census{}, fmt.Errorf("probe the keeper: it answers something else than its versions: %v", m.Error.err())
	case m.Max == 0: // of an earlier release, which does not say
		return c, nil
	case m.Max < MinVersion || m.Min > ProtocolVersion:
		return c, cannotMeet(&m)
	}
	return c, nil
}

// silent words that a keeper has not answered in time.
func silent(conn *net.UnixConn, err error) error {
	pid, stopped := 0, false
	if raw, rerr := conn.SyscallConn(); rerr == nil {
		raw.Control(func(fd uintptr) { pid = peerPID(int(fd)) })
	}
	if pid > 0 {
		stopped = isStopped(pid)
	}
	return explainSilence(pid, stopped, err)
}

func explainSilence(pid int, stopped bool, err error) error {
	switch {
	case stopped:
		return fmt.Errorf("the keeper (pid %d), which holds the running terminals, is stopped: `kill -CONT %d` lets it go on: %w", pid, pid, err)
	case pid > 0:
		return fmt.Errorf("the keeper (pid %d), which holds the running terminals, does not answer: %w", pid, err)
	}
	return fmt.Errorf("the keeper, which holds the running terminals, does not answer: %w", err)
}
