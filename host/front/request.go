package front

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"tandemux/host/auth"
	"tandemux/host/listen"
	"tandemux/internal/daemon"
	"tandemux/internal/wsrpc"
)

// headerBytes bounds an HTTP request's header.
const headerBytes = 16 << 10

// share is how many of most places one address, token or the like may have.
func share(most int) int { return min(most, max(8, most/4)) }

// entrance is a listener: it checks HTTP requests and makes connections of them.
type entrance struct {
	f     *Front
	kind  Kind
	names listen.HostNames
	user  *auth.Principal // the host's own user on a unix socket
	ctx   context.Context // of Serve: connections outlive their requests

	mu      sync.Mutex           // guards the following
	waiting map[net.Conn]waiting // connections that were not let in yet, or are idle again
	from    map[netip.Prefix]int // how many of them an address has
	dropped int
}

type waiting struct {
	from  netip.Prefix
	since time.Time
}

const (
	// crowded is how many times as many connections as may be open may wait while they
	// are new: for a part of the time for a header.
	crowded = 4
	newPart = 10
	// drawn is how many are drawn to find one that goes.
	drawn = 8
)

func newEntrance(f *Front, kind Kind, ln net.Listener) *entrance {
	return &entrance{
		f: f, kind: kind, names: listen.NamesOf(ln, f.c.Hosts, f.c.Hostname), ctx: context.Background(), user: auth.Operator,
		waiting: map[net.Conn]waiting{}, from: map[netip.Prefix]int{},
	}
}

// count bounds connections that say nothing, of all addresses and of each. Where one is
// too many, another goes, by chance: of the addresses that have most, and none that is new.
// So a crowd without tokens drops its own, and who asks at once gets an answer, from the
// same address too.
func (e *entrance) count(c net.Conn, s http.ConnState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, is := e.waiting[c]
	switch s {
	case http.StateNew, http.StateIdle:
		if is {
			return
		}
		w := waiting{since: time.Now()}
		if e.kind == TCP {
			w.from = auth.Subnet(remoteAddr(c.RemoteAddr().String()))
		}
		e.waiting[c] = w
		e.from[w.from]++
		e.drop(w.from)
	case http.StateHijacked, http.StateClosed:
		if is {
			e.forget(c)
		}
	}
}

// forget takes out a connection that waits no more. The caller holds e.mu.
func (e *entrance) forget(c net.Conn) {
	from := e.waiting[c].from
	delete(e.waiting, c)
	if e.from[from]--; e.from[from] == 0 {
		delete(e.from, from)
	}
}

// drop closes a connection if there are too many, in all or from an address. The caller
// holds e.mu.
func (e *entrance) drop(from netip.Prefix) {
	most := e.f.c.Connections
	goes := func(w waiting) bool { return w.from == from }
	switch {
	case len(e.waiting) > most:
		top := 0 // several addresses may have it: of the newcomer's alone, its only one would go
		for _, n := range e.from {
			top = max(top, n)
		}
		goes = func(w waiting) bool { return e.from[w.from] == top }
	case e.kind == Unix || e.from[from] <= share(most):
		return
	}
	var oldest net.Conn
	seen := 0
	for c, w := range e.waiting { // in no order
		if !goes(w) {
			continue
		}
		if oldest == nil || w.since.Before(e.waiting[oldest].since) {
			oldest = c
		}
		if seen++; seen == drawn {
			break
		}
	}
	w := e.waiting[oldest]
	if time.Since(w.since) < e.f.c.HeaderTime/newPart && len(e.waiting) <= crowded*most {
		return
	}
	e.forget(oldest)
	oldest.Close()
	if e.dropped++; e.dropped&(e.dropped-1) == 0 {
		e.f.c.Log.Warn("too many connections wait to say who they are: some were closed", "address", w.from.Addr(), "closed", e.dropped)
	}
}

func remoteAddr(s string) netip.Addr {
	a, _ := netip.ParseAddrPort(s)
	return a.Addr()
}

type (
	peerKey    struct{} // *principal
	netConnKey struct{} // net.Conn
)

// identify finds out who is at the other end of a unix socket.
func (e *entrance) identify(ctx context.Context, c net.Conn) context.Context {
	ctx = context.WithValue(ctx, netConnKey{}, c)
	if e.kind != Unix {
		return ctx
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	if err := daemon.SameUser(u); err != nil {
		e.f.c.Log.Warn("refuse a peer on the unix socket", "err", err)
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, e.user)
}

// TokenPath is AHP for who brings a client of another machine to the unix socket: there,
// too, only a token lets in. Hosts that don't have it know no such path.
const TokenPath = "/ahp/token"

// PersonHeader is who that client is, there, and who asks a door: the owner's program at the
// socket says so.
const PersonHeader = "Tandemux-Person"

const maxPerson = 128

// personOf is the name in a request, if it can be shown.
func personOf(r *http.Request) string {
	name := r.Header.Get(PersonHeader)
	if len(name) > maxPerson || !utf8.ValidString(name) || strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) {
		return ""
	}
	return strings.Clone(name)
}

// endpoints are the paths that a client may dial.
var endpoints = map[string]bool{"": true, "/": true, "/ahp": true, "/ahp/": true, TokenPath: true}

// answer is a request's fate: a principal, or a status and its text.
type answer struct {
	who    *auth.Principal
	status int
	text   string
	header [2]string // one more header; the name may be empty
}

// ServeHTTP upgrades a request that may be upgraded; the URL's query, which may
// hold the token, goes into no log and no answer.
func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil {
			e.f.c.Log.Error("panic", "doing", "answer a request", "panic", fmt.Sprint(p), "remote", r.RemoteAddr, "stack", string(debug.Stack()))
			panic(http.ErrAbortHandler) // The server closes the connection and says nothing.
		}
	}()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	door, methods := e.f.door(r.URL.Path)
	a := e.admit(r, door, methods)
	if a.who == nil {
		if a.header[0] != "" {
			w.Header().Set(a.header[0], a.header[1])
		}
		// Whoever was refused gets no second request on the connection.
		w.Header().Set("Connection", "close")
		a.refuse(w, door)
		return
	}
	// Its connection waits no more, until it is idle again.
	if c, ok := r.Context().Value(netConnKey{}).(net.Conn); ok {
		e.count(c, http.StateHijacked)
	}
	if door != nil && door.Prefix != "" {
		e.answerCounted(w, r, door, a.who)
		return
	}
	if !e.f.enter(e.kind, a.who) {
		http.Error(w, errTooMany.Error(), http.StatusServiceUnavailable)
		return
	}
	defer e.f.leave(a.who)
	if door != nil {
		door.Serve(w, r, e.caller(a.who))
		return
	}
	t, err := wsrpc.Accept(w, r, wsrpc.Options{ReadLimit: int64(e.f.c.FrameBytes), Pings: true})
	if err != nil {
		e.f.c.Log.Info("upgrade a request", "remote", r.RemoteAddr, "err", err)
		return
	}
	if a.who.Token != "" {
		e.f.c.Audit.Connected(a.who.ID, r.RemoteAddr)
	}
	if err := e.f.c.Handle(e.ctx, t, a.who); err != nil {
		e.f.c.Log.Info("connection ended", "principal", a.who.ID, "remote", r.RemoteAddr, "err", err)
	}
}

// admit decides about a request, to a door if there is one for its path. Host and Origin come first, so that a web page
// learns nothing about tokens, and the token before all that would tell whoever
// has none what is here.
func (e *entrance) admit(r *http.Request, door *Door, methods []string) answer {
	origins := r.Header.Values("Origin")
	for _, o := range origins {
		if len(origins) > 1 || !e.allowsOrigin(o) && (!e.ownOrigin(r, o) || door == nil && pageToken(r) == "") {
			return e.turnAway(r, "web pages of this origin may not connect")
		}
	}
	var who *auth.Principal
	if e.kind == Unix {
		var ok bool
		if who, ok = r.Context().Value(peerKey{}).(*auth.Principal); !ok {
			return e.turnAway(r, "this socket belongs to another user")
		}
		if r.URL.Path == TokenPath || door != nil && door.Refuse != nil && r.Header.Get("Authorization") != "" {
			var reason string
			if who, reason = e.holder(r, door); who == nil {
				return e.failed(r, reason)
			}
		}
		if name := personOf(r); name != "" && who.Sandbox == "" && (r.URL.Path == TokenPath || door != nil) {
			named := *who
			named.Person, who = name, &named
		}
	} else {
		if !e.names.Allow(r.Host) {
			return e.turnAway(r, "the Host header names neither this machine's loopback nor the address listened on; --allow-host of `tandemux host` allows a name")
		}
		var reason string
		if door != nil && door.Open != nil && door.Open(r) {
			who = auth.Anyone
		} else if who, reason = e.holder(r, door); who == nil {
			return e.failed(r, reason)
		}
	}
	if who.Sandbox != "" && !endpoints[r.URL.Path] && (door == nil || !door.Inside) {
		return answer{status: http.StatusNotFound, text: "404 page not found"}
	}
	if door != nil {
		if methods != nil && !slices.Contains(methods, r.Method) {
			allow := strings.Join(methods, ", ")
			return answer{status: http.StatusMethodNotAllowed, text: "only " + allow + " are answered here", header: [2]string{"Allow", allow}}
		}
		return answer{who: who}
	}
	switch {
	case !endpoints[r.URL.Path]:
		return answer{status: http.StatusNotFound, text: "404 page not found"}
	case r.Method != http.MethodGet:
		return answer{status: http.StatusMethodNotAllowed, text: "only GET is answered here", header: [2]string{"Allow", http.MethodGet}}
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		return answer{
			status: http.StatusUpgradeRequired, header: [2]string{"Upgrade", "websocket"},
			text: "This is a tandemux host. It speaks the Agent Host Protocol over WebSocket; its page for browsers is at /web/.",
		}
	case r.ContentLength != 0 || len(r.TransferEncoding) > 0:
		return answer{status: http.StatusBadRequest, text: "an upgrade has no body"}
	}
	return answer{who: who}
}

// holder is who a request's secret belongs to, by the tokens or by the door, nil with the
// reason if nobody.
func (e *entrance) holder(r *http.Request, door *Door) (who *auth.Principal, reason string) {
	secret := tokenOf(r)
	page := secret == "" && e.kind == TCP && e.fromPage(r)
	if page {
		secret = pageToken(r)
	}
	t, reason := e.f.c.Tokens.Check(secret)
	if t != nil {
		who := t.Principal()
		who.Page = page
		if e.f.c.Proved != nil {
			who.Proved = func() bool { return e.f.c.Proved(who.Token, page) }
		}
		return who, ""
	}
	if secret != "" && door != nil && door.Identify != nil {
		if id := door.Identify(secret); id != "" {
			return &auth.Principal{ID: id, ByDoor: true}, ""
		}
	}
	return nil, reason
}

// refuse writes a refusal, in the form of the door that the request is for.
func (a answer) refuse(w http.ResponseWriter, door *Door) {
	if door == nil || door.Refuse == nil {
		http.Error(w, a.text, a.status)
		return
	}
	door.Refuse(w, a.status, a.text)
}

func (e *entrance) turnAway(r *http.Request, reason string) answer {
	e.f.c.Audit.TurnedAway(r.RemoteAddr, reason)
	return answer{status: http.StatusForbidden, text: reason}
}

// failed answers an attempt without a valid token. The answer does not say
// what is wrong with it.
func (e *entrance) failed(r *http.Request, reason string) answer {
	wait, count, early := e.f.c.Attempts.Fail(remoteAddr(r.RemoteAddr))
	e.f.c.Audit.Failed(r.RemoteAddr, reason, count)
	if !early {
		return answer{
			status: http.StatusUnauthorized, header: [2]string{"WWW-Authenticate", `Bearer realm="tandemux"`},
			text: "a valid token is needed: `tandemux token new` makes one; `tandemux web` lets a browser in",
		}
	}
	seconds := strconv.Itoa(int((wait + time.Second - 1) / time.Second))
	return answer{
		status: http.StatusTooManyRequests, header: [2]string{"Retry-After", seconds},
		text: "too many attempts without a valid token from this address: wait " + seconds + " s; a valid one is let in at any time",
	}
}

// tokenOf is the token of ?tkn= or of an Authorization header.
func tokenOf(r *http.Request) string {
	if scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(secret)
	}
	return r.URL.Query().Get("tkn")
}

func (e *entrance) allowsOrigin(origin string) bool {
	return slices.ContainsFunc(e.f.c.Origins, func(o string) bool {
		return strings.EqualFold(strings.TrimSuffix(o, "/"), origin)
	})
}

// ownOrigin reports whether a request comes from a page of ours, or from a client that
// says where it sends to, as those of MCP do. A page from elsewhere can't have this
// origin: Host is checked as well.
func (e *entrance) ownOrigin(r *http.Request, origin string) bool {
	return e.kind == TCP && strings.EqualFold(origin, e.names.Origin(r.Host))
}
