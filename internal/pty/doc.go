// Package pty opens pseudoterminals, for the keeper, and starts programs on them, for
// tests and for the comparison with other multiplexers.
//
// It stands in for creack/pty 1.1.24, which gives the kernel the address
// of a variable on the stack as a number: when the stack moves meanwhile, memory
// is overwritten, and another terminal than one's own is opened.
package pty
