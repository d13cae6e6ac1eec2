package api

import (
	"net/http"
	"slices"
)

// Prefix is where the interface is on the host's listeners.
const Prefix = "/api/v1"

// Route is one operation of the interface.
type Route struct {
	// Method and Path are what it answers. Path begins with "/", below Prefix; a
	// segment "{name}" stands for any one, "{name...}" at the end for the rest.
	Method, Path string
	// Name is the operation's id, unique: createTask.
	Name string
	// Tag groups operations: tasks, filesystems, …
	Tag string
	// Summary is a sentence; Detail, if any, more of them.
	Summary, Detail string
	// Params are the query's parameters and the headers that it looks at.
	Params []Param
	// Body is a zero value of what the request carries as JSON; Raw{} for bytes;
	// nil for nothing.
	Body any
	// BodyLimit bounds the body, in bytes; 0: 1 MiB.
	BodyLimit int64
	// Result is a zero value of what comes back as JSON; Raw{} for bytes; nil for
	// nothing (204).
	Result any
	// Status is that of success; 0: 200, or 204 without a Result. More are others
	// that success may have.
	Status int
	More   []int
	// Errors are the statuses of failures besides 400, 401, 403, 404, 422, 429, 500.
	Errors []int
	// Handle does it.
	Handle func(*Request) (any, error)
}

// Raw stands for a body of bytes in a Route.
type Raw struct {
	// Type is its content type.
	Type string
}

// Param is a parameter of the query, or a header.
type Param struct {
	Name string
	// Header is set for a header; all others are the query's.
	Header bool
	// Kind is string, integer, boolean or timeKind; empty: string.
	Kind string
	// Least and Most bound an integer; one without Most is the handler's to check.
	Least, Most int64
	// Enum is what it may be; empty: anything.
	Enum []string
	// Required says that there must be one.
	Required bool
	Doc      string
}

// timeKind is a time in RFC 3339, or how long ago.
const timeKind = "time"

// Table is all there is; it does not change once the program runs.
var Table []Route

func init() { // the description is one of the routes that it describes
	Table = slices.Concat(
		aboutRoutes,
		taskRoutes,
		streamRoutes,
		eventRoutes,
		stateRoutes,
		agentRoutes,
		branchRoutes,
		variableRoutes,
		keyRoutes,
		projectRoutes,
		filesystemRoutes,
		fileRoutes,
		workspaceRoutes,
	)
}

// limit and cursor are the parameters of paged lists.
var (
	limitParam  = Param{Name: "limit", Kind: "integer", Least: 1, Most: 1000, Doc: "How many at most, 1 to 1000; 100 by default"}
	cursorParam = Param{Name: "cursor", Doc: "What an earlier answer gave as next"}
)

// Page is a part of a list.
type Page[T any] struct {
	Data []T `json:"data"`
	// Next is the cursor of the rest, empty when there is none.
	Next string `json:"next,omitempty" doc:"The cursor of the rest, absent when there is none"`
}

// status is that of success.
func (r *Route) status() int {
	switch {
	case r.Status != 0:
		return r.Status
	case r.Result == nil:
		return http.StatusNoContent
	}
	return http.StatusOK
}
