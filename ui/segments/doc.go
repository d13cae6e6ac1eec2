// Package segments asks the machine that the interface runs on for what the status line
// shows of it: the branch of the focused pane's directory, the battery, and what the
// person's own command prints.
//
// A segment that is not in the line is not asked for, and none while the outer terminal
// says that it lost the focus. The branch is asked for when the directory is another one, when a
// command has ended there, and when the focus comes back; the others after their time.
// Of each one question is under way at most, and they are a second apart. It belongs to the
// event loop; the answers come from elsewhere (Desk), and are drawn by ui/status.
package segments
