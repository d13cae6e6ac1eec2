package front

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"iter"
	"log"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tandemux/host/audit"
	"tandemux/host/auth"
	"tandemux/host/listen"
	"tandemux/internal/jsonrpc"
)

// Config is what a Front needs; all members but Doors, Proved, Origins and Hosts must be set.
type Config struct {
	// Handle serves an AHP connection of a principal's until it ends.
	Handle   func(ctx context.Context, t jsonrpc.Transport, who *auth.Principal) error
	Tokens   *auth.Tokens
	Attempts *auth.Attempts
	Audit    *audit.Log
	Log      *slog.Logger
	Doors    []Door
	// Proved, if not nil, says whether the person behind a token, from a page or not, has
	// proved just now that they are there, or need not (auth.Principal).
	Proved func(token string, page bool) bool
	// Origins are the browser origins that may connect over TCP.
	Origins []string
	// Hosts are names that clients may know the machine by, besides Hostname and those
	// in the certificate.
	Hosts    []string
	Hostname string
	// Connections bounds upgraded connections and requests to doors without a prefix,
	// Requests those to doors with one, FrameBytes a message from a client.
	Connections, Requests, FrameBytes int
	// HeaderTime is how long an HTTP request's header may take, with the TLS handshake
	// before it.
	HeaderTime time.Duration
}

// Kind says how a listener's peers are authenticated.
type Kind int

// The kinds of listener.
const (
	Unix Kind = iota // same uid by peer credentials: the operator
	TCP              // a token
)

// Front is all that the host is reached by.
type Front struct {
	c Config

	// serving counts what Wait waits for: listeners, connections, requests.
	serving sync.WaitGroup

	mu          sync.Mutex
	closed      bool
	listeners   map[net.Listener]Kind
	connections []*auth.Principal // whose are open, also those being upgraded
	requests    map[*request]struct{}
}

// request is a request to a door with a prefix, while it lasts: a stream may last for
// days. They are counted apart from connections, so that neither take the other's
// places.
type request struct {
	who *auth.Principal
	end context.CancelFunc
}

// New makes a Front that listens nowhere yet.
func New(c Config) *Front {
	return &Front{c: c, listeners: map[net.Listener]Kind{}, requests: map[*request]struct{}{}}
}

// Serve accepts connections until ctx ends, the Front is closed, or the listener
// fails, and closes ln then; a Socket keeps its lock until its own Close. A stop
// gives nil. Connections last until whoever serves them ends them.
func (f *Front) Serve(ctx context.Context, ln net.Listener, kind Kind) error {
	return f.ServeAs(ctx, ln, kind, auth.Operator)
}

// ServeAs is Serve; who is whom the user's processes are on a unix socket.
func (f *Front) ServeAs(ctx context.Context, ln net.Listener, kind Kind, who *auth.Principal) error {
	if s, ok := ln.(*listen.Socket); ok {
		ln = s.Listener // it keeps its lock until its own Close
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ln.Close()
	}
	f.listeners[ln] = kind
	f.serving.Add(1)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.listeners, ln)
		f.serving.Done()
	}()
	e := newEntrance(f, kind, ln)
	e.ctx, e.user = context.WithoutCancel(ctx), who
	srv := &http.Server{
		Handler:           e,
		ReadHeaderTimeout: f.c.HeaderTime, // the TLS handshake's too
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ConnContext:       e.identify,
		ConnState:         e.count,
		// Else "OPTIONS *" would be answered before we are asked.
		DisableGeneralOptionsHandler: true,
		// It would quote what peers send.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	defer srv.Close()
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	err := srv.Serve(ln)
	if ctx.Err() != nil || f.isClosed() {
		return nil
	}
	return err
}

func (f *Front) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Announce makes listeners that are about to be served known to Listeners, and Close
// close them.
func (f *Front) Announce(kind Kind, all ...net.Listener) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ln := range all {
		f.listeners[ln] = kind
	}
}

// Listeners are those of a kind.
func (f *Front) Listeners(kind Kind) []net.Listener {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []net.Listener
	for ln, k := range f.listeners {
		if k == kind {
			all = append(all, ln)
		}
	}
	return all
}

// Close closes the listeners, lets nobody in any more, and ends the requests to doors
// with a prefix. Connections are whoever's serves them to end.
func (f *Front) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for ln := range f.listeners {
		ln.Close()
	}
	for r := range f.requests {
		r.end()
	}
}

// Wait waits, after Close, until no listener, connection and request is left.
func (f *Front) Wait() { f.serving.Wait() }

func (f *Front) Valid(token string) bool { return f.c.Tokens.Valid(token) }

// Revoked ends the requests whose tokens are not valid any more.
func (f *Front) Revoked() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.requests {
		if r.who.Token != "" && !f.c.Tokens.Valid(r.who.Token) {
			r.end()
		}
	}
}

// idleTime is how long a connection is kept for a next request. It is longer than clients
// pause: one that a request is just on its way to may not end, and those that are idle are
// bounded like any that say nothing (count).
const idleTime = 2 * time.Minute

var errTooMany = errors.New("too many connections: close some")

// places is how many of most those of a kind may have: the last ones are kept for the
// unix socket, so that no token takes its owner's.
func places(most int, kind Kind) int {
	if kind != Unix {
		most -= min(most-1, max(1, most/8))
	}
	return most
}

// within reports whether one more of a principal's is within the places of a kind, and
// its own share of them, which the user and the host itself need not keep.
func within(most int, kind Kind, who *auth.Principal, has iter.Seq[*auth.Principal]) bool {
	all, own := 0, 0
	for other := range has {
		if all++; other.ID == who.ID {
			own++
		}
	}
	return all < places(most, kind) && (who.Human || who.Service != "" || own < share(most))
}

// enter counts a connection in, unless there are too many or the Front is closed.
func (f *Front) enter(kind Kind, who *auth.Principal) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || !within(f.c.Connections, kind, who, slices.Values(f.connections)) {
		return false
	}
	f.connections = append(f.connections, who)
	f.serving.Add(1)
	return true
}

func (f *Front) leave(who *auth.Principal) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.Index(f.connections, who)
	f.connections = slices.Delete(f.connections, at, at+1)
	f.serving.Done()
}

// begin counts a request in, as enter does a connection.
func (f *Front) begin(kind Kind, r *request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	whose := func(yield func(*auth.Principal) bool) {
		for other := range f.requests {
			if !yield(other.who) {
				return
			}
		}
	}
	if f.closed || !within(f.c.Requests, kind, r.who, whose) {
		return false
	}
	f.requests[r] = struct{}{}
	f.serving.Add(1)
	return true
}

func (f *Front) end(r *request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.requests, r)
	f.serving.Done()
}

// dial opens a connection inside this process; ctx is that of what comes by it.
func (f *Front) dial(ctx context.Context, kind Kind, who *auth.Principal) (jsonrpc.Transport, error) {
	if !f.enter(kind, who) {
		return nil, errTooMany
	}
	near, far := jsonrpc.Pipe(pipeRoom)
	go func() {
		defer f.leave(who)
		if err := f.c.Handle(ctx, far, who); err != nil {
			f.c.Log.Info("connection ended", "principal", who.ID, "door", true, "err", err)
		}
		far.Close(jsonrpc.CloseAway, "") //nolint:errcheck // it is over
	}()
	return near, nil
}

// pipeRoom is how many messages lie in each direction of an in-process
// connection; beyond that the host's own queue bounds them.
const pipeRoom = 64

// Service gives the connections of a part of the host's program that works as a
// client of the host: it may do everything, and is a principal of its own. They last
// until they are closed or the host stops.
func (f *Front) Service(name string) func(context.Context) (jsonrpc.Transport, error) {
	who := auth.Service(name)
	return func(context.Context) (jsonrpc.Transport, error) {
		return f.dial(context.Background(), Unix, who)
	}
}

// As gives connections of somebody's who has one already. They last until they are closed,
// ctx ends or the host stops.
func (f *Front) As(ctx context.Context, who *auth.Principal) func(context.Context) (jsonrpc.Transport, error) {
	return func(context.Context) (jsonrpc.Transport, error) { return f.dial(ctx, Unix, who) }
}

// Reach is where a Front also listens as long as somebody says so. It is one
// goroutine's.
type Reach struct {
	f    *Front
	open func(addr string) (net.Listener, error)
	at   map[string]context.CancelFunc // by what was asked for
}

// Reach makes one that has no addresses yet; open listens on one.
func (f *Front) Reach(open func(addr string) (net.Listener, error)) *Reach {
	return &Reach{f: f, open: open, at: map[string]context.CancelFunc{}}
}

// Set listens on these addresses until ctx ends, or a later Set leaves them out;
// connections stay. The error names those that can't be had: they are tried again by the
// next Set.
func (r *Reach) Set(ctx context.Context, addresses []string) error {
	for addr, end := range r.at {
		if !slices.Contains(addresses, addr) {
			end()
			delete(r.at, addr)
		}
	}
	var failed error
	for _, addr := range addresses {
		if r.at[addr] != nil {
			continue
		}
		ln, err := r.open(addr)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		ctx, end := context.WithCancel(ctx)
		r.at[addr] = end
		r.f.Announce(TCP, ln)
		go r.f.Serve(ctx, ln, TCP) //nolint:errcheck // ends with ctx
	}
	return failed
}

// PageHeader and PageQuery carry a page's key: fetch can set a header, WebSocket can't.
const (
	PageHeader = "X-Tandemux-Page"
	PageQuery  = "page"
)

// PageCookie is the name of the cookie that holds a page's token, for the listener that a
// request came to. Browsers give cookies to all ports of a machine, so the port is a part
// of it: hosts beside each other don't take each other's.
func PageCookie(r *http.Request) string {
	name := "tandemux"
	if at, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		name += "-" + strconv.Itoa(at.Port)
	}
	if r.TLS != nil {
		return "__Host-" + name
	}
	return name
}

// PageKey is what a page must know besides its cookie. Scripts can't read the cookie, but
// a server on another port of the machine is sent it; the key lies in the storage of the
// page's origin, of which the port is a part.
func PageKey(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("tandemux page"))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// pageToken is the token in a request's cookie, if the request has the page's key, and
// empty otherwise.
func pageToken(r *http.Request) string {
	key := cmp.Or(r.Header.Get(PageHeader), r.URL.Query().Get(PageQuery))
	if key == "" {
		return ""
	}
	// A browser that is a guest as well has a cookie for each.
	name := PageCookie(r)
	for _, c := range r.Cookies() {
		if (c.Name == name || strings.HasPrefix(c.Name, name+"-")) && hmac.Equal([]byte(key), []byte(PageKey(c.Value))) {
			return c.Value
		}
	}
	return ""
}

// fromPage reports whether a request comes from a page of the listener's own. Browsers
// leave Origin out only of requests that change nothing and open nothing.
func (e *entrance) fromPage(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return r.Method == http.MethodGet && !strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
	}
	return len(origins) == 1 && e.ownOrigin(r, origins[0])
}
