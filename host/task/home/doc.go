// Package home is about the directories that tasks' files come from and go to: their settings in the
// configuration, the error of a check that fails, and the messages of commits of a task's work.
//
// Repositories do not change once they are read. A Tail belongs to one goroutine.
package home
