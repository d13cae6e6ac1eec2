// Package catalog is the agents that can be used: those of the configuration, those
// that tandemux knows and finds on the PATH, and those that somebody has given as a
// command line, which are remembered in the state directory. It makes providers of
// them for the host.
//
// A row is data. What it says of programs holds when it is made: nothing is watched.
// Everything may be used from any goroutine, Finder's functions too.
package catalog
