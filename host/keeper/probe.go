package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"

	"tandemux/internal/daemon"
)

// noVersion is a version that no keeper speaks.
const noVersion = 1 << 30

// Census is what a keeper tells without being taken over.
type Census struct {
	Pid int
	// Running are its children that run, without their commands and notes.
	Running []Info
}

// Probe reports whether this program could use the keeper that listens on socket, and which
// children that has, without taking it over from its host. The error is nil, ErrVersion with what
// to do, or ErrNotRunning. Probe asks for a version that no keeper speaks; the refusal names the
// keeper's versions. A ctx without a deadline gets five seconds.
func Probe(ctx context.Context, socket string) (Census, error) {
	w, m, err := greet(ctx, socket, noVersion, noVersion)
	if err != nil {
		return Census{}, err
	}
	w.close()
	c := Census{m.Pid, m.List}
	switch {
	case !errors.Is(m.Error.err(), ErrVersion):
		return Census{}, fmt.Errorf("probe the keeper: it answers something else than its versions: %v", m.Error.err())
	case m.Max < MinVersion || m.Min > ProtocolVersion:
		return c, cannotMeet(&m)
	}
	return c, nil
}

// silent words the error of a keeper that has not answered in time.
func silent(conn *net.UnixConn, err error) error {
	_, pid, _ := daemon.Peer(conn)
	return explainSilence(pid, pid > 0 && isStopped(pid), err)
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
