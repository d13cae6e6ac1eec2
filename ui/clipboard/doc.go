// Package clipboard has what a person copies in the interface: the paste buffers, the list of
// them, and the ways to the clipboard, by a program of the machine or by the outer terminal. Only
// the event loop may use it.
package clipboard
