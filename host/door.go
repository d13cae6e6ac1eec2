package host

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/internal/jsonrpc"
)

// Door is another protocol's entrance on the host's listeners and its socket.
// Its requests have been authenticated as those of AHP are: Host, Origin and
// token are checked. What they may do, AHP decides: a door only translates, on
// connections that it gets from Caller.Dial.
type Door struct {
	// Paths are what it answers, each with its methods.
	Paths map[string][]string
	// Prefix, if not empty, begins further paths that it answers, with every
	// method. A door with one has requests of its own count: Limits.Requests.
	Prefix string
	// Identify, if not nil, says whose a secret is that is no token of the host's,
	// in the words of Caller.Principal; empty: nobody's. It may be asked from any
	// goroutine, and as often as somebody guesses.
	Identify func(secret string) string
	// Refuse, if not nil, writes what is answered to a request that does not get to
	// Serve, in the door's own form; headers are set. Where it is, a request without
	// a valid secret is a 401, and on the unix socket a secret makes a request that
	// of whom it belongs to.
	Refuse func(w http.ResponseWriter, status int, text string)
	// Inside lets who is in a session's sandbox in as well: Caller.Sandbox.
	Inside bool
	// Serve answers a request. It is counted as a connection while it lasts, and
	// its context ends when the caller's token does.
	Serve func(w http.ResponseWriter, r *http.Request, c Caller)
}

// Caller is who a door's request comes from. When the host stops, the request's
// context ends, and what Dial gave is closed.
type Caller struct {
	// Principal is compared to tell callers apart, and is no secret.
	Principal string
	// Operates is set for who may take any terminal, whoever holds it.
	Operates bool
	// Scopes are those of a token that is not bound to one terminal; the operator
	// has all. Whom Identify found has none.
	Scopes []string
	// Sandbox is the session in whose sandbox the caller is, empty for all others.
	Sandbox ahp.URI

	f   *front
	who *auth.Principal
}

func (f *front) caller(who *auth.Principal) Caller {
	c := Caller{Principal: who.ID, Sandbox: who.Sandbox, f: f, who: who}
	if !who.Bounded() {
		c.Operates, c.Scopes = who.Operates(), slices.Clone(who.Scopes)
	}
	return c
}

// pipeRoom is how many messages lie in each direction of an in-process
// connection; beyond that the host's own queue bounds them.
const pipeRoom = 64

// Dial opens an AHP connection of the caller's, inside this process. It lasts
// until it is closed, the caller's token ends, or the host stops. Its context is
// not the request's. Whom a door identified has none.
func (c Caller) Dial(context.Context) (jsonrpc.Transport, error) {
	if c.who.ByDoor {
		return nil, errNoAHP
	}
	return c.f.h.dial(c.f.ctx, c.f.kind, c.who)
}

var errNoAHP = errors.New("an API key opens no connection")

// Service gives the connections of a part of the host's program that works as a
// client of the host: it may do everything, and is a principal of its own,
// "service:NAME". They last until they are closed or the host stops.
func (h *Host) Service(name string) func(context.Context) (jsonrpc.Transport, error) {
	who := auth.Service(name)
	return func(context.Context) (jsonrpc.Transport, error) {
		return h.dial(context.Background(), Unix, who)
	}
}

// dial opens a connection inside this process; ctx is that of what comes by it.
func (h *Host) dial(ctx context.Context, kind Kind, who *auth.Principal) (jsonrpc.Transport, error) {
	if !h.enter(kind) {
		return nil, errTooMany
	}
	near, far := jsonrpc.Pipe(pipeRoom)
	go func() {
		defer h.leave()
		if err := h.serveConn(ctx, far, who); err != nil {
			h.log.Info("connection ended", "principal", who.ID, "door", true, "err", err)
		}
		far.Close(closeAway, "") //nolint:errcheck // it is over
	}()
	return near, nil
}

// door is the one that answers a path; methods are nil where all are its own
// affair.
func (h *Host) door(path string) (d *Door, methods []string) {
	for i := range h.cfg.Doors {
		if methods, ok := h.cfg.Doors[i].Paths[strings.TrimSuffix(path, "/")]; ok {
			return &h.cfg.Doors[i], methods
		}
	}
	for i := range h.cfg.Doors {
		if d := &h.cfg.Doors[i]; d.Prefix != "" && strings.HasPrefix(path, d.Prefix) {
			return d, nil
		}
	}
	return nil, nil
}

// identify finds a principal for a secret that is no token, by the door that the
// request is for.
func (h *Host) identify(r *http.Request) *auth.Principal {
	d, _ := h.door(r.URL.Path)
	if d == nil || d.Identify == nil {
		return nil
	}
	secret := tokenOf(r)
	if secret == "" {
		return nil
	}
	if id := d.Identify(secret); id != "" {
		return &auth.Principal{ID: id, ByDoor: true}
	}
	return nil
}

// refuse writes a refusal, in the form of the door that the request is for.
func (h *Host) refuse(w http.ResponseWriter, r *http.Request, a answer) {
	d, _ := h.door(r.URL.Path)
	if d == nil || d.Refuse == nil {
		http.Error(w, a.text, a.status)
		return
	}
	if a.unknown {
		a.status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Bearer realm="tandemux"`)
	}
	d.Refuse(w, a.status, a.text)
}

// enterDoor decides about a request to a door.
func enterDoor(who *auth.Principal, d *Door, methods []string, r *http.Request) answer {
	if methods != nil && !slices.Contains(methods, r.Method) {
		allow := strings.Join(methods, ", ")
		return answer{status: http.StatusMethodNotAllowed, text: "only " + allow + " are answered here", header: [2]string{"Allow", allow}}
	}
	return answer{who: who, door: d}
}
