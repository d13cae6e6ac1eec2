// Package endpoint is where a host is, and the way there: this user's own, which is
// started when it is needed (package local), or another one over ssh, a WebSocket
// with or without TLS, or a unix socket. It has the flags that name one, the
// certificates that were trusted, and says of an error of connecting what to do.
//
// An Endpoint is a value. Connect gives a client of it, and Conn adds what commands
// do with one: requests with a time limit that outlive a change of hosts, and
// terminals found by what people type. An Endpoint's API is the client of the HTTP
// interface there. The goroutines are internal/client's; those of ssh end with the
// connection.
package endpoint
