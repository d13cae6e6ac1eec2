// Package api is the HTTP interface of tasks and all that belongs to them, below
// /api/v1: one table of routes (Table), from which requests are dispatched and
// decoded, the OpenAPI description is made, and the command line calls (Named).
//
// # Adding a route
//
// A route is a line of a slice that Table lists: on with the pattern, a name, a
// summary and a function from a Request and a struct to a result. The struct's
// members are the query's parameters of GET, DELETE and bodies of bytes, else those of
// a JSON body, which is strict. Structs have json tags in snake_case; a `doc` tag says
// what a member is, `enum` and `range` what it may be, `flag` how the command line
// names it. Members without omitempty are required. Lists are Pages.
//
// # Errors
//
// An error that has a method StatusCode() int, somewhere in its chain, is answered
// with that status and its text; all others are a 500 whose text says nothing, and
// go to the log. Errorf makes such errors. The body is an Error.
//
// # Who may call
//
// The host has checked Host, Origin and token, or API key. What a caller may do is
// for the handlers, or what they call, to decide: see Request.Who.
// What a caller may not see is answered as what is not there (404).
//
// It keeps no state of its own: every method may be called from any goroutine.
package api
