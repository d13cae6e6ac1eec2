// Package budget has what tasks may use and what they have used: tokens, money, time and disk space.
//
// # What is counted
//
// Tokens and cost are what the agent reports; what it does not report an Account has as unknown.
// Tokens are those of a turn, input and output. A cost is that of the agent's session so far, as in
// ACP, so its growth is counted; a cost that is lower than the one before starts anew. Time is
// measured here, while a turn runs and does not wait for a person.
//
// # Concurrency
//
// Limits, Accounts and their methods are values. The Book has the accounts of all tasks; its methods
// may be called from any goroutine. What a turn has used is saved every few seconds and at its end.
// Reporting it twice counts it once.
//
// # What it doesn't do
//
// It stops nothing: package task does, and asks the Book whether to.
package budget
