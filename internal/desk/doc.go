// Package desk is what the interface needs of the machine that it runs on: a program for
// links, an editor, the clipboard's program, files, and recordings into files. It
// implements the small interfaces that packages below ui declare for that.
//
// What is edited lies in private files in the runtime directory, which are removed when the
// editor has ended; programs get a session of their own and no terminal. A Desk may be used
// from any goroutine; the clipboard's programs run one at a time.
package desk
