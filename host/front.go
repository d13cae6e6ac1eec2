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
	"sync/atomic"
	"time"

	"cotty/internal/wsrpc"
)

// Kind says how a listener's peers are authenticated.
type Kind int

// The kinds of listener.
const (
	Unix Kind = iota // same uid by peer credentials: the operator
	TCP              // a token
)

// Bounds of an HTTP request before its upgrade.
const (
	headerTime  = 5 * time.Second
	headerBytes = 16 << 10
)

// Serve accepts connections until ctx ends, the host stops, or the listener
// fails, and closes ln then; a Socket keeps its lock until its own Close. A stop
// gives nil. Connections last until Shutdown.
func (h *Host) Serve(ctx context.Context, ln net.Listener, kind Kind) error {
	if s, ok := ln.(*Socket); ok {
		ln = s.UnixListener
	}
	if !h.listen(ln, kind) {
		return ln.Close()
	}
	defer h.unlisten(ln)
	f := &front{h: h, kind: kind, address: ln.Addr(), ctx: context.WithoutCancel(ctx)}
	srv := &http.Server{
		Handler:           f,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       headerTime,
		MaxHeaderBytes:    headerBytes,
		ConnContext:       f.identify,
		ConnState:         f.count,
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

func (h *Host) listen(ln net.Listener, kind Kind) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return false
	}
	h.listeners[ln] = kind
	h.serving.Add(1)
	return true
}

func (h *Host) unlisten(ln net.Listener) {
	h.mu.Lock()
	delete(h.listeners, ln)
	h.mu.Unlock()
	h.serving.Done()
}

func (h *Host) isClosing() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closing
}

// front checks HTTP requests and makes connections of them.
type front struct {
	h       *Host
	kind    Kind
	address net.Addr
	ctx     context.Context // of Serve: connections outlive their requests
	waiting atomic.Int64    // connections that have not been upgraded
}

// count bounds connections that never say anything; one too many is closed at
// once.
func (f *front) count(c net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		if f.waiting.Add(1) > int64(f.h.limits.Connections) {
			c.Close()
		}
	case http.StateHijacked, http.StateClosed:
		f.waiting.Add(-1)
	}
}

type peerKey struct{}

// identify finds out who is at the other end of a unix socket.
func (f *front) identify(ctx context.Context, c net.Conn) context.Context {
	if f.kind != Unix {
		return ctx
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	if err := sameUser(u); err != nil {
		f.h.log.Warn("refuse a peer on the unix socket", "err", err)
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, operator)
}

// endpoints are the paths that a client may dial (ahp.md §1).
var endpoints = map[string]bool{"": true, "/": true, "/ahp": true, "/ahp/": true}

// ServeHTTP upgrades a request that may be upgraded; the URL's query, which may
// hold the token, goes into no log and no answer.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	p, reason := f.admit(r)
	switch {
	case p == nil:
		f.h.audit.turnedAway(r.RemoteAddr, reason)
		http.Error(w, reason, http.StatusForbidden)
		return
	case !endpoints[r.URL.Path]:
		http.NotFound(w, r)
		return
	case !strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		w.Header().Set("Upgrade", "websocket")
		http.Error(w, "This is a cotty host. It speaks the Agent Host Protocol over WebSocket.", http.StatusUpgradeRequired)
		return
	}
	if !f.h.enter() {
		http.Error(w, "too many connections: close some", http.StatusServiceUnavailable)
		return
	}
	defer f.h.leave()
	t, err := wsrpc.Accept(w, r, wsrpc.Options{ReadLimit: int64(f.h.limits.FrameBytes)})
	if err != nil {
		f.h.log.Info("upgrade a request", "remote", r.RemoteAddr, "err", err)
		return
	}
	if err := f.h.serveConn(f.ctx, t, p); err != nil {
		f.h.log.Info("connection ended", "principal", p.id, "remote", r.RemoteAddr, "err", err)
	}
}

// admit gives the request's principal, or nil and why there is none. Host and
// Origin come first, so that a web page learns nothing about tokens.
func (f *front) admit(r *http.Request) (*principal, string) {
	origins := r.Header.Values("Origin")
	for _, o := range origins {
		if len(origins) > 1 || !f.allowsOrigin(o) {
			return nil, "web pages of this origin may not connect"
		}
	}
	if f.kind == Unix {
		if p, ok := r.Context().Value(peerKey{}).(*principal); ok {
			return p, ""
		}
		return nil, "this socket belongs to another user"
	}
	if !f.allowsHost(r.Host) {
		return nil, "the Host header names neither this machine's loopback nor the address listened on"
	}
	if secret := tokenOf(r); secret != "" {
		if p, ok := f.h.tokens.check(secret); ok {
			return p, ""
		}
	}
	return nil, "a valid token is needed: `cotty token new` makes one"
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

// allowsHost keeps out names that an attacker's DNS points at us (rebinding).
func (f *front) allowsHost(host string) bool {
	name, port := splitPort(host)
	own, ok := f.address.(*net.TCPAddr)
	if !ok {
		return false
	}
	if want := own.AddrPort().Port(); port != "" && port != strconv.Itoa(int(want)) {
		return false
	}
	if strings.EqualFold(strings.TrimSuffix(name, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	if err != nil {
		// A name: this machine's own, where others than loopback may connect.
		return f.h.cfg.AllowRemote && strings.EqualFold(name, f.h.hostname)
	}
	ip = ip.Unmap()
	listen := own.AddrPort().Addr().Unmap()
	return ip.IsLoopback() || ip == listen ||
		// An address cannot be rebound; listening everywhere, any is ours.
		f.h.cfg.AllowRemote && listen.IsUnspecified()
}

// enter counts a connection in, unless there are too many or the host stops.
func (h *Host) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing || h.open >= h.limits.Connections {
		return false
	}
	h.open++
	h.serving.Add(1)
	return true
}

func (h *Host) leave() {
	h.mu.Lock()
	h.open--
	h.mu.Unlock()
	h.serving.Done()
}
