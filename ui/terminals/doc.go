// Package terminals is what this client knows of the hosts' terminals: the list, who holds each
// as seen by this person, and the texts for that and for their programs. It sends nothing. Only
// the event loop may use it.
package terminals
