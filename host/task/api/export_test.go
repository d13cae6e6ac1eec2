package api

import (
	"net/http"
	"net/http/httptest"

	"tandemux/host/task"
	"tandemux/host/task/access"
)

// Once does a request as a route does that is done once for each key.
func Once(r *http.Request, tasks *task.Service, do func() (any, error)) (any, error) {
	route := &Route{limit: 1 << 20, handle: func(*Request) (any, error) { return do() }}
	return (&Request{Request: r, W: httptest.NewRecorder(), Who: access.TheOperator(), Tasks: tasks, route: route, status: http.StatusCreated}).once()
}
