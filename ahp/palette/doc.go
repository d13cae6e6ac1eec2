// Package palette has the values of x-tandemux/do: a command of the interface's palette that
// is run on a layout without an interface. It is pure data.
package palette
