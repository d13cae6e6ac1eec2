// Package api is the hub's interface of tasks: routes of the hub's front, in the shape of
// the host's own (host/task/api), so that every client of that works on a fleet.
//
// What the hub keeps it answers itself: tasks, their events and streams. What only the
// task's host knows (messages, changes, answers to questions) it asks that for, by
// queue.Call. The rest of the host's interface is not here.
//
// A person sees and changes what is theirs; who has the scope admin, all. As on a host only
// the operator, here who has admin, may name a command, a directory or no sandbox.
//
// It keeps no state of its own; every method may be called from any goroutine.
package api
