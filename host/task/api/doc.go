// Package api is the HTTP interface of tasks below /api/v1. It has one table of routes (Table), by
// which requests are dispatched and decoded, the OpenAPI description is made, and the command line
// calls (Named).
//
// # Adding a route
//
// A route is an element of a slice that Table includes. It is made by on, from a pattern, a name, a
// summary and a function of a Request and a struct. The struct's members are the parameters of the
// query of a GET, a DELETE or a request whose body is bytes, else those of a strictly read JSON body.
// Structs have json tags in snake_case; a tag `doc` describes a member, `enum` and `range` give its
// values, `flag` its name on the command line. Members without omitempty are required. Lists are
// Pages.
//
// # Errors
//
// An error with a method StatusCode() int in its chain is answered with that status and its text. Any
// other error is answered with 500 and a text that says nothing, and logged. Errorf makes errors with
// a status. The body is an Error.
//
// # Who may call
//
// The host has checked Host, Origin and the token or API key. Handlers, or what they call, decide what
// the caller (Request.Who) may do. What a caller may not see is answered with 404.
//
// The package has no state: every method may be called from any goroutine.
package api
