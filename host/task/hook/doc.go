// Package hook runs programs in place of an agent: for each call one process that gets a JSON object
// on its stdin and whose stdout is read line by line.
//
// A line that is a JSON object with a "type" is a report to the task (Line). Any other line, and
// stderr, goes to the log. The call succeeds if the program exits with 0.
//
// A program has its own process group, which ends with the call, by SIGTERM and after Grace by
// SIGKILL. The group also ends when the program has ended and left processes behind, and when this
// process dies. Output is bounded; a program that prints more is ended.
//
// Run may be called from any goroutine. It calls the functions of its Call one at a time. The package
// knows nothing of tasks, sandboxes or what lines mean.
package hook
