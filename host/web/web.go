package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"tandemux/ahp"
	"tandemux/host/front"
	"tandemux/host/passkey"
	"tandemux/host/push"
	"tandemux/internal/client"
	"tandemux/internal/fault"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/statefile"
)

// Prefix is where the page is.
const Prefix = "/web/"

// Bounds of what is asked.
const (
	maxBody     = 8 << 10
	maxState    = 256 << 10
	answerTime  = 30 * time.Second // for who takes an answer slowly, or sends a body so
	maxBrowsers = 200              // remembered; more tokens than that are told apart no more
)

// Listener listens on an address and serves there until stop is called. The address may
// have the port 0; actual has the one that was got.
type Listener func(addr string) (actual string, stop func(), err error)

// Server is the door.
type Server struct {
	path    string // of web.json
	version string
	log     *slog.Logger
	push    *push.Pusher // nil: browsers are told nothing

	passkeys *passkey.Store
	carrier  carrier

	mu     sync.Mutex
	dial   func(context.Context) (jsonrpc.Transport, error) // of the page's own; nil before Begin
	proves func() bool                                      // see Prove
	proved map[string]time.Time                             // until when, by token
	on     bool
	kept   kept
	offers []*offer
	listen Listener // nil before Begin
	stop   func()   // ends what is listened for kept.Listen; nil where nothing is
}

type kept struct {
	// Listen is where the page is listened for beside all else; empty: nowhere.
	Listen string `json:"listen,omitempty"`
	// Tokens are the ids of those that browsers were given.
	Tokens []string `json:"tokens,omitempty"`
}

// New makes the door of a host with this state directory; p, which may be nil, tells
// browsers what waits.
func New(state, version string, p *push.Pusher, log *slog.Logger) *Server {
	s := &Server{path: filepath.Join(state, "web.json"), version: version, push: p, passkeys: passkey.Open(state, time.Now, log), log: log}
	s.carrier.changed = make(chan struct{})
	err := statefile.ReadJSON(s.path, maxState, &s.kept)
	s.on = err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the page for browsers stays off", "err", err)
	}
	return s
}

// Begin listens where the last host did. The error says what can't be had; the door works
// without. dial gives connections of a part of the host's own.
func (s *Server) Begin(dial func(context.Context) (jsonrpc.Transport, error), listen Listener) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dial, s.listen = dial, listen
	if !s.on || s.kept.Listen == "" {
		return nil
	}
	return s.reach(s.kept.Listen)
}

// reach listens on an address in place of the one before. The caller holds mu.
func (s *Server) reach(addr string) error {
	if s.listen == nil {
		return fmt.Errorf("listen on %s for browsers: the host is only starting: try again", addr)
	}
	actual, stop, err := s.listen(addr)
	if err != nil {
		return fmt.Errorf("listen for browsers: %w", err)
	}
	if s.stop != nil {
		s.stop()
	}
	s.kept.Listen, s.stop = actual, stop
	return nil
}

// Door is the entrance on the host's listeners.
func (s *Server) Door() front.Door {
	return front.Door{Prefix: Prefix, Serve: s.serve, Open: s.open}
}

// route is what a request asks for.
type route struct{ method, path string }

// asker is who may ask for something.
type asker uint8

const (
	anybody asker = iota
	letIn         // who has a token
	owner
)

// routes are those that are no files. What do gives is the answer, as JSON.
var routes = map[route]struct {
	who asker
	do  func(*Server, http.ResponseWriter, *http.Request, front.Caller) (any, error)
}{
	{http.MethodPost, "pair"}:    {anybody, (*Server).pair},
	{http.MethodPost, "offer"}:   {owner, (*Server).offer},
	{http.MethodDelete, "offer"}: {owner, (*Server).off},
	{http.MethodGet, "push"}:     {letIn, (*Server).pushKey},
	{http.MethodPost, "push"}:    {letIn, (*Server).subscribe},
	{http.MethodDelete, "push"}:  {letIn, (*Server).unsubscribe},

	{http.MethodGet, "passkey"}:         {owner, (*Server).listPasskeys},
	{http.MethodDelete, "passkey"}:      {owner, (*Server).removePasskey},
	{http.MethodPost, "passkey"}:        {letIn, (*Server).newPasskey},
	{http.MethodPut, "passkey"}:         {letIn, (*Server).addPasskey},
	{http.MethodPost, "passkey/ask"}:    {anybody, (*Server).askPasskey},
	{http.MethodPut, "passkey/sign-in"}: {anybody, (*Server).signIn},
	{http.MethodPut, "passkey/prove"}:   {letIn, (*Server).prove},
}

// The kinds of errors, by their answers; those of AHP have one of their own.
var (
	errBad       = fault.New(http.StatusBadRequest, "not understood")
	errForbidden = fault.New(http.StatusForbidden, "forbidden")
	errNotFound  = fault.New(http.StatusNotFound, "not found")
	errConflict  = fault.New(http.StatusConflict, "conflict")
	errInternal  = fault.New(http.StatusInternalServerError, "failed")
)

// statusOf is what an error is answered with.
func statusOf(err error) int {
	switch ahp.CodeOf(err) {
	case ahp.CodeInvalidParams:
		return http.StatusBadRequest
	case ahp.CodePermissionDenied:
		return http.StatusForbidden
	}
	return cmp.Or(fault.Status(err), http.StatusConflict)
}

// secretError is about a secret that is none; the reason is for the record.
type secretError struct{ reason, text string }

func (e secretError) Error() string { return e.text }

// open reports whether anybody may ask: for files, and to pair.
func (s *Server) open(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.on {
		return false
	}
	if rt, is := routes[routeOf(r)]; is {
		return rt.who == anybody
	}
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

func routeOf(r *http.Request) route { return route{r.Method, r.URL.Path[len(Prefix):]} }

func (s *Server) serve(w http.ResponseWriter, r *http.Request, c front.Caller) {
	for k, v := range headers {
		w.Header().Set(k, v)
	}
	to := http.NewResponseController(w)
	to.SetReadDeadline(time.Now().Add(answerTime))  //nolint:errcheck // not all can; then the front's bounds hold
	to.SetWriteDeadline(time.Now().Add(answerTime)) //nolint:errcheck // so
	switch rt, is := routes[routeOf(r)]; {
	case is && rt.who == owner && !c.Operates:
		http.Error(w, "only the host's owner lets browsers in: a token needs the scope \"admin\"", http.StatusForbidden)
	case is:
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		got, err := rt.do(s, w, r, c)
		if secret, is := errors.AsType[secretError](err); is {
			c.Fail(w, r, secret.reason, secret.text)
		} else if err != nil {
			http.Error(w, err.Error(), statusOf(err))
		} else {
			w.Header().Set("Content-Type", "application/json")
			json.NewEncoder(w).Encode(got) //nolint:errcheck // who asked is gone
		}
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		file(w, r)
	default:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "only GET is answered here", http.StatusMethodNotAllowed)
	}
}

// read reads a body of JSON. A form of another page's can't have that type.
func read(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return errBad.Errorf("the body must be application/json")
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		return errBad.Errorf("read the body: %w", err)
	}
	return nil
}

// noted remembers that a browser was given a token. The caller holds mu.
func (s *Server) noted(token string) {
	s.kept.Tokens = append(s.kept.Tokens, token)
	if n := len(s.kept.Tokens); n > maxBrowsers {
		s.kept.Tokens = slices.Delete(s.kept.Tokens, 0, n-maxBrowsers)
	}
	if err := statefile.WriteJSON(s.path, s.kept); err != nil {
		s.log.Warn("a browser's token is not remembered as one", "token", token, "err", err)
	}
}

// off ends the page, what is listened for it, and the browsers' tokens.
func (s *Server) off(_ http.ResponseWriter, r *http.Request, c front.Caller) (any, error) {
	cl, err := s.connect(r.Context(), c)
	if err != nil {
		return nil, err
	}
	defer cl.Close()
	s.mu.Lock()
	tokens, stop := s.kept.Tokens, s.stop
	s.on, s.kept, s.stop = false, kept{}, nil
	for len(s.offers) > 0 {
		s.offers[0].close(s)
	}
	err = os.Remove(s.path)
	s.mu.Unlock()
	if os.IsNotExist(err) {
		err = nil
	}
	ended, failed := revoke(r.Context(), cl, tokens)
	if s.push != nil {
		s.push.Prune()
	}
	var left ahp.TokenListResult
	if cl.Call(r.Context(), ahp.MethodTokenList, ahp.SubscribeParams{Channel: ahp.RootURI}, &left) == nil {
		s.prunePasskeys(left.Items)
	}
	if stop != nil {
		// This request may have come that way.
		time.AfterFunc(time.Second, stop)
	}
	return map[string]int{"ended": ended}, cmp.Or(err, failed)
}

// revoke ends tokens and gives how many there were; the first error counts.
func revoke(ctx context.Context, cl *client.Client, tokens []string) (ended int, err error) {
	for _, id := range tokens {
		switch e := cl.Call(ctx, ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, ID: id}, nil); {
		case e == nil:
			ended++
		case ahp.CodeOf(e) != ahp.CodeNotFound:
			err = cmp.Or(err, e)
		}
	}
	return ended, err
}
