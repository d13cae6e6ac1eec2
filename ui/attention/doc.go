// Package attention decides what a terminal that a person does not look at has
// to tell them: that its program waits, rang, sent a notification, that a long
// command has ended, that there is output after a silence. It is a function of
// the row that the host keeps (ahp.Attention) and of the newest command; values
// in, values out. It has no clock: all times are the host's. Any goroutine may
// use it.
package attention
