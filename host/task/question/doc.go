// Package question is what a task's agent asks a person, and the answers to that, in words
// for programs and people. Values in, values out: nothing of it waits or asks by itself.
//
// A Question is that of a turn as it was shown: its id changes with its words, so that no
// answer reaches another one.
package question
