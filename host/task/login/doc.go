// Package login copies the files that an agent's login consists of to where the agent's tasks see
// them: the files that the configuration names, and nothing else.
//
// # What is copied
//
// A task has a private copy below its scratch directory, which is in no archive, pull or diff and is
// removed with the task. The agent may write to the copy, as agents do that renew their tokens; what
// it writes is never copied back. When the person's file changes, a new copy is made.
//
// # What is refused
//
// A name may not lead out of the home directory, not by symbolic links either. A directory may contain
// files, directories, and links that stay in it, of bounded number and size; anything else refuses all
// of it. Errors name files, never their contents.
//
// # Concurrency
//
// Seed is called for one directory by one goroutine at a time.
package login
