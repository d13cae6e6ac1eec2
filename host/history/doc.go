// Package history keeps the commands that ran in terminals, of those that are gone, too, in
// a file that only this user can read.
//
// A Log is told of actions with core's lock held and never waits: what it keeps goes through
// a bounded queue to a goroutine that appends it to the file, a line of JSON each. The file is
// all there is: a search reads it, the newest first. It is cut to Settings.CommandHistory
// commands now and then, and removed when that is 0. What is written when the host dies is
// kept; what waited in the queue is not.
//
// Those are kept that people's shells and agents ran, not programs that people start in a
// terminal of their own. A command is kept when it has ended, or its terminal has. Lines that begin with a blank
// are not, as shells have it, nor such as are too long to be run again.
package history
