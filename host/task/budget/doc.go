// Package budget keeps what tasks may use and what they have used: tokens, money and time.
//
// # What is counted
//
// Tokens and cost are what the agent reports, and nothing else: of what it doesn't report an
// Account says that it is not known. Tokens are those of a turn, in and out; a cost is that
// of the agent's session so far, as ACP has it, so that its growth is counted, and one that
// is less than before begins anew. Time is counted here, while a turn runs and asks nothing.
//
// # Concurrency
//
// Limits, Accounts and their methods are values. The Book owns the accounts of all tasks; its
// methods may be called from any goroutine. What it is told is kept before a turn's end is
// noted, and every few seconds while one runs; told again it is counted once.
//
// # What it doesn't do
//
// It stops nothing: package task does, and asks the Book whether to.
package budget
