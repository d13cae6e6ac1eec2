// Package ebb gives memory back that a process needed for a while: what starting
// took (Settle), and what a flood of output took (Ebb). Go keeps freed memory for
// minutes, and pages of the program that were looked at once stay mapped; a
// multiplexer is three processes that mostly wait.
//
// An Ebb may be used by any goroutine. Nothing ticks: a timer runs only while a
// flood does and for Quiet after it. It knows nothing of what the memory was for
// and frees no object that is in use.
package ebb
