// Package complete says what the words of a command line may be, where a host knows that:
// its terminals, layouts, sessions, tokens, tasks and what belongs to them. It asks a host
// that runs, for a second at most, and starts none; without an answer nothing is offered.
// It keeps no state; everything may be used from any goroutine.
package complete
