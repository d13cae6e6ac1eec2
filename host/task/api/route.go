package api

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"tandemux/host/task/access"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

// Prefix is the path of the interface on the host's listeners.
const Prefix = "/api/v1"

// Route is one operation of the interface.
type Route struct {
	// Method and Path select the requests. Path is below Prefix, a pattern of http.ServeMux.
	Method, Path string
	// Name is the operation's unique id, such as createTask.
	Name string
	// Summary is one sentence; Detail has more sentences, if any.
	Summary, Detail string
	// In is the type of a struct with the parameters, in the query (see Asks) or in a JSON body.
	In reflect.Type
	// Out is the type of the answer, which is JSON unless it is bytes.
	Out reflect.Type

	takes, gives string // media types of a body and an answer that are bytes
	limit        int64  // the longest body, in bytes
	status       int    // the status of success
	keyed        bool   // done once for each value of keyHeader
	headers      []string
	storeless    bool // does not need the service
	handle       func(*Request) (any, error)
}

// none is for routes without parameters or result.
type none struct{}

func (none) folderTypes() []string { return nil }

// Asks reports whether the parameters are in the query, not in a JSON body.
func (route *Route) Asks() bool {
	return route.Method == http.MethodGet || route.Method == http.MethodDelete || route.takes != ""
}

// Pages reports whether the result is a part of a list.
func (route *Route) Pages() bool {
	_, pages := route.In.FieldByName("Cursor")
	return pages
}

// on makes a route. about is its summary and, on further lines, its detail.
func on[In, Out any](at, name, about string, handle func(*Request, In) (Out, error)) Route {
	route := Route{Name: name, In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out](), limit: 1 << 20, status: http.StatusOK}
	route.Method, route.Path, _ = strings.Cut(at, " ")
	route.Summary, route.Detail, _ = strings.Cut(about, "\n")
	if route.Out == reflect.TypeFor[none]() {
		route.status = http.StatusNoContent
	}
	route.handle = func(r *Request) (any, error) {
		var in In
		if err := r.read(reflect.ValueOf(&in).Elem()); err != nil {
			return nil, err
		}
		return handle(r, in)
	}
	return route
}

// creates sets the status 201.
func (route Route) creates() Route {
	route.status = http.StatusCreated
	return route
}

// once makes the route do a request only once for each Idempotency-Key.
func (route Route) once() Route {
	route.keyed = true
	return route.reads(keyHeader)
}

// reads names a header that the handler reads.
func (route Route) reads(header string) Route {
	route.headers = append(route.headers, header)
	return route
}

// upTo sets the longest body, in bytes.
func (route Route) upTo(n int64) Route {
	route.limit = n
	return route
}

// of makes the body bytes that the handler reads.
func (route Route) of(kind string, limit int64) Route {
	route.takes = kind
	return route.upTo(limit)
}

// bytes makes the answer bytes that the handler writes.
func (route Route) bytes(kind string) Route {
	route.gives, route.status = kind, http.StatusOK
	return route
}

// Table has all routes. It does not change after init.
var Table []Route

func init() { // in an init because one route describes Table
	Table = slices.Concat(aboutRoutes, taskRoutes, agentRoutes, accessRoutes, fileRoutes, workspaceRoutes)
}

// Named returns the route with a name, which must exist.
func Named(name string) *Route {
	return &Table[slices.IndexFunc(Table, func(r Route) bool { return r.Name == name })]
}

// Page has a part of a list.
type Page[T any] struct {
	Data []T    `json:"data"`
	Next string `json:"next,omitempty" doc:"The cursor of the rest, absent when there is none"`
}

// Paging selects a part of a list.
type Paging struct {
	Limit  int    `json:"limit,omitempty" range:"1,1000" doc:"How many at most, 1 to 1000; 100 by default"`
	Cursor string `json:"cursor,omitempty" doc:"What an earlier answer gave as next"`
}

func (p Paging) page() store.Page {
	p.Limit = cmp.Or(p.Limit, 100)
	return store.Page{Limit: p.Limit, Cursor: p.Cursor}
}

// paged makes a Page.
func paged[T any](all []T, next string, err error) (Page[T], error) {
	if all == nil {
		all = []T{}
	}
	return Page[T]{all, next}, err
}

// The following functions make handlers from methods of the registry, for one object, which the path
// names first, and for lists.

type reg = registry.Registry

func one[T any](get func(*reg, context.Context, access.Principal, string) (T, error)) func(*Request, none) (T, error) {
	return func(r *Request, _ none) (T, error) { return get(r.Tasks.Agents, r.Context(), r.Who, r.ref()) }
}

func gone(remove func(*reg, context.Context, access.Principal, string) error) func(*Request, none) (none, error) {
	return func(r *Request, _ none) (none, error) {
		return none{}, remove(r.Tasks.Agents, r.Context(), r.Who, r.ref())
	}
}

func list[T any](get func(*reg, context.Context, access.Principal, store.Page) ([]T, string, error)) func(*Request, Paging) (Page[T], error) {
	return func(r *Request, in Paging) (Page[T], error) {
		return paged(get(r.Tasks.Agents, r.Context(), r.Who, in.page()))
	}
}

func listOf[T any](get func(*reg, context.Context, access.Principal, string, store.Page) ([]T, string, error)) func(*Request, Paging) (Page[T], error) {
	return func(r *Request, in Paging) (Page[T], error) {
		return paged(get(r.Tasks.Agents, r.Context(), r.Who, r.ref(), in.page()))
	}
}
