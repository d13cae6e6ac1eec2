package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"tandemux/host/auth"
	"tandemux/host/front"
	"tandemux/host/task"
	"tandemux/host/task/access"
	"tandemux/host/task/store"
)

type API struct {
	// Open returns the service, which it opens at its first use. On an error requests are answered
	// with 503.
	Open func() (*task.Service, error)
	// State is the host's state directory. If it has no database of tasks, the service is not opened
	// for checking an API key.
	State string
	Log   *slog.Logger
}

// caller is what a request's context holds: who makes the request, and of which API.
type caller struct {
	api *API
	who access.Principal
}

type callerKey struct{}

// mux finds the route of a request. It is made at the first request.
var mux = sync.OnceValue(func() *http.ServeMux {
	m := http.NewServeMux()
	for i := range Table {
		m.HandleFunc(Table[i].Method+" "+Prefix+Table[i].Path, Table[i].serve)
	}
	return m
})

// serve answers a request of who.
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

func (route *Route) serve(w http.ResponseWriter, r *http.Request) {
	c, _ := r.Context().Value(callerKey{}).(caller)
	req := &Request{Request: r, W: w, Who: c.who, route: route, status: route.status}
	result, err := req.handle(c.api)
	switch {
	case err != nil && req.wrote:
		panic(http.ErrAbortHandler) // the answer is cut off, so the caller sees the error
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

// keyCaller begins the principal of a caller with an API key.
const keyCaller = "key:"

// Door returns the interface for the host's listeners.
func (a *API) Door() front.Door {
	return front.Door{
		Prefix: Prefix + "/", Inside: true, Identify: a.identify, Refuse: Refuse,
		Serve: func(w http.ResponseWriter, r *http.Request, c front.Caller) {
			who, ended, err := a.callerOf(c)
			if err != nil {
				Refuse(w, http.StatusUnauthorized, err.Error())
				return
			}
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			if ended != nil {
				go func() {
					select {
					case <-ended:
						cancel()
					case <-ctx.Done():
					}
				}()
			}
			a.serve(w, r.WithContext(ctx), who)
		},
	}
}

// identify returns the principal that an API key belongs to, or "". A host without tasks has no keys.
func (a *API) identify(secret string) string {
	if !strings.Contains(secret, "_sk_") { // also matches keys of the program's former name
		return ""
	}
	if _, err := os.Stat(filepath.Join(a.State, store.File)); err != nil {
		return ""
	}
	s, err := a.Open()
	if err != nil {
		a.Log.Error("look up an API key", "err", err)
		return ""
	}
	id, ok := s.Agents.Authenticate(secret)
	if !ok {
		return ""
	}
	return keyCaller + id
}

// callerOf returns who makes a request. ended is closed when that principal's access ends.
func (a *API) callerOf(c front.Caller) (who access.Principal, ended <-chan struct{}, err error) {
	switch id, isKey := strings.CutPrefix(c.Principal, keyCaller); {
	case c.Sandbox != "":
		return access.Principal{Kind: access.TaskKind, ID: task.TaskOf(c.Sandbox)}, nil, nil
	case isKey:
		s, err := a.Open()
		if err != nil {
			return who, nil, err
		}
		who, ended, ok := s.Agents.Principal(id)
		if !ok {
			return who, nil, errors.New("the API key was revoked")
		}
		return who, ended, nil
	case c.Operates:
		who = access.TheOperator()
		who.NeverYes, who.Person = c.Unproved, c.Person
		return who, nil, nil
	case len(c.Scopes) == 0:
		return who, nil, errors.New("the token is for one terminal, and for nothing else")
	}
	return access.Principal{Kind: access.Key, ID: strings.ReplaceAll(c.Principal, ":", "-"), Scopes: scopesOf(c.Scopes), Person: c.Person, NeverYes: c.Unproved || !slices.Contains(c.Scopes, auth.ScopeApprove)}, nil, nil
}

// scopesOf returns what a token of the host's may do with tasks. One that may drive sessions may run
// all agents and change all projects; one that may read terminals may read both.
func scopesOf(scopes []string) []access.Scope {
	switch {
	case slices.Contains(scopes, auth.ScopeSession):
		return []access.Scope{{Kind: access.Agent, ID: access.All, Role: access.Executor}, {Kind: access.Project, ID: access.All, Role: access.Editor}}
	case slices.Contains(scopes, auth.ScopeRead):
		return []access.Scope{{Kind: access.Agent, ID: access.All, Role: access.Viewer}, {Kind: access.Project, ID: access.All, Role: access.Viewer}}
	}
	return nil
}
