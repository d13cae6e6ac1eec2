// Package queue lets a host's tasks work in the order in which they were asked to, at most as many at
// once, of one agent and in all, as the configuration allows.
//
// A Queue is a list with its own lock and starts nothing: its callers do. Within an agent's tasks the
// first comes first; a task of another agent that there is room for does not wait for them. A Queue
// stores nothing: the next host fills it again from the waiting events.
package queue
