package api

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"tandemux/host/auth"
	hostapi "tandemux/host/task/api"
	"tandemux/host/workspace/travel"
	"tandemux/hub/front"
	"tandemux/hub/queue"
	"tandemux/internal/fault"
)

// API answers requests about a queue.
type API struct {
	Queue *queue.Queue
	Log   *slog.Logger
}

// request is one to a route.
type request struct {
	*http.Request
	w    http.ResponseWriter
	who  front.Person
	q    *queue.Queue
	log  *slog.Logger
	path string // of the route
}

type route struct {
	scope  string
	status int
	do     func(*request) (any, error)
}

// written is the answer of who has written it.
type written struct{}

// operations are the host's, by name, as a hub answers them.
var operations = map[string]route{
	"createTask":     {auth.ScopeSession, http.StatusCreated, createTask},
	"listTasks":      {auth.ScopeRead, http.StatusOK, listTasks},
	"getTask":        {auth.ScopeRead, http.StatusOK, ofTask(func(r *request, t queue.Task) (any, error) { return present(r.q, t), nil })},
	"cancelTask":     {auth.ScopeSession, http.StatusOK, ofTask(cancelTask)},
	"deleteTask":     {auth.ScopeSession, http.StatusOK, ofTask(deleteTask)},
	"sendEvent":      {auth.ScopeSession, http.StatusCreated, ofTask(sendEvent)},
	"listEvents":     {auth.ScopeRead, http.StatusOK, ofTask(listEvents)},
	"getEvent":       {auth.ScopeRead, http.StatusOK, getEvent},
	"streamTask":     {auth.ScopeRead, http.StatusOK, ofTask(streamTask)},
	"listMessages":   {auth.ScopeRead, http.StatusOK, ofTask(passOn)},
	"getWorkspace":   {auth.ScopeRead, http.StatusOK, ofTask(passOn)},
	"diffWorkspace":  {auth.ScopeRead, http.StatusOK, ofTask(passOn)},
	"patchWorkspace": {auth.ScopeRead, http.StatusOK, ofTask(passOn)},
	"answerTask":     {auth.ScopeApprove, http.StatusCreated, ofTask(passOn)},
	"stopTask":       {auth.ScopeSession, http.StatusOK, ofTask(passOn)},
	"setBudget":      {auth.ScopeSession, http.StatusOK, ofTask(passOn)},
}

const filesRoute = "putFiles PUT /fleet/tasks/{task}/files"

// fleet are the hub's own: names as operations have them, and patterns below the interface's
// prefix.
var fleet = map[string]route{
	"getQueue GET /fleet/queue":                      {auth.ScopeRead, http.StatusOK, getQueue},
	"getLimits GET /fleet/limits":                    {auth.ScopeRead, http.StatusOK, func(r *request) (any, error) { return r.q.Limits(), nil }},
	"setLimits PUT /fleet/limits":                    {auth.ScopeAdmin, http.StatusOK, setLimits},
	"drainHost PUT /fleet/hosts/{host}/drain":        {auth.ScopeAdmin, http.StatusOK, setDrain},
	"listFiles GET /fleet/files":                     {auth.ScopeRead, http.StatusOK, getRoom},
	"getFiles GET /fleet/tasks/{task}/files":         {auth.ScopeRead, http.StatusOK, ofTask(getTravelled)},
	filesRoute:                                       {auth.ScopeSession, http.StatusOK, ofTask(putFiles)},
	"getBase GET /fleet/tasks/{task}/files/base":     {auth.ScopeRead, http.StatusOK, ofTask(getFiles(false))},
	"getResult GET /fleet/tasks/{task}/files/result": {auth.ScopeRead, http.StatusOK, ofTask(getFiles(true))},
}

// Routes are those of the front.
func (a *API) Routes() (all []front.Route) {
	add := func(name, pattern string, body int64, o route) {
		method, path, _ := strings.Cut(pattern, " ")
		all = append(all, front.Route{Pattern: method + " " + hostapi.Prefix + path, Does: doing(name), Scope: o.scope, Body: body, Serve: func(w http.ResponseWriter, r *http.Request) {
			who, _ := front.Of(r.Context())
			a.answer(&request{Request: r, w: w, who: who, q: a.Queue, log: a.Log, path: path}, o)
		}})
	}
	for name, o := range operations {
		as := hostapi.Named(name)
		add(name, as.Method+" "+as.Path, queue.MaxCall, o)
	}
	for key, o := range fleet {
		body := int64(0)
		if key == filesRoute {
			body = travel.MaxSize + 1
		}
		name, pattern, _ := strings.Cut(key, " ")
		add(name, pattern, body, o)
	}
	return all
}

// doing is an operation for people: "createTask" is "task create".
func doing(name string) string {
	i := strings.IndexFunc(name, unicode.IsUpper)
	return strings.ToLower(name[i:]) + " " + name[:i]
}

func (a *API) answer(r *request, o route) {
	v, err := o.do(r)
	if err != nil {
		switch status := fault.Status(err); {
		case status != 0:
			hostapi.Refuse(r.w, status, err.Error())
		case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
			hostapi.Refuse(r.w, http.StatusServiceUnavailable, "the hub's store does not answer: try again")
		default:
			a.Log.Error("answer a request", "method", r.Method, "path", r.URL.Path, "err", err)
			hostapi.Refuse(r.w, http.StatusServiceUnavailable, "the hub could not do that now; its log says why")
		}
		return
	}
	if _, is := v.(written); is {
		return
	}
	hostapi.WriteJSON(r.w, o.status, v)
}

// decode reads the body as JSON.
func (r *request) decode(v any) error {
	text, err := io.ReadAll(hostapi.Bounded{Reader: r.Body})
	if err != nil {
		return err
	}
	return hostapi.Decode(text, r.Header.Get("Content-Type"), v)
}

// query reads the parameters, as the host does.
func (r *request) query(in any) error {
	return hostapi.ReadQuery(reflect.ValueOf(in).Elem(), r.URL.Query())
}

// all reports whether who asks sees everybody's tasks.
func (r *request) all() bool { return r.who.May(auth.ScopeAdmin) }

// mine is a task, if who asks may see it.
func (r *request) mine(t queue.Task, err error) (queue.Task, error) {
	if err == nil && !r.all() && t.Spec.Person != r.who.Name {
		return queue.Task{}, queue.NotFound.Errorf("there is no task %q", t.Spec.ID)
	}
	return t, err
}

// task is the one of the path.
func (r *request) task() (queue.Task, error) {
	ref := r.PathValue("task")
	t, err := r.q.Find(ref)
	if t, err = r.mine(t, err); err != nil {
		return t, queue.NotFound.Errorf("there is no task %.100q", ref)
	}
	front.On(r.Context(), t.Spec.ID)
	return t, nil
}

// ofTask makes a handler of one for the task of the path.
func ofTask(do func(*request, queue.Task) (any, error)) func(*request) (any, error) {
	return func(r *request) (any, error) {
		t, err := r.task()
		if err != nil {
			return nil, err
		}
		return do(r, t)
	}
}

func passOn(r *request, t queue.Task) (any, error) {
	local := t.Note().Local
	if local == "" || t.Record.Host == "" {
		return nil, hostapi.Errorf(http.StatusConflict, "no host has begun with the task %s yet", t.Spec.Name)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, hostapi.Errorf(http.StatusRequestEntityTooLarge, "the body has more than %d bytes", queue.MaxCall)
	}
	_, path, _ := strings.Cut(r.path, "}")
	got, err := r.q.Call(r.Context(), t.Record.Host, queue.Call{Method: r.Method, Task: local, Path: path, Query: r.URL.RawQuery, Type: r.Header.Get("Content-Type"), Body: body, Person: r.who.Name})
	switch {
	case err != nil:
		return nil, err
	case got.Status >= 300:
		return nil, hostapi.Errorf(got.Status, "%s", got.Text)
	}
	if kind, _, err := mime.ParseMediaType(got.Type); err == nil {
		r.w.Header().Set("Content-Type", kind)
	}
	r.w.WriteHeader(got.Status)
	r.w.Write(got.Body) //nolint:errcheck // the caller is gone
	return written{}, nil
}

// Queued is how much there is to do, and who does it.
type Queued struct {
	Waiting int            `json:"waiting"`
	Working map[string]int `json:"working"`
	Drained []string       `json:"drained"`
}

func getQueue(r *request) (any, error) {
	n := Queued{Working: r.q.Working(), Drained: r.q.Drained()}
	for _, t := range r.q.Tasks() {
		if t.Record.State == "PENDING" {
			n.Waiting++
		}
	}
	return n, nil
}

func setLimits(r *request) (any, error) {
	var l queue.Limits
	if err := r.decode(&l); err != nil {
		return nil, err
	}
	for _, n := range slices.Concat([]int{l.Person, l.Project, int(l.Bytes)}, slices.Collect(maps.Values(l.Persons)), slices.Collect(maps.Values(l.Projects)), slices.Collect(maps.Values(l.Labels))) {
		if n < 0 {
			return nil, hostapi.Errorf(http.StatusUnprocessableEntity, "%d is no limit: it is 0 or more", n)
		}
	}
	return l, r.q.SetLimits(r.Context(), l)
}

// Draining is whether a host takes nothing new.
type Draining struct {
	On bool `json:"on"`
}

func setDrain(r *request) (any, error) {
	var d Draining
	if err := r.decode(&d); err != nil {
		return nil, err
	}
	host := r.PathValue("host")
	if strings.ContainsAny(host, ".*> \t") || host == "" {
		return nil, hostapi.Errorf(http.StatusUnprocessableEntity, "%.100q is no name of a host", host)
	}
	return d, r.q.Drain(r.Context(), host, d.On)
}
