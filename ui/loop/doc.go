// Package loop is what all parts of the interface share: calls to the host outside of the event
// loop, timers, the message in the status line, the overlay, and what must be drawn again. Only
// the event loop may use a Loop, which has no lock. Only the functions given to Async and the
// like run on other goroutines.
package loop
