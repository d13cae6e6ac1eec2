// Package listen opens what the host listens on: the unix socket with the lock that
// makes the host the only one of its runtime directory, and TCP with or without TLS.
// It makes and reads again the host's certificate, and says which Host headers name a
// listener.
//
// The package keeps no state besides its values. A Certificate's methods may be called
// from any goroutine, as may a Socket's.
package listen
