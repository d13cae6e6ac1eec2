// Package runner is `tandemux run`: it runs a command in a terminal, new or there
// already, prints its output as it comes, passes on standard input and interrupts, and
// ends with the command's exit code. It follows the command over a change of hosts: what
// was printed meanwhile is asked for.
//
// A run has three goroutines (printing, signals, standard input) beside the connection's
// reader, which calls follower; a queue between them is bounded by holding the
// connection up, so that the host slows the command down.
package runner
