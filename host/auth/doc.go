// Package auth knows who may connect to the host, and as whom (Principal): access tokens with their
// scopes and file, agents that connect themselves, failed attempts by address, the process at the
// other end of a unix socket, and which principal a clientId belongs to.
//
// It decides about no request and no terminal: the host does. Tokens and Attempts may be used from any
// goroutine, ClientIDs by one at a time. Secrets are stored only as hashes and compared in constant
// time.
package auth
