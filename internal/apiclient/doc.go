// Package apiclient is a client of a host's HTTP interface: over its unix socket, or
// at a URL with a token or an API key.
//
// # Retries
//
// A request that may safely be repeated is sent again after 408, 429 and 5xx and
// when the connection failed: up to MaxRetries times, with growing pauses or those
// that the host asks for (U99). A request that creates something has an
// Idempotency-Key, so that repeating it creates nothing twice.
//
// # Errors
//
// A status of 300 or more is an *Error, with the status and the host's message (U100).
//
// A Client may be used from any goroutine.
package apiclient
