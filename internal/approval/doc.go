// Package approval turns a question of an agent into what a person sees before
// answering it. It is the same wherever it is shown: in the interface's list, in a
// chat, on the command line. The package holds values only.
//
// The rule: all that would be allowed is shown, with nothing cut and nothing that
// hides or reorders text (Escape); nothing can be allowed before its end was shown
// (Reading); what is preselected is to allow it this once, or nothing (View.Default);
// an answer for more than once says so in words of ours (Option.Covers), as its label
// is the agent's.
package approval
