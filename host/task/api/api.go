package api

import (
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"tandemux/host/task"
	"tandemux/host/task/access"
)

// API answers requests.
type API struct {
	// Open gives the service, opened at first use. An error is answered with 503.
	Open func() (*task.Service, error)
	// Version is tandemux's.
	Version string
	Log     *slog.Logger
}

// Answer is a result with a status of its own, or with headers.
type Answer struct {
	Status int
	Header map[string]string
	Body   any // nil: none
}

// Streamed is the result of a handler that has written by itself.
var Streamed any = streamed{}

type streamed struct{}

// Serve answers a request whose caller is known.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, who access.Principal) {
	route, parts, allow := match(r.Method, r.URL)
	if route == nil {
		if len(allow) > 0 {
			w.Header().Set("Allow", strings.Join(allow, ", "))
			a.fail(w, r, Errorf(http.StatusMethodNotAllowed, "%s is not answered here, but %s", clip(r.Method), strings.Join(allow, ", ")))
			return
		}
		a.fail(w, r, Errorf(http.StatusNotFound, "there is nothing at this path; %s/openapi.json describes what there is", Prefix))
		return
	}
	req := &Request{Request: r, W: w, Who: who, route: route, path: parts}
	result, err := a.handle(req)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.answer(w, route, result)
}

func (a *API) handle(r *Request) (any, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.route.Tag != aboutTag {
		var err error
		if r.Tasks, err = a.Open(); err != nil {
			a.Log.Error("open the store of tasks", "err", err)
			return nil, Errorf(http.StatusServiceUnavailable, "the store of tasks can't be opened: %v", err)
		}
	}
	return r.route.Handle(r)
}

func (a *API) answer(w http.ResponseWriter, route *Route, result any) {
	status := route.status()
	switch v := result.(type) {
	case streamed:
		return
	case Answer:
		for name, value := range v.Header {
			w.Header().Set(name, value)
		}
		result = v.Body
		if v.Status != 0 {
			status = v.Status
		}
	}
	if result == nil {
		w.WriteHeader(status)
		return
	}
	writeJSON(w, status, result)
}

// match finds the route of a request and what its path's names stand for; without
// one, the methods that there are at the path. Of two routes that fit, the one with
// the earlier literal segment counts.
func match(method string, u *url.URL) (route *Route, parts map[string]string, allow []string) {
	rest, ok := strings.CutPrefix(u.EscapedPath(), Prefix+"/")
	if !ok {
		return nil, nil, nil
	}
	segments := strings.Split(rest, "/")
	for i, s := range segments {
		text, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, nil
		}
		segments[i] = text
	}
	for i := range Table {
		r := &Table[i]
		got, ok := fit(r.Path, segments)
		if !ok {
			continue
		}
		if r.Method != method {
			if !slices.Contains(allow, r.Method) {
				allow = append(allow, r.Method)
			}
			continue
		}
		if route == nil || plainer(r.Path, route.Path) {
			route, parts = r, got
		}
	}
	slices.Sort(allow)
	return route, parts, allow
}

// fit matches segments with a route's path.
func fit(path string, segments []string) (map[string]string, bool) {
	pattern := strings.Split(strings.TrimPrefix(path, "/"), "/")
	got := map[string]string{}
	for i, p := range pattern {
		if i >= len(segments) {
			return nil, false
		}
		name, isName := strings.CutPrefix(p, "{")
		name = strings.TrimSuffix(name, "}")
		if all, isRest := strings.CutSuffix(name, "..."); isName && isRest {
			got[all] = strings.Join(segments[i:], "/")
			return got, true
		}
		switch {
		case !isName && p != segments[i], isName && segments[i] == "":
			return nil, false
		case isName:
			got[name] = segments[i]
		}
	}
	return got, len(pattern) == len(segments)
}

// plainer reports whether a has a literal segment where b first has a name.
func plainer(a, b string) bool {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(x), len(y)) {
		if named, other := strings.HasPrefix(x[i], "{"), strings.HasPrefix(y[i], "{"); named != other {
			return other
		}
	}
	return len(x) > len(y)
}
