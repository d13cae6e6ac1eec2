// Package loop is what all parts of the interface share of the event loop: calls to
// the host outside of it, timers, the message in the status line, the overlay on
// top, and what has to be drawn again. A Loop belongs to the event loop and has no
// lock; only what Async runs is elsewhere.
package loop
