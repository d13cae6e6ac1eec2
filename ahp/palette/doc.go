// Package palette has the values of x-tandemux/do, which runs a command of the palette on a layout
// without an interface, and of x-tandemux/interface, which tells the commands, keys and colours of
// interfaces. It is pure data.
package palette
