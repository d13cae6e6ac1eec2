package keeper

import (
	"context"
	"errors"
	"log/slog"
	"net"
)

// Listen makes the keeper's socket: 0600, refusing when another keeper answers
// on it, replacing it when none does.
func Listen(socket string) (*net.UnixListener, error) { return nil, errors.New("not yet") }

// Run is the whole of a keeper process: it makes the socket, shields the
// process from terminal signals, marks inherited descriptors close-on-exec and
// serves until ctx ends or a host asks for Shutdown. The caller has already
// detached it (own session, no terminal, standard streams on /dev/null).
func Run(ctx context.Context, socket string, log *slog.Logger) error { return errors.New("not yet") }

// Serve keeps children for the hosts that connect to ln, one after another. It
// returns nil after a host's Shutdown; when ctx ends it ends all children in
// the same way and returns ctx's error. The listener is closed on return. A nil
// log discards.
func Serve(ctx context.Context, ln *net.UnixListener, log *slog.Logger) error {
	return errors.New("not yet")
}
