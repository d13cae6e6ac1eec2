package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"tandemux/host/auth"
	"tandemux/host/front"
	"tandemux/internal/fault"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// HostsPrefix is where the owner's page reaches the other hosts of its owner.
const HostsPrefix = "/hosts/"

// Bounds of carrying.
const (
	maxCarried = 256 // connections to other hosts, of all pages
	dialTime   = 20 * time.Second
	maxAsked   = 1 << 20 // of a request for a task
)

// What a page is told by the end of a connection to another host.
const (
	closeUnknown = 4404 // the owner has no host of that name, or another one now
	closeAway    = 4502 // it can't be reached; the reason says why
)

// Other is a host of the owner's list.
type Other struct {
	Name string
	// Place tells it from another host of that name. No page is told.
	Place string
}

// Others are the hosts that the owner has given names (package hosts).
type Others struct {
	List func() ([]Other, error)
	// Dial reaches one, as the owner's own interface does.
	Dial func(ctx context.Context, name string) (jsonrpc.Transport, error)
	// API asks one for a path below its /api/v1, which may have a query. The error of an
	// answer that is none has its status (package fault).
	API func(ctx context.Context, name, method, path string, body io.Reader) (*http.Response, error)
}

// carrier has what pages of the owner's are told of other hosts. Its methods may be called
// from any goroutine.
type carrier struct {
	others Others

	mu      sync.Mutex    // guards all below
	list    []Other       // as it was read last
	changed chan struct{} // closed when there is another list
	carried int
}

// Follow has pages reach the owner's other hosts. It comes before all requests.
func (s *Server) Follow(o Others) {
	s.carrier.others = o
}

// HostsChanged says that the owner's list may be another one.
func (s *Server) HostsChanged() { s.carrier.read(s) }

// read reads the list, and tells who follows it. A list with mistakes stays as it was.
func (c *carrier) read(s *Server) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.others.List == nil {
		return
	}
	list, err := c.others.List()
	if err != nil {
		s.log.Warn("the list of hosts that pages are told stays as it was", "err", err)
		return
	}
	if slices.Equal(list, c.list) {
		return
	}
	c.list = list
	close(c.changed)
	c.changed = make(chan struct{})
}

// now gives the list, and what is closed when there is another one.
func (c *carrier) now() (list []Other, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list, c.changed
}

// find gives the host of a name, as now does the list.
func (c *carrier) find(name string) (o Other, ok bool, changed <-chan struct{}) {
	list, changed := c.now()
	if i := slices.IndexFunc(list, func(o Other) bool { return o.Name == name }); i >= 0 {
		return list[i], true, changed
	}
	return o, false, changed
}

func (c *carrier) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.carried == maxCarried {
		return false
	}
	c.carried++
	return true
}

func (c *carrier) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.carried--
}

// HostsDoor is the entrance to other hosts.
func (s *Server) HostsDoor() front.Door {
	return front.Door{Prefix: HostsPrefix, Serve: s.serveHosts}
}

// serveHosts answers a page of the owner's: with the names of the other hosts, a connection
// to one, or an answer of one's. All others are refused, whatever they ask for.
func (s *Server) serveHosts(w http.ResponseWriter, r *http.Request, c front.Caller) {
	token, _ := auth.TokenOf(c.Principal)
	if !c.Page || !c.Operates {
		http.Error(w, "only a page of the host's owner, with all rights, reaches their other hosts", http.StatusForbidden)
		return
	}
	s.carrier.read(s)
	name, rest, _ := strings.Cut(r.URL.Path[len(HostsPrefix):], "/")
	switch {
	case name == "" && rest == "":
		s.tellHosts(w, r)
	case rest == "ahp":
		s.carry(w, r, name, token)
	case strings.HasPrefix(rest, "api/v1/"):
		s.askHost(w, r, name)
	default:
		http.NotFound(w, r)
	}
}

// tellHosts tells the names, at once and whenever they change, until the page leaves.
func (s *Server) tellHosts(w http.ResponseWriter, r *http.Request) {
	t, err := wsrpc.Accept(w, r, wsrpc.Options{ReadLimit: maxBody})
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() { // what it says means nothing; its end does
		defer cancel()
		for {
			if _, err := t.Read(context.WithoutCancel(ctx)); err != nil {
				return
			}
		}
	}()
	defer t.Close(jsonrpc.CloseAway, "") //nolint:errcheck // it is over
	for {
		list, changed := s.carrier.now()
		if t.Write(ctx, names(list)) != nil {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// names is what a page is told.
func names(list []Other) []byte {
	all := make([]string, len(list))
	for i, o := range list {
		all[i] = o.Name
	}
	text, _ := json.Marshal(all) //nolint:errcheck // strings can be
	return text
}

// carry connects a page to another host. A browser tells its page of no HTTP status, so what
// is wrong with the host is said by the WebSocket's end.
func (s *Server) carry(w http.ResponseWriter, r *http.Request, name, token string) {
	if !s.carrier.enter() {
		http.Error(w, "too many connections to other hosts: close some pages", http.StatusServiceUnavailable)
		return
	}
	defer s.carrier.leave()
	page, err := wsrpc.Accept(w, r, wsrpc.Options{})
	if err != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	o, ok, changed := s.carrier.find(name)
	if !ok {
		page.Close(closeUnknown, "no host has this name") //nolint:errcheck // it is over
		return
	}
	go func() {
		for is := o; is == o; is, _, changed = s.carrier.find(name) {
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
		cancel(errOther)
	}()
	dialling, stop := context.WithTimeout(ctx, dialTime)
	far, err := s.carrier.others.Dial(dialling, name)
	stop()
	if err != nil {
		s.log.Info("another host is not reached for a page", "host", name, "token", token, "err", err)
		page.Close(closeAway, shortly(err)) //nolint:errcheck // it is over
		return
	}
	s.log.Info("a page was connected to another host", "host", name, "token", token, "remote", r.RemoteAddr)
	err = (&between{page: page, far: far, proved: func() bool { return s.Proved(token, true) }}).run(ctx)
	s.log.Info("a page's connection to another host ended", "host", name, "token", token, "why", err)
}

// maxReason is how much the end of a WebSocket says, in bytes.
const maxReason = 120

// shortly is an error as far as there is room for it: the page knows the host, and of long
// ones the end says what is wrong.
func shortly(err error) string {
	text := err.Error()
	if _, more, ok := strings.Cut(text, "dial host: "); ok {
		text = more
	}
	if n := len(text) - maxReason; n > 0 {
		text = "…" + strings.ToValidUTF8(text[n+len("…"):], "")
	}
	return text
}

var errOther = errors.New("the name means no host any more, or another one")

// between is a page's connection to another host.
type between struct {
	page, far jsonrpc.Transport
	proved    func() bool

	mu sync.Mutex // for what is written to the page
	as string     // the page's id there; of up's goroutine
}

// run carries messages both ways until a side ends, or ctx does.
func (b *between) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() {
		code, why := jsonrpc.CloseAway, ""
		if errors.Is(context.Cause(ctx), errOther) {
			code, why = closeUnknown, errOther.Error()
		}
		b.page.Close(code, why) //nolint:errcheck // it is over
		b.far.Close(jsonrpc.CloseAway, "")
	})()
	ended := make(chan error, 2)
	open := context.WithoutCancel(ctx) // reading would end without a word
	pump := func(from, to jsonrpc.Transport, move func([]byte) error) {
		for {
			msg, err := from.Read(open)
			if err == nil {
				err = move(msg)
			}
			if err == nil {
				continue
			}
			// Each side is told how the other ended.
			code, why := jsonrpc.CloseAway, ""
			if closed, is := errors.AsType[*jsonrpc.CloseError](err); is && from == b.far {
				code, why = closeAway, closed.Reason
			}
			to.Close(code, why) //nolint:errcheck // it is over
			ended <- err
			return
		}
	}
	go pump(b.far, b.page, func(msg []byte) error { return b.tell(ctx, msg) })
	go pump(b.page, b.far, func(msg []byte) error { return b.up(ctx, msg) })
	err := <-ended
	<-ended
	return err
}

// tell gives the page a message.
func (b *between) tell(ctx context.Context, msg []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.page.Write(ctx, msg)
}

// up gives the other host a message of the page's; one that allows something while nobody has
// proved to be there is answered here, as this host answers its own.
func (b *between) up(ctx context.Context, msg []byte) error {
	if b.as == "" {
		b.as = clientOf(msg)
	}
	if b.proved() {
		return b.far.Write(ctx, msg)
	}
	msg, refusal, err := unproved(msg, b.as)
	switch {
	case err != nil:
		return err
	case refusal != nil:
		return b.tell(ctx, refusal)
	}
	return b.far.Write(ctx, msg)
}

// asked are the requests to another host's /api/v1 that the page has.
var asked = []struct{ method, path string }{
	{http.MethodGet, "/tasks"},
	{http.MethodGet, "/tasks/*"},
	{http.MethodDelete, "/tasks/*"},
	{http.MethodGet, "/tasks/*/workspace"},
	{http.MethodGet, "/tasks/*/workspace/patch"},
	{http.MethodPost, "/tasks/*/stop"},
	{http.MethodPost, "/tasks/*/events"},
	{http.MethodPost, "/tasks/*/workspace/update"},
	{http.MethodPost, "/tasks/*/workspace/merge"},
}

// like reports whether a path, escaped, is one of a pattern's.
func like(pattern, path string) bool {
	a, b := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(a, b, func(p, s string) bool { return p == s || p == "*" && s != "" && s != "." && s != ".." })
}

// askHost gives a page what another host answers of its tasks. None of the requests allows
// an agent anything.
func (s *Server) askHost(w http.ResponseWriter, r *http.Request, name string) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), HostsPrefix+name+"/api/v1")
	if !slices.ContainsFunc(asked, func(a struct{ method, path string }) bool { return a.method == r.Method && like(a.path, path) }) {
		http.NotFound(w, r)
		return
	}
	if _, ok, _ := s.carrier.find(name); !ok {
		http.Error(w, "no host is called "+name, http.StatusNotFound)
		return
	}
	if r.URL.RawQuery != "" {
		path += "?" + r.URL.RawQuery
	}
	got, err := s.carrier.others.API(r.Context(), name, r.Method, path, http.MaxBytesReader(w, r.Body, maxAsked))
	if err != nil {
		http.Error(w, err.Error(), cmp.Or(fault.Status(err), http.StatusBadGateway))
		return
	}
	defer got.Body.Close()
	w.Header().Set("Content-Type", got.Header.Get("Content-Type"))
	w.WriteHeader(got.StatusCode)
	io.Copy(w, got.Body) //nolint:errcheck // who asked is gone
}
