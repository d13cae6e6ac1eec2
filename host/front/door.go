package front

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	// Serve, in the door's own form; headers are set. Where it is, a secret makes a
	// request on the unix socket that of whom it belongs to.
	Refuse func(w http.ResponseWriter, status int, text string)
	// Open, if not nil, says which requests over TCP need no token: Host and Origin are
	// checked, and who asks is nobody, with Caller.Dial closed to them.
	Open func(r *http.Request) bool
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
	// Page is set for a page of the host's own: it came by its cookie, key and origin.
	Page bool
	// Unproved is set for who may allow nothing before a passkey has confirmed it.
	Unproved bool
	// Person is who a hub says the caller is (auth.Principal.Person).
	Person string

	at  *entrance
	who *auth.Principal
}

// Name is a part of clientIds of the caller's that others can't guess wrong:
// "operator" and "token:…" are not to be confused with what clients choose.
func (c Caller) Name() string {
	sum := sha256.Sum256([]byte(c.Principal))
	return hex.EncodeToString(sum[:6])
}

func (e *entrance) caller(who *auth.Principal) Caller {
	c := Caller{Principal: who.ID, Sandbox: who.Sandbox, Person: who.Person, Page: who.Page, at: e, who: who}
	if !who.Bounded() {
		c.Operates, c.Scopes, c.Unproved = who.Operates(), slices.Clone(who.Scopes), who.Unproved() != ""
	}
	return c
}

// Fail answers a request whose secret is none, as one without a valid token: it is
// counted for the address, and on record. The reason is for the record.
func (c Caller) Fail(w http.ResponseWriter, r *http.Request, reason, text string) {
	a := c.at.failed(r, reason)
	if a.status == http.StatusUnauthorized {
		a.text = text
	} else {
		w.Header().Set(a.header[0], a.header[1])
	}
	http.Error(w, a.text, a.status)
}

// Dial opens an AHP connection of the caller's, inside this process. It lasts
// until it is closed, the caller's token ends, or the host stops. Its context is
// not the request's. Whom a door identified has none.
func (c Caller) Dial(context.Context) (jsonrpc.Transport, error) {
	if c.who.ByDoor {
		return nil, errNoAHP
	}
	return c.at.f.dial(c.at.ctx, c.at.kind, c.who)
}

var errNoAHP = errors.New("an API key opens no connection")

// door is the one that answers a path; methods are nil where all are its own
// affair.
func (f *Front) door(path string) (d *Door, methods []string) {
	for i := range f.c.Doors {
		if methods, ok := f.c.Doors[i].Paths[strings.TrimSuffix(path, "/")]; ok {
			return &f.c.Doors[i], methods
		}
	}
	for i := range f.c.Doors {
		if d := &f.c.Doors[i]; d.Prefix != "" && strings.HasPrefix(path, d.Prefix) {
			return d, nil
		}
	}
	return nil, nil
}

// answerCounted has a door with a prefix answer a request.
func (e *entrance) answerCounted(w http.ResponseWriter, r *http.Request, door *Door, who *auth.Principal) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	counted := &request{who, cancel}
	if !e.f.begin(e.kind, counted) {
		w.Header().Set("Retry-After", "1")
		http.Error(w, errTooMany.Error(), http.StatusServiceUnavailable)
		return
	}
	defer e.f.end(counted)
	if who.Token != "" && !e.f.c.Tokens.Valid(who.Token) {
		cancel() // it was revoked since we asked
	}
	door.Serve(w, r.WithContext(ctx), e.caller(who))
}
