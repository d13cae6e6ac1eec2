package host

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"cotty/internal/jsonrpc"
)

// Door is another protocol's entrance on the host's listeners and its socket.
// Its requests have been authenticated as those of AHP are: Host, Origin and
// token are checked. What they may do, AHP decides: a door only translates, on
// connections that it gets from Caller.Dial.
type Door struct {
	// Paths are what it answers, each with its methods.
	Paths map[string][]string
	// Serve answers a request. It is counted as a connection while it lasts.
	Serve func(w http.ResponseWriter, r *http.Request, c Caller)
}

// Caller is who a door's request comes from. When the host stops, the request's
// context ends, and what Dial gave is closed.
type Caller struct {
	// Principal is compared to tell callers apart, and is no secret.
	Principal string

	f   *front
	who *principal
}

// pipeRoom is how many messages lie in each direction of an in-process
// connection; beyond that the host's own queue bounds them.
const pipeRoom = 64

// Dial opens an AHP connection of the caller's, inside this process. It lasts
// until it is closed, the caller's token ends, or the host stops. Its context is
// not the request's.
func (c Caller) Dial(context.Context) (jsonrpc.Transport, error) {
	h := c.f.h
	if !h.enter(c.f.kind) {
		return nil, errTooMany
	}
	near, far := jsonrpc.Pipe(pipeRoom)
	go func() {
		defer h.leave()
		if err := h.serveConn(c.f.ctx, far, c.who); err != nil {
			h.log.Info("connection ended", "principal", c.who.id, "door", true, "err", err)
		}
		far.Close(closeAway, "") //nolint:errcheck // it is over
	}()
	return near, nil
}

// door is the one that answers a path.
func (h *Host) door(path string) (d *Door, methods []string) {
	for i := range h.cfg.Doors {
		if methods, ok := h.cfg.Doors[i].Paths[strings.TrimSuffix(path, "/")]; ok {
			return &h.cfg.Doors[i], methods
		}
	}
	return nil, nil
}

// enterDoor decides about a request to a door.
func enterDoor(who *principal, d *Door, methods []string, r *http.Request) answer {
	if !slices.Contains(methods, r.Method) {
		allow := strings.Join(methods, ", ")
		return answer{status: http.StatusMethodNotAllowed, text: "only " + allow + " are answered here", header: [2]string{"Allow", allow}}
	}
	return answer{who: who, door: d}
}
