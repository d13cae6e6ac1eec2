// Package question has the questions that a task's agent asks people, and the answers, in a form for
// programs and people. It is pure data: nothing in it waits or asks.
//
// A Question is one as it was shown: its id changes with its text, so no answer reaches a question
// with another text.
package question
