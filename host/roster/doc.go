// Package roster keeps a file of the programs that terminals run, for a host that finds
// neither the keeper that started them nor another host. Programs of that file that
// still run then are strays: they have no terminal, and a stop ends them.
//
// A Roster writes in the background, one write at a time, the newest list. Its methods
// may be called from any goroutine; none waits but End.
package roster
