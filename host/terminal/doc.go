// Package terminal is one terminal of the host. It reads the pty, answers the child's queries,
// keeps the screen, and turns output into actions. The code that owns a Terminal and sequences its
// actions is called the holder here.
//
// # The pull model
//
// A terminal knows nothing of sequence numbers, connections or claims. It queues actions in stream
// order and calls Config.Wake. The holder then calls Take, under its own sequencing lock, and
// numbers the actions. Resize and Clear queue their own action (TerminalResized, TerminalCleared)
// at its exact place in the stream. The holder calls Take right after them, under the same lock,
// finds the action and attaches the origin to it. Content returns the pending actions together
// with the content that includes them: the holder sequences the actions first, then serves the
// snapshot with the resulting number.
//
// # Pipeline
//
//	pty ─▶ landing ─≤16 KiB─▶ repair UTF-8 ─┬─▶ filter ─▶ store ─▶ pending actions ─Take─▶ host
//	                                        │                └──▶ content, commands
//	                                        └─▶ emulator ─▶ replies ─▶ pty
//	                                               └─▶ titles, cwd ─▶ pending actions
//
// What viewers get is in memory once (package output). The filter appends it to a block. The
// actions, the host's replay log, the content while it is whole, and the head and the tail of
// commands' output are parts of that block. The landing has the bytes as they were read, the
// journal those that the next host needs, and the emulator the state that they make.
//
// The emulator sees the questions and answers each once; the filter takes questions and shell
// marks out of what viewers get (docs/contributing/decisions.md §34).
//
// Content reproduces the host's screen, cursor, modes and history in a fresh emulator, and the
// actions after it keep them equal. If MaxWire leaves history out, a line says how much. After a
// later resize a viewer has that much less history to rewrap and to bring back to the screen.
//
// # Commands
//
// The filter notes the shell's marks with their place in what viewers get. feed splits output
// there, so that actions and the emulator are at the same place when a mark is handled. The
// tracker of host/shell makes commands of the marks (command.go). A command's beginning and end
// are marked in the emulator. Content consists of parts: of the raw output while that is whole,
// otherwise of the serialised state, cut at the marks (parts.go). For lookups the terminal also
// keeps the head and the tail of the last commands' output (output.Command). A terminal that was
// started with a command is one command, whatever it prints.
//
// # Outliving the host
//
// The pty is read into a landing (package journal): Config.Landing, which is part of a journal, or
// memory of the terminal's own. What was read stays there until Released, so that the next host
// finds it. It is processed in slices. All that follows from a slice (actions, data, title) is
// published at once, with the mark that belongs to it (fresh.go), so Take returns all of a slice
// or nothing. The mark, Taken, has the offset in the stream, the state of decoder and filter there,
// and, when they have changed, the facts that no action tells (facts.go): prompt, tracker, counts.
// Take returns no more than the journal has room for (Bound). If more is pending, the holder makes
// a checkpoint instead, so that none is needed between taking actions and journalling them. The
// holder appends actions and mark to its journal in one batch, then calls Released, then sends the
// actions.
//
// Checkpoint returns the state as records: the output since the start or, when that is not whole
// any more, the serialised screen and the history as it lies in memory; what is known of commands,
// with the newest output; facts; and where in the content the emulator's marks lie. Restore
// (restore.go) feeds the content to a fresh emulator and sets the marks, replays the actions that
// followed (replay.go), and takes the facts and the state of the stream from the last mark. Then
// it processes what the landing has beyond the mark as if that had just been read. A terminal
// restored at any instant equals one that never died (TestRestore), except for the output of older
// commands beyond maxSaved, what a bare checkpoint left out (a line says how much), and a resize or
// clear that was in no Take.
//
// While a terminal is quiet, its compressed history and output lie in the checkpoint's memory only
// (Share). They are read with the lock, and copied back before that memory changes.
//
// Queries are answered at most once. Before a reply is queued, the landing notes the end of the
// slice that the query was in. A next host that processes these bytes again drops its replies up
// to there. Replies that wait to be written when a host is killed are lost.
//
// Typed input goes to the pty through Config.Spool, so that the next host knows how much of it was
// written. The holder decides what the next host types again (Retype). Keys returns the bytes that
// type a command line, and Submit types them, so that the holder can journal them in between.
//
// # Before
//
// A terminal may begin with text that no program wrote: what a terminal showed before the machine
// was restarted (Config.Before; tandemux/before of createTerminal). Viewers, the emulator and the
// journal get it as output of no command. A restored terminal has it from its journal.
//
// # Panics
//
// A panic while output is processed, or in any method, is contained (panic.go). It is reported
// with its stack, the emulator is replaced by a fresh one, viewers get TerminalCleared and a line
// that says so, and the terminal continues. After more than three panics the host's screen shows
// only that line; output still reaches viewers.
//
// # Ownership and concurrency
//
// All methods may be called from any goroutine. One goroutine reads the pty (a goroutine that
// types may read in its place, see package source), and one writes to it. screen guards the
// emulator and the filter, mu the queues; screen is taken before mu. Take needs only mu, so it
// never waits for the emulator. Wake and Throttle are called with no lock held.
//
// # Bounds
//
//   - pending output: at the bound the reader waits for Take;
//   - the landing: when it is full the reader waits for Released. Wake is called when half of it is
//     in use, even if nothing is pending;
//   - input: Input refuses more;
//   - bytes that the filter holds back: it passes them on;
//   - raw output: beyond MaxContent the emulator's serialised state replaces it;
//   - commands: by number and bytes (command.go).
//
// With no output and no input no timer runs.
package terminal
