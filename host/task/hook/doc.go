// Package hook runs the programs that are called in place of an agent: one process
// for each call, with a JSON object on its stdin, whose stdout is read line by line.
//
// A line that is a JSON object with a "type" is a word to the task (Line); any other
// line, and what is on stderr, is for the log. The call succeeds when the program
// exits with 0.
//
// A program has a process group of its own, which ends with the call: by SIGTERM,
// and by SIGKILL after Grace, also when the program has ended and something that it
// began has not, and when this process dies. What it says is bounded; a program that
// says more is ended.
//
// Run may be called from any goroutine; it calls the functions of its Call from one
// goroutine at a time. It knows nothing of tasks, sandboxes or what lines mean.
package hook
