// Package commands runs commands in terminals, waits for what they do, and reads what came
// of them.
//
// A wait is answered later: it sees its terminal's actions as they are applied, and is over
// with its terminal or its connection. Text is matched on a goroutine of its own, from a
// bounded queue (match.go). Nothing is polled. A client that lost its connection asks again,
// this host or the next: a wait from a mark is decided by what has happened since, which the
// replay log says (run.go), and a run that has a key is typed once. Waits are guarded by
// core's lock.
package commands
