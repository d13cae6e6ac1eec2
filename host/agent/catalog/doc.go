// Package catalog lists the agents that can be used: those of the configuration, those that tandemux
// knows and finds in PATH, and those that somebody gave as a command line, which are stored in the
// state directory. It makes providers of them for the host.
//
// A Row is data. It says which programs existed when it was made; nothing is watched. Everything may
// be used from any goroutine, including Finder's functions.
package catalog
