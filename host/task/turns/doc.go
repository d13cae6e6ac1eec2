// Package turns derives from a task's turn the prompt it begins with, the messages in it, and how it
// ended. All functions are pure.
package turns
