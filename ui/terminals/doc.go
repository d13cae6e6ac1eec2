// Package terminals is what this client knows of the host's terminals: the list, who
// holds each as seen from this person, and how that and their programs are worded. It
// belongs to the event loop and asks nobody.
package terminals
