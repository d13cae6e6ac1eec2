// Package output keeps what a terminal's viewers were given, once: a Store has the
// memory, and what has a use for a part of it, the actions that are told, the host's
// log for clients that come back, the content while it is whole, the commands, has a
// Range or a string of that memory and no copy. A block goes when nobody has a part of
// it any more. Long output of a command at rest leaves the store, packed (Command.Pack).
//
// A Store and a Range are for one goroutine at a time; what they gave may be read by
// any, as it never changes.
package output
