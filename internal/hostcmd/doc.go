// Package hostcmd is `tandemux hosts`: the list of other hosts by name (internal/hosts),
// whether they answer, and this program's way onto their machines.
//
// The package keeps no state. A command runs in one goroutine; check asks all hosts at
// once. Nothing but the program is ever copied to a machine, and only by install.
package hostcmd
