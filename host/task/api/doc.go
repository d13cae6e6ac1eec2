// Package api is the HTTP interface of tasks and all that belongs to them, below
// /api/v1: one table of routes (Table), from which requests are dispatched and the
// OpenAPI description is made.
//
// # Adding a route
//
// A file per resource holds a slice of Route, which Table lists, and its handlers.
// A handler gets a Request and returns what is to be written as JSON, an Answer
// where the status depends, or Streamed when it has written by itself. It decodes
// its body by Request.Decode, which knows what the Route declares, and reads only
// declared parameters. Bodies and results are structs with json tags in snake_case;
// a `doc` tag says in the description what a field is, `enum` what it may be,
// separated by commas. Members without omitempty are required. Lists are Pages.
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
// for the handlers, or what they call, to decide: see Request.Who and Allow.
// What a caller may not see is answered as what is not there (404).
//
// It keeps no state of its own: every method may be called from any goroutine.
package api
