package host

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandemux/host/auth"
	"tandemux/host/listen"
	"tandemux/internal/wsrpc"
)

// Kind says how a listener's peers are authenticated.
type Kind int

// The kinds of listener.
const (
	Unix Kind = iota // same uid by peer credentials: the operator
	TCP              // a token
)

// headerBytes bounds an HTTP request's header, and waitingShare is the part of
// the connections not upgraded yet that one address may have.
const (
	headerBytes  = 16 << 10
	waitingShare = 4
)

// Serve accepts connections until ctx ends, the host stops, or the listener
// fails, and closes ln then; a Socket keeps its lock until its own Close. A stop
// gives nil. Connections last until Shutdown.
func (h *Host) Serve(ctx context.Context, ln net.Listener, kind Kind) error {
	return h.serveAs(ctx, ln, kind, auth.Operator)
}

// serveAs is Serve; who is whom the user's processes are on a unix socket.
func (h *Host) serveAs(ctx context.Context, ln net.Listener, kind Kind, who *auth.Principal) error {
	if s, ok := ln.(*listen.Socket); ok {
		ln = s.Listener // it keeps its lock until its own Close
	}
	if !h.listen(ln, kind) {
		return ln.Close()
	}
	defer h.unlisten(ln)
	f := newFront(h, kind, ln)
	f.ctx, f.user = context.WithoutCancel(ctx), who
	srv := &http.Server{
		Handler:           f,
		ReadHeaderTimeout: h.limits.HeaderTime, // the TLS handshake's too
		IdleTimeout:       h.limits.HeaderTime,
		MaxHeaderBytes:    headerBytes,
		ConnContext:       f.identify,
		ConnState:         f.count,
		// Else "OPTIONS *" would be answered before we are asked.
		DisableGeneralOptionsHandler: true,
		// It would quote what peers send.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	defer srv.Close()
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	err := srv.Serve(ln)
	if ctx.Err() != nil || h.isClosing() {
		return nil
	}
	return err
}

// Announce makes a listener that is about to be served known to x-tandemux/host,
// and Shutdown close it.
func (h *Host) Announce(ln net.Listener, kind Kind) {
	tx := h.lock()
	defer tx.unlock()
	h.listeners[ln] = kind
}

func (h *Host) listen(ln net.Listener, kind Kind) bool {
	tx := h.lock()
	defer tx.unlock()
	if h.closing {
		return false
	}
	h.listeners[ln] = kind
	h.serving.Add(1)
	return true
}

func (h *Host) unlisten(ln net.Listener) {
	h.locked(func(Tx) { delete(h.listeners, ln) })
	h.serving.Done()
}

func (h *Host) isClosing() bool {
	tx := h.lock()
	defer tx.unlock()
	return h.closing
}

// front checks HTTP requests and makes connections of them.
type front struct {
	h     *Host
	kind  Kind
	names listen.HostNames
	user  *auth.Principal // the host's own user on a unix socket
	ctx   context.Context // of Serve: connections outlive their requests

	mu      sync.Mutex
	waiting map[net.Conn]netip.Prefix // connections that have not been upgraded
	from    map[netip.Prefix]int      // how many of them an address has
}

func newFront(h *Host, kind Kind, ln net.Listener) *front {
	return &front{
		h: h, kind: kind, names: listen.NamesOf(ln, h.cfg.Hosts, h.hostname), ctx: context.Background(), user: auth.Operator,
		waiting: map[net.Conn]netip.Prefix{}, from: map[netip.Prefix]int{},
	}
}

// count bounds connections that never say anything, of all addresses and of
// each; one too many is closed at once.
func (f *front) count(c net.Conn, s http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch s {
	case http.StateNew, http.StateIdle:
		if _, ok := f.waiting[c]; ok {
			return
		}
		most, share := f.h.limits.Connections, f.h.limits.Connections
		var from netip.Prefix
		if f.kind == TCP {
			from = auth.Subnet(remoteAddr(c.RemoteAddr().String()))
			share = min(most, max(8, most/waitingShare))
		}
		if len(f.waiting) >= most || f.from[from] >= share {
			c.Close()
			return
		}
		f.waiting[c] = from
		f.from[from]++
	case http.StateHijacked, http.StateClosed:
		f.settled(c)
	}
}

// settled takes a connection from those that wait. The caller holds f.mu.
func (f *front) settled(c net.Conn) {
	from, ok := f.waiting[c]
	if !ok {
		return
	}
	delete(f.waiting, c)
	if f.from[from]--; f.from[from] == 0 {
		delete(f.from, from)
	}
}

// admitted says that a request has been let in: its connection waits no more, until
// it is idle again.
func (f *front) admitted(r *http.Request) {
	if c, ok := r.Context().Value(netConnKey{}).(net.Conn); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.settled(c)
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
func (f *front) identify(ctx context.Context, c net.Conn) context.Context {
	ctx = context.WithValue(ctx, netConnKey{}, c)
	if f.kind != Unix {
		return ctx
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	if err := auth.SameUser(u); err != nil {
		f.h.log.Warn("refuse a peer on the unix socket", "err", err)
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, f.user)
}

// endpoints are the paths that a client may dial.
var endpoints = map[string]bool{"": true, "/": true, "/ahp": true, "/ahp/": true}

// answer is a request's fate: a principal, or a status and its text.
type answer struct {
	who    *auth.Principal
	door   *Door // nil for AHP
	status int
	text   string
	header [2]string // one more header; the name may be empty
	// unknown says that there is no valid secret, and nothing else is wrong.
	unknown bool
}

// ServeHTTP upgrades a request that may be upgraded; the URL's query, which may
// hold the token, goes into no log and no answer.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if f.h.contain("answer a request", recover(), "remote", r.RemoteAddr) {
			panic(http.ErrAbortHandler) // The server closes the connection and says nothing.
		}
	}()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	a := f.admit(r)
	if a.who == nil {
		if a.header[0] != "" {
			w.Header().Set(a.header[0], a.header[1])
		}
		// Whoever was refused gets no second request on the connection.
		w.Header().Set("Connection", "close")
		f.h.refuse(w, r, a)
		return
	}
	if a.door != nil && a.door.Prefix != "" {
		f.pass(w, r, a)
		return
	}
	if !f.h.enter(f.kind) {
		http.Error(w, errTooMany.Error(), http.StatusServiceUnavailable)
		return
	}
	defer f.h.leave()
	if a.door != nil {
		a.door.Serve(w, r, f.caller(a.who))
		return
	}
	t, err := wsrpc.Accept(w, r, wsrpc.Options{ReadLimit: int64(f.h.limits.FrameBytes)})
	if err != nil {
		f.h.log.Info("upgrade a request", "remote", r.RemoteAddr, "err", err)
		return
	}
	if a.who.Token != "" {
		f.h.audit.Connected(a.who.ID, r.RemoteAddr)
	}
	if err := f.h.serveConn(f.ctx, t, a.who); err != nil {
		f.h.log.Info("connection ended", "principal", a.who.ID, "remote", r.RemoteAddr, "err", err)
	}
}

// admit decides about a request. Host and Origin come first, so that a web page
// learns nothing about tokens, and the token before all that would tell whoever
// has none what is here.
func (f *front) admit(r *http.Request) answer {
	origins := r.Header.Values("Origin")
	for _, o := range origins {
		if len(origins) > 1 || !f.allowsOrigin(o) && !f.ownOrigin(r, o) {
			return f.turnAway(r, "web pages of this origin may not connect")
		}
	}
	var who *auth.Principal
	if f.kind == Unix {
		var ok bool
		if who, ok = r.Context().Value(peerKey{}).(*auth.Principal); !ok {
			return f.turnAway(r, "this socket belongs to another user")
		}
		if d, _ := f.h.door(r.URL.Path); d != nil && d.Refuse != nil && r.Header.Get("Authorization") != "" {
			var reason string
			if who, reason = f.holder(r); who == nil {
				return f.failed(r, reason)
			}
		}
	} else {
		if !f.names.Allow(r.Host) {
			return f.turnAway(r, "the Host header names neither this machine's loopback nor the address listened on; --allow-host of `tandemux host` allows a name")
		}
		var reason string
		if who, reason = f.holder(r); who == nil {
			return f.failed(r, reason)
		}
	}
	if d, _ := f.h.door(r.URL.Path); who.Sandbox != "" && !endpoints[r.URL.Path] && (d == nil || !d.Inside) {
		return answer{status: http.StatusNotFound, text: "404 page not found"}
	}
	if d, methods := f.h.door(r.URL.Path); d != nil {
		return enterDoor(who, d, methods, r)
	}
	switch {
	case !endpoints[r.URL.Path]:
		return answer{status: http.StatusNotFound, text: "404 page not found"}
	case r.Method != http.MethodGet:
		return answer{status: http.StatusMethodNotAllowed, text: "only GET is answered here", header: [2]string{"Allow", http.MethodGet}}
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		return answer{
			status: http.StatusUpgradeRequired, header: [2]string{"Upgrade", "websocket"},
			text: "This is a tandemux host. It speaks the Agent Host Protocol over WebSocket.",
		}
	case r.ContentLength != 0 || len(r.TransferEncoding) > 0:
		return answer{status: http.StatusBadRequest, text: "an upgrade has no body"}
	}
	return answer{who: who}
}

// holder is who a request's secret belongs to, nil with the reason if nobody.
func (f *front) holder(r *http.Request) (who *auth.Principal, reason string) {
	t, reason := f.h.tokens.Check(tokenOf(r))
	if t != nil {
		return t.Principal(), ""
	}
	return f.h.identify(r), reason
}

func (f *front) turnAway(r *http.Request, reason string) answer {
	f.h.audit.TurnedAway(r.RemoteAddr, reason)
	return answer{status: http.StatusForbidden, text: reason}
}

// failed answers an attempt without a valid token. The answer does not say
// what is wrong with it.
func (f *front) failed(r *http.Request, reason string) answer {
	wait, count, early := f.h.attempts.Fail(remoteAddr(r.RemoteAddr))
	f.h.audit.Failed(r.RemoteAddr, reason, count)
	if !early {
		return answer{status: http.StatusForbidden, text: "a valid token is needed: `tandemux token new` makes one", unknown: true}
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

func (f *front) allowsOrigin(origin string) bool {
	for _, o := range f.h.cfg.Origins {
		if strings.EqualFold(strings.TrimSuffix(o, "/"), origin) {
			return true
		}
	}
	return false
}

// ownOrigin reports whether a request to a door comes from a page of ours. There
// is none, but clients of MCP say where they send to, and must be let in for it.
// A page from elsewhere can't have this origin: Host is checked as well.
func (f *front) ownOrigin(r *http.Request, origin string) bool {
	d, _ := f.h.door(r.URL.Path)
	return d != nil && f.kind == TCP && strings.EqualFold(origin, f.names.Origin(r.Host))
}

// enter counts a connection in, unless there are too many or the host stops.
// The last places are kept for the unix socket: no token takes its owner's.
func (h *Host) enter(kind Kind) bool {
	tx := h.lock()
	defer tx.unlock()
	most := h.limits.Connections
	if kind != Unix {
		most -= min(most-1, max(1, most/8))
	}
	if h.closing || h.open >= most {
		return false
	}
	h.open++
	h.serving.Add(1)
	return true
}

func (h *Host) leave() {
	h.locked(func(Tx) { h.open-- })
	h.serving.Done()
}
