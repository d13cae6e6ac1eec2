// Package shell makes interactive shells mark their commands, and reads the
// marks: scripts for bash, zsh and fish, how a shell is started so that it runs
// them, the parser of marks, and the state machine that turns marks into
// commands (G27–G29; docs/from-tmux.md).
//
//	Inject ─ argv, environment ─▶ shell ─ OSC marks in its output ─▶ Parse ─ Mark ─▶ Tracker ─▶ Event
//
// Whoever reads the pty finds the OSCs, gives each body to Parse, takes those
// that are marks out of the stream, and gives the marks to a Tracker. This
// package never sees the rest of the stream.
//
// # Our marks
//
//	OSC 7501 ; NONCE ; MARK ST
//
// MARK is the body of an OSC 633 as VS Code has it: A;ID prompt (A;ID;e promises
// that B follows; a prompt drawn again has the same ID), B input begins, E;TEXT
// the command line, C;ID execution begins, D;STATUS execution ended, F and G
// around a secondary prompt. Besides, W;PATH is the directory, to the end of the mark
// as it is. In TEXT a backslash is \\, a semicolon \x3b, and a byte below 0x20 \xHH.
//
// The nonce is on every mark, and only a mark with the nonce is trusted. It is
// made for one terminal, gets to the shell in its environment, and is taken out
// of it before any startup file of the user is read (fish: after them; a zsh whose /etc/zshenv
// sets ZDOTDIR never reads our file, and keeps it). It keeps
// what a program prints, a file that is shown, or a remote host, from passing
// for the shell; it is no secret from other programs of the same user.
//
// # Trust
//
// After the first trusted mark, untrusted ones neither begin, end nor name a
// command: all that happens between two trusted marks, a nested shell or an ssh
// session with marks of its own, is one command's output. Without trusted marks
// (a shell that was not injected but has an integration of its own, such as fish
// from version 4 or VS Code's script) the marks 133 and 633 are taken at their
// word, and a program that prints them can end its command early. A directory
// that comes with the name of a host (OSC 7) is reported whoever says it.
//
// # What is certain
//
// A Finished comes only after an Executed, and never two Executed without a
// Finished between. A command whose end is not told ends with the next prompt or
// the next command, with an unknown exit code. Marks are right or absent: where
// the shell can't say the command line exactly (bash does not tell a line that
// it keeps out of its history), Executed.Known is false and the text is what is
// on the screen between PromptEnd and Executed, less what lies between
// ContinuationStart and ContinuationEnd.
//
// # What the scripts leave alone
//
// No file of the user's is written. Startup files are read by the shell in its
// usual order; options, traps, $?, $_, history and environment stay what they
// are. What is left in the shell: names that begin with __tandemux; in bash, PS0,
// PROMPT_COMMAND, PS1 and PS2 have our part around the user's; in zsh, two hooks,
// and PROMPT_EOL_MARK while a command runs. Children get nothing of it, unless
// bash has both PS1 and PROMPT_COMMAND exported: then PS1 has our part, which is
// empty in a child.
//
// There is no I/O but Inject's writing of the scripts, no clock, no goroutine.
// Parse and Inject may be called from any goroutine; a Tracker by one at a time.
package shell
