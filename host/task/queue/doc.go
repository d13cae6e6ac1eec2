// Package queue lets a host's tasks work in the order in which they were asked to, no more
// of them at once than the configuration allows, of one agent and of all.
//
// A Queue is a list with a lock of its own: it starts nothing. Who is let in, or finds that
// others may be, sees to it. Of an agent's tasks the first is first; another agent's, which
// there is room for, need not wait for them. It keeps nothing: the next host revives it from
// the events that wait.
package queue
