package front

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/host/auth"
	"tandemux/host/listen"
	"tandemux/internal/daemon"
	"tandemux/internal/wsrpc"
)

// Bounds of what comes from outside.
const (
	DefaultBody = 1 << 20
	headerBytes = 16 << 10
	headerTime  = 10 * time.Second
	maxRequests = 4096 // at once
	maxShare    = 1024 // of them, of one person
)

type Config struct {
	Authenticators []Authenticator
	Routes         []Route
	// Hosts are names that clients may know the machine by, besides Hostname and those in
	// the certificate; Origins are web pages' that may ask, besides the hub's own.
	Hosts, Origins []string
	Hostname       string
	// Audit is told of each request that may change something, and how it was answered: by
	// whom it is known.
	Audit func(p Person, r *http.Request, d Deed)
	Log   *slog.Logger
	Now   func() time.Time
}

// Front is all that the hub is reached by over HTTP.
type Front struct {
	c        Config
	mux      *http.ServeMux
	attempts *auth.Attempts
	busy     *share[string]
}

// New makes a Front that listens nowhere yet. Two routes for one pattern are a mistake
// of the program's, and panic.
func New(c Config) *Front {
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	f := &Front{c: c, mux: http.NewServeMux(), attempts: auth.NewAttempts(c.Now), busy: newShare[string](maxRequests, maxShare)}
	for _, r := range c.Routes {
		f.mux.HandleFunc(r.Pattern, f.route(r))
	}
	return f
}

// Serve answers on a listener, TCP's or the unix socket, until ctx ends or it fails.
func (f *Front) Serve(ctx context.Context, ln net.Listener) error {
	unix := ln.Addr().Network() == "unix"
	e := &entrance{f: f, unix: unix, names: listen.NamesOf(ln, f.c.Hosts, f.c.Hostname)}
	e.open.share = newShare[netip.Prefix](maxConnections, maxOfAddress)
	srv := &http.Server{
		Handler: e, ReadHeaderTimeout: headerTime, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: headerBytes,
		ConnContext: e.peer, ConnState: e.open.count, BaseContext: func(net.Listener) context.Context { return ctx },
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     log.New(io.Discard, "", 0), // it would quote what peers send
	}
	defer context.AfterFunc(ctx, func() { srv.Close() })()
	err := srv.Serve(ln)
	if ctx.Err() != nil {
		return nil
	}
	return err
}

type entrance struct {
	f     *Front
	unix  bool
	names listen.HostNames
	open  connections
}

type unixPeer struct{}

// peer finds out who is at the other end of the unix socket.
func (e *entrance) peer(ctx context.Context, c net.Conn) context.Context {
	if u, is := c.(*net.UnixConn); is && e.unix && daemon.SameUser(u) == nil {
		return context.WithValue(ctx, unixPeer{}, true)
	}
	return ctx
}

// ServeHTTP checks what is so for all routes.
func (e *entrance) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // it is compared by the server, too
			e.f.c.Log.Error("panic", "doing", "answer a request", "panic", fmt.Sprint(p), "path", r.URL.Path, "stack", string(debug.Stack()))
			panic(http.ErrAbortHandler)
		}
	}()
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	for _, o := range r.Header.Values("Origin") {
		if !slices.Contains(e.f.c.Origins, o) && (e.unix || !strings.EqualFold(o, e.names.Origin(r.Host))) {
			Refuse(w, http.StatusForbidden, "forbidden", "web pages of this origin may not connect")
			return
		}
	}
	if !e.unix && !e.names.Allow(r.Host) {
		Refuse(w, http.StatusForbidden, "forbidden", "the Host header names neither this machine nor the address listened on: --allow-host of `tandemux hub serve` allows a name")
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && !strings.HasPrefix(r.URL.Path, "/hosts/") {
		Refuse(w, http.StatusMisdirectedRequest, wsrpc.IsHub, "this is a hub, which has no terminals: its hosts are at /hosts/NAME/ahp")
		return
	}
	if _, pattern := e.f.mux.Handler(r); pattern == "" {
		w = nowhere{w, r}
	}
	e.f.mux.ServeHTTP(w, r)
}

// nowhere says what the mux says by itself in the form of all other answers.
type nowhere struct {
	http.ResponseWriter
	asked *http.Request
}

func (n nowhere) WriteHeader(status int) {
	Refuse(n.ResponseWriter, status, "not_found", fmt.Sprintf("this is a hub, which has its hosts and their tasks: it does not answer %s %s", n.asked.Method, n.asked.URL.Path))
}

func (nowhere) Write(text []byte) (int, error) { return len(text), nil }

// route is a handler with what is asked before it.
func (f *Front) route(r Route) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		who := remote(req).String() // where nobody has said their name
		req = req.WithContext(context.WithValue(req.Context(), frontKey{}, f))
		if !r.Open {
			p, err := f.person(req)
			if err != nil {
				Fail(w, req, err.Error())
				return
			}
			if f.c.Audit != nil && req.Method != http.MethodGet && req.Method != http.MethodHead {
				told, d := &told{ResponseWriter: w, status: http.StatusOK}, &Deed{What: r.Does, On: named(req)}
				w, req = told, req.WithContext(context.WithValue(req.Context(), deedKey{}, d))
				defer func() { d.Status = told.status; f.c.Audit(p, req, *d) }()
			}
			if r.Scope != "" {
				if err := p.Allowed(r.Scope); err != nil {
					Refuse(w, http.StatusForbidden, "forbidden", err.Error())
					return
				}
			}
			ctx, cancel := context.WithCancel(context.WithValue(req.Context(), personKey{}, p))
			defer cancel()
			if p.Ended != nil {
				go func() {
					select {
					case <-p.Ended:
						cancel()
					case <-ctx.Done():
					}
				}()
			}
			who, req = p.Name, req.WithContext(ctx)
		}
		if !f.busy.take(who) {
			w.Header().Set("Retry-After", "1")
			Refuse(w, http.StatusServiceUnavailable, "busy", "too many requests at once: try again in a second")
			return
		}
		defer f.busy.give(who)
		body := cmp.Or(r.Body, DefaultBody)
		req.Body = http.MaxBytesReader(w, req.Body, body)
		r.Serve(w, req)
	}
}

// Deed is what a request did.
type Deed struct {
	What   string // the route's Does
	On     string // what it was done to: what the path names, or On said
	Status int
}

type deedKey struct{}

// On says for the audit what a request is about, where its path says it in other words or
// not at all.
func On(ctx context.Context, what string) {
	if d, is := ctx.Value(deedKey{}).(*Deed); is {
		d.On = what
	}
}

// named is what a path names first.
func named(r *http.Request) string {
	_, rest, _ := strings.Cut(r.Pattern, "{")
	name, _, _ := strings.Cut(rest, "}")
	return r.PathValue(name)
}

// told is an answer whose status is remembered.
type told struct {
	http.ResponseWriter
	status int
}

func (t *told) WriteHeader(status int) {
	t.status = status
	t.ResponseWriter.WriteHeader(status)
}

// Unwrap is for http.ResponseController.
func (t *told) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (f *Front) person(r *http.Request) (Person, error) {
	if r.Context().Value(unixPeer{}) != nil && r.Header.Get("Authorization") == "" {
		return Operator, nil
	}
	for _, a := range f.c.Authenticators {
		if p, err := a(r); !errors.Is(err, ErrNobody) {
			return p, err
		}
	}
	return Person{}, ErrNobody
}

// TokenHeader has the hub's token where Authorization has a host's.
const TokenHeader = "Tandemux-Hub-Token"

// Asker is who asks on an open route where a host finds out whom it lets in: by the session
// of their browser or the token in TokenHeader. Nobody is no error, a wrong token is.
func Asker(r *http.Request) (Person, error) {
	f, _ := r.Context().Value(frontKey{}).(*Front)
	mine := r.Clone(r.Context())
	mine.Header.Del("Authorization")
	if token := r.Header.Get(TokenHeader); token != "" {
		mine.Header.Set("Authorization", "Bearer "+token)
	}
	p, err := f.person(mine)
	if errors.Is(err, ErrNobody) && r.Header.Get(TokenHeader) == "" {
		err = nil
	}
	return p, err
}

type frontKey struct{}

// remote is what counts as the address of a request.
func remote(r *http.Request) netip.Prefix {
	addr, _ := netip.ParseAddrPort(r.RemoteAddr) //nolint:errcheck // the unix socket's has none
	return auth.Subnet(addr.Addr())
}

// Fail answers a request whose credential is none, and counts it for its address: of a
// Front's, as an open route may find out. The reason is for the log.
func Fail(w http.ResponseWriter, r *http.Request, reason string) {
	f, _ := r.Context().Value(frontKey{}).(*Front)
	wait, count, early := f.attempts.Fail(remote(r).Addr())
	if count&(count-1) == 0 {
		f.c.Log.Warn("refuse a request", "remote", r.RemoteAddr, "reason", reason, "failures", count)
	}
	w.Header().Set("Connection", "close")
	if early {
		seconds := strconv.Itoa(int((wait + time.Second - 1) / time.Second))
		w.Header().Set("Retry-After", seconds)
		Refuse(w, http.StatusTooManyRequests, "too_many_attempts", "too many attempts without a valid token from this address: wait "+seconds+" s; a valid one is let in at any time")
		return
	}
	w.Header().Set("WWW-Authenticate", `Bearer realm="tandemux hub"`)
	Refuse(w, http.StatusUnauthorized, "unauthorized", "a valid token is needed: `tandemux hub token new` makes one")
}

// Refuse answers with an error, in the form of the tasks' API.
func Refuse(w http.ResponseWriter, status int, code, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(map[string]any{"statusCode": status, "code": code, "message": text}) //nolint:errcheck // who asked is gone
}

// Answer writes what a handler has as JSON, or its error.
func Answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		Refuse(w, http.StatusUnprocessableEntity, "refused", err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(v) //nolint:errcheck // who asked is gone
}

// Read decodes a request's body; where it can't it answers, and gives false.
func Read(w http.ResponseWriter, r *http.Request, v any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		Refuse(w, http.StatusBadRequest, "bad_request", "read the request: "+err.Error())
		return false
	}
	return true
}

// Does is a handler of what needs no body.
func Does[T any](do func(r *http.Request) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := do(r)
		Answer(w, v, err)
	}
}

// Takes is a handler of what takes a body, and who sent it.
func Takes[In, Out any](do func(r *http.Request, by Person, in In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if Read(w, r, &in) {
			by, _ := Of(r.Context())
			v, err := do(r, by, in)
			Answer(w, v, err)
		}
	}
}

// Bearer is the secret of a request's Authorization header, "" for none.
func Bearer(r *http.Request) string {
	if scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(secret)
	}
	return ""
}

// Person is who a request comes from: somebody, or a program that has a token.
type Person struct {
	// Name is who did it, on every record: "operator", a token's name, or an address.
	Name string
	// Groups are those of an identity provider.
	Groups []string
	// Scopes are those of host/auth.
	Scopes []string
	// Ended is closed when who they are is so no more: a token was revoked. Their requests
	// end then. nil: never.
	Ended <-chan struct{}
	// Local is set for the hub's own user, on its unix socket.
	Local bool
}

// Operator is the hub's own user, on its unix socket.
var Operator = Person{Name: "operator", Scopes: auth.AllScopes, Local: true}

// May reports whether a person has a scope, as tokens of hosts have it.
func (p Person) May(scope string) bool { return (&auth.Principal{Scopes: p.Scopes}).May(scope) }

type personKey struct{}

// Of is the person whose context it is; ok is false on an open route.
func Of(ctx context.Context) (p Person, ok bool) {
	p, ok = ctx.Value(personKey{}).(Person)
	return p, ok
}

// ErrNobody is given by an Authenticator for a request without a credential of its kind:
// the next one is asked.
var ErrNobody = errors.New("no credential")

// Authenticator says whose a request is. Any error but ErrNobody refuses it; its text is
// for the log, and who asks is told nothing of it.
type Authenticator func(r *http.Request) (Person, error)

// Route is what answers a path.
type Route struct {
	// Pattern is http.ServeMux's: "GET /api/v1/tasks", "/api/v1/" for all below it.
	Pattern string
	// Does is what it is called in the audit, such as "token new"; "" for what changes nothing.
	Does string
	// Scope is what a caller must have; with none the handler authorises each verb.
	Scope string
	// Open lets anybody in, without a Person: sign-in, health, and what is authenticated
	// elsewhere. Host and Origin are checked all the same.
	Open bool
	// Body bounds a request's body in bytes, DefaultBody where it is 0.
	Body int64
	// Serve answers.
	Serve http.HandlerFunc
}

// Allowed is p's right to a scope as an error for people, nil if it has it.
func (p Person) Allowed(scope string) error {
	if slices.Contains(auth.AllScopes, scope) && p.May(scope) {
		return nil
	}
	return errors.New("this needs the scope " + scope + ", which " + p.Name + " does not have")
}
