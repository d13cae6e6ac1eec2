// Package guard judges commands that agents want to run, knows which of them a person has
// allowed (Belt), and counts how many they run. It is a seat belt, not a wall (docs/contributing/decisions.md §23): it sees through
// quotes, lists, wrappers such as env and nice, and shells within shells, but not
// through scripts in files, interpreters, or what a variable of the environment
// holds. The wall is a sandbox.
//
// A Policy is data and its checks are pure: they look at nothing but their
// arguments, never at files or the clock, and may be called from any goroutine. With Uses
// it looks for dangerous uses, of which people are asked; without, for the words wherever
// they stand, as the documents have it.
// A line is parsed as bash, which reads nearly all that other shells do; where
// that fails, any blocked word anywhere refuses it. Lines are bounded, in bytes
// and in nesting; beyond that they are refused.
//
// A Quota is shared by all who start terminals for one agent. Reserve checks and
// takes a place in one step, so that two at once can't both get the last one. Quotas
// are those of all agents; they write down what was started, and are the only part of
// the package that does I/O.
//
// The texts of refusals are those of the documents tandemux was made from: an
// agent's front chooses its own (Refusal).
package guard
