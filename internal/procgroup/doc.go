// Package procgroup ends a process group when this process dies, also by SIGKILL, and says
// how processes ended. A small shell, the watcher, waits for the end of its stdin, a pipe
// whose other end only this process holds, and then signals the group.
//
// Whoever calls Watch must call Release once when the group has ended.
package procgroup
