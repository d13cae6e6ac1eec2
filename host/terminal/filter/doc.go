// Package filter takes out of a program's output what viewers of a terminal must not
// get: questions, which the host answers once, and shells' marks, which the host acts
// on (docs/contributing/decisions.md §34). In front of it a Decoder makes valid UTF-8 of bytes.
//
// Both are values of one goroutine, take input in pieces of any size, and give what
// does not depend on the split. What they hold back is bounded, and so is what they
// remember of a sequence that viewers have in part, by which Resume continues it behind
// a snapshot. AppendState and SetState take them from one host to the next.
//
// It does not know what a mark means (package shell) nor what the emulator answers.
package filter
