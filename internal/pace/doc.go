// Package pace spaces what follows output: wake-ups of viewers, frames on the screen. After a
// rest some come at once, in which a start comes, or a command's output and the prompt behind it;
// in a flood one comes each Interval. A Pace has no clock and no timer, and belongs to one goroutine,
// or to who holds a lock. Wake is how any goroutine wakes another one, Sleep how one waits.
package pace
