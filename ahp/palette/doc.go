// Package palette has the values of x-tandemux/do: a command of the interface's palette that
// is run on a layout without an interface; and of x-tandemux/interface: the commands, keys and
// colours that interfaces have. It is pure data.
package palette
