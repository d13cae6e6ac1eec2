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

// Probe reports whether this program could talk to the keeper that listens on
// socket, without taking it over from the host that it serves: nil, ErrVersion
// with what to do, or ErrNotRunning. It asks for a version that there is not, and
// reads in the refusal which there are. A ctx without a deadline gets five
// seconds.
func Probe(ctx context.Context, socket string) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return &reason{fmt.Sprintf("probe the keeper on %s: %v", socket, err), []error{ErrNotRunning, err}}
	}
	defer conn.Close()
	uc := conn.(*net.UnixConn)
	if err := checkPeer(uc); err != nil {
		return fmt.Errorf("probe the keeper: %w", err)
	}
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	w := newWire(uc)
	if err := w.send(request{Op: opHello, Min: noVersion, Max: noVersion}, -1); err != nil {
		return fmt.Errorf("probe the keeper: %w", err)
	}
	var m message
	if err := w.recv(&m); err != nil {
		return fmt.Errorf("probe the keeper: %w", errors.Join(err, ctx.Err()))
	}
	switch {
	case !errors.Is(m.Error.err(), ErrVersion):
		return fmt.Errorf("probe the keeper: it answers something else than its versions: %v", m.Error.err())
	case m.Max == 0: // of an earlier release, which does not say
		return nil
	case m.Max < MinVersion || m.Min > ProtocolVersion:
		return cannotMeet(&m)
	}
	return nil
}
