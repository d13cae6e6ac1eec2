// Package front is the hub's HTTP listener: it checks Host and Origin, finds out who
// asks, and hands the request to the route that has its path, if they may use it.
//
// Who asks is a Person. On the unix socket it is the operator, by peer credentials; on
// TCP the first Authenticator that knows the request's credential says so. Others plug in
// by Config: an Authenticator for a kind of credential, Routes for paths. A route names
// the scope that its callers need, or authorises each verb itself by Of and May.
//
// A Front owns the listeners, the numbers of connections and requests, and the count of
// failed attempts. It stores nothing. Its methods, and all Authenticators and handlers,
// are called from any goroutine.
package front
