// Package apiclient is a client of a host's HTTP interface: over its unix socket, or
// at a URL with a token or an API key.
//
// # Retries
//
// A request that can be sent again without harm is: after 408, 429 and 5xx, and when
// the connection failed, MaxRetries times with growing pauses, or those that the host
// asked for (U99). What creates something gets an Idempotency-Key for that, so that
// it happens once.
//
// # Errors
//
// An answer that is none is an *Error, with the status and the host's words (U100).
//
// A Client may be used from any goroutine.
package apiclient
