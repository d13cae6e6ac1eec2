// Package attention decides what is an alert of a terminal: its program waits, rang the bell or
// sent a notification, a long command has ended, or there is output after a silence. It is a
// function of the row that the host keeps (ahp.Attention) and of the newest command. It has no
// clock: all times are the host's. It may be used from any goroutine.
package attention
