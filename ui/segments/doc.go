// Package segments asks the machine that the interface runs on for what the status line shows
// about it: the git branch of the focused pane's directory, the battery, and the output of the
// person's own command.
//
// It asks only for segments that are in the line, and not while the outer terminal has reported
// the loss of the focus. It asks for the branch when the directory changes, a command ends there
// or the focus comes back, and for the others at intervals. Each segment has at most one
// unanswered question, with pauses between questions. Only the event loop may use it; the answers
// come from Desk, and ui/status draws them.
package segments
