// Package completion says what may follow in a message that is being written: an agent's
// commands after "/", and files of a session's directories after "@".
//
// It reads one directory for each root and keeps nothing. Who may see files is the
// caller's to say. It may be called from any goroutine, and not under core's lock.
package completion
