// Package approval turns a question of an agent into what a person sees before
// answering it. It is the same wherever it is shown: in the interface's list, in a
// chat, on the command line. The package holds values only.
//
// The rules. Everything that an answer would allow is shown, not cut, and without
// characters that hide or reorder text (Escape). It can't be allowed before its end
// was shown (Reading). Preselected is either to allow it once or nothing
// (View.Default). An answer that allows more than this call says so in our own words
// (Option.Covers), since its label comes from the agent.
package approval
