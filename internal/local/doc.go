// Package local is this user's own host and keeper on this machine: the directories
// and sockets that they have (Dirs), how they are found also when those were removed,
// how a process is started in the background and says that it is ready (Start,
// Readiness), and how a host is started once by many, brought back when it has died,
// and replaced by another program (Record, Reviver, Replace).
//
// internal/daemon has the locks and listeners below it; what a host does is package
// host's. A Dirs is a value, and its methods may be called from any goroutine; what
// several processes do at the same moment is ordered by locks on files.
package local
