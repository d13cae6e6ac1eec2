// Package tasks is what the interface knows of the host's tasks, as rows of the list
// of sessions, and what a person does with them. It belongs to the event loop.
package tasks
