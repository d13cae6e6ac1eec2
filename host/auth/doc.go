// Package auth knows who may connect to the host, and who it is then (Principal): access
// tokens and their scopes with the file that holds them, agents that connect by
// themselves, failed attempts by address, whose process is at the other end of a unix
// socket, and which principal a clientId belongs to.
//
// It decides about no request and no terminal: the host asks it. Tokens and Attempts may
// be used from any goroutine, ClientIDs from one at a time. Secrets are kept as hashes
// only and compared in constant time.
package auth
