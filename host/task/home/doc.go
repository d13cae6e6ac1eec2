// Package home is about where tasks' files come from and go to: what the configuration says
// of such directories, how a check of them fails, and what commits of a task's work say.
//
// Repositories are values, which do not change once they are read; a Tail is one goroutine's.
package home
