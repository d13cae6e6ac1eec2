// Package tasks has the hosts' tasks, as rows of the list of sessions, and what a person does
// with them. Only the event loop may use it.
package tasks
