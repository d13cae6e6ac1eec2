// Package pty opens pseudoterminals and starts programs on them, for tests and
// for the comparison with other multiplexers; tandemux's own are package keeper's.
//
// It stands in for creack/pty 1.1.24, which gives the kernel the address
// of a variable on the stack as a number: when the stack moves meanwhile, memory
// is overwritten, and another terminal than one's own is opened.
package pty
