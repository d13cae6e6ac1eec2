// Package login copies what an agent is logged in with to where its tasks see it: files that
// the configuration names, and nothing else.
//
// # What is copied
//
// A task has a private copy, below its scratch directory: that is in no archive, pull or
// diff, and goes with the task. The agent may write to it, as those that renew their tokens
// do; what it writes never comes back. A copy is made anew when the person's file is another.
//
// # What is refused
//
// Names lead nowhere out of the home directory, also not by symbolic links. In a directory
// there are files, directories, and links that stay in it, so many and so large at most;
// anything else refuses all of it. Errors name files, never what is in them.
//
// # Concurrency
//
// Seed is called for one directory by one goroutine at a time.
package login
