package api

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"tandemux/host/task"
	"tandemux/host/task/access"
)

// API answers requests.
type API struct {
	// Open gives the service, opened at first use. An error is answered with 503.
	Open func() (*task.Service, error)
	// State is the host's state directory: without a store of tasks there it is not
	// opened to look for a key.
	State string
	Log   *slog.Logger
}

// caller is what the context of a request holds: who asks, of which interface.
type caller struct {
	api *API
	who access.Principal
}

type callerKey struct{}

// mux finds the route of a request. It is made at the first one.
var mux = sync.OnceValue(func() *http.ServeMux {
	m := http.NewServeMux()
	for i := range Table {
		m.HandleFunc(Table[i].Method+" "+Prefix+Table[i].Path, Table[i].serve)
	}
	return m
})

// serve answers a request whose caller is known.
func (a *API) serve(w http.ResponseWriter, r *http.Request, who access.Principal) {
	if _, pattern := mux().Handler(r); pattern != "" {
		mux().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller{a, who})))
		return
	}
	var allow []string
	for _, route := range Table {
		other := *r
		other.Method = route.Method
		if _, pattern := mux().Handler(&other); pattern != "" && !slices.Contains(allow, route.Method) {
			allow = append(allow, route.Method)
		}
	}
	if len(allow) == 0 {
		a.fail(w, r, Errorf(http.StatusNotFound, "there is nothing at this path; %s/openapi.json describes what there is", Prefix))
		return
	}
	slices.Sort(allow)
	w.Header().Set("Allow", strings.Join(allow, ", "))
	a.fail(w, r, Errorf(http.StatusMethodNotAllowed, "%s is not answered here, but %s", clip(r.Method), strings.Join(allow, ", ")))
}

// serve answers a request to a route.
func (route *Route) serve(w http.ResponseWriter, r *http.Request) {
	c, _ := r.Context().Value(callerKey{}).(caller)
	req := &Request{Request: r, W: w, Who: c.who, route: route, status: route.status}
	result, err := req.handle(c.api)
	switch {
	case err != nil && req.wrote:
		panic(http.ErrAbortHandler) // the answer is cut off, and the caller sees that
	case err != nil:
		c.api.fail(w, r, err)
	case route.gives != "":
		req.Write(nil) //nolint:errcheck // the caller is gone
	case req.status == http.StatusNoContent:
		w.WriteHeader(req.status)
	default:
		WriteJSON(w, req.status, result)
	}
}

func (r *Request) handle(a *API) (any, error) {
	if !r.route.storeless {
		var err error
		if r.Tasks, err = a.Open(); err != nil {
			a.Log.Error("open the store of tasks", "err", err)
			return nil, Errorf(http.StatusServiceUnavailable, "the store of tasks can't be opened: %v", err)
		}
	}
	if r.route.keyed && r.Header.Get(keyHeader) != "" {
		return r.once()
	}
	return r.route.handle(r)
}
