// Package terminal is one terminal of the host: it reads the pty, answers what the child asks of
// its terminal, keeps the screen, and turns output into actions for whoever sequences them.
//
// # The pull model
//
// A terminal knows nothing of sequence numbers, connections or claims. It queues actions in stream
// order and calls Config.Wake; the holder then calls Take, under its own sequencing lock, and
// gives numbers to what it gets. What changes the state from outside, Resize and Clear, queues its
// own action (TerminalResized, TerminalCleared) at its exact place in the stream, so the holder
// calls Take right after, under the same lock, and finds it there: it is the holder's part only to
// attach the origin to it. Content returns what is still pending together with the content that
// includes it: sequence the pending actions first, then serve the snapshot with the resulting
// number.
//
// # Pipeline
//
//	pty ─▶ landing ─≤16 KiB─▶ repair UTF-8 ─┬─▶ filter ─▶ store ─▶ pending actions ─Take─▶ host
//	                                        │                └──▶ content, commands
//	                                        └─▶ emulator ─▶ replies ─▶ pty
//	                                               └─▶ titles, cwd ─▶ pending actions
//
// What viewers get is in memory once (package output): the filter appends it to a block, and the
// actions, what the host keeps of them for clients that come back, the content while it is whole,
// and the head and the tail of commands' output are parts of that block. The landing is the same
// bytes as they were read, the journal those that the next host needs, and the emulator what
// became of them.
//
// The emulator sees the questions and answers each once; the filter takes questions and shell
// marks out of what viewers get (docs/contributing/decisions.md §34).
//
// Content reproduces the host's screen, cursor, modes and history in a fresh emulator, and so does
// whatever follows it. Where MaxWire left history out a line says how much, and a viewer has that
// much less to rewrap, and to bring back to the screen, after a later resize.
//
// # Commands
//
// The filter notes the shell's marks with their place in what viewers get; feed splits output
// there, so that data, the emulator and what a mark tells are in step, and host/shell's tracker
// makes commands of them (command.go). A command is marked in the emulator at its beginning and
// its end. Content consists of parts: of the raw output while that is whole, otherwise of the
// serialised state, cut where those marks lie (parts.go). Besides, the head and the tail of the
// last commands' output are kept, for lookups (output.Command). A terminal that was started with a
// command is one command, whatever it prints.
//
// # Outliving the host
//
// The pty is read into a landing (package journal): of the journal that Config.Landing is part of,
// or, without one, memory of the terminal's own. What was read stays there until Released, so that
// a next host finds it, and is processed in slices; all that a slice brings, actions, data, title,
// is published at once with the mark that belongs to it (fresh.go). So Take gives all of a slice
// or nothing: Taken says to which offset of the stream it has come, the state of decoder and
// filter there, and, when that has changed, the facts that no action tells (facts.go): prompt,
// tracker, counts. It gives no more than the journal has room for (Bound): where there is more the
// holder makes a checkpoint in its place, so that none is needed while actions are on their way.
// The holder puts actions and mark into its journal in one batch, then calls Released, then tells
// others.
//
// Checkpoint gives the state as records: the output since the start or, when it is not whole any
// more, the screen serialised and the history as it lies in memory, what is known of commands with
// the newest output, facts, and where in the content the emulator's marks lie. Restore
// (restore.go) feeds the content to a fresh emulator, marking where marks were, replays the
// actions that followed (replay.go), takes the facts and the state of the stream from the last
// mark, and then processes what the landing has beyond it as if it had just been read. That is all
// that a terminal knows: one restored at any instant and one that never died are the same
// (TestRestore), but for the output of older commands beyond maxSaved, what a bare checkpoint left
// out (a line says how much), and a resize or clear that was in no Take.
//
// At rest what is packed, history and output, lies in the checkpoint's memory (Share) and nowhere
// else. It is read with the lock, and is the terminal's own again before that memory changes.
//
// Questions are answered at most once. Before a reply is queued the landing is told the end of the
// slice that it belongs to; a next host that processes these bytes again drops its replies up to
// there. A host that is killed while replies wait to be written takes them along.
//
// What is typed goes to the pty through Config.Spool, so that the next host knows how much of it
// was taken; what that types again is the holder's to say (Retype). Keys gives what types a
// command line, and Submit types it, so that the holder can note it in between.
//
// # Before
//
// A terminal may begin with text that no program wrote (Config.Before: tandemux/before of
// createTerminal, what a terminal showed before the machine was restarted). It is output to
// viewers, the emulator and the journal, and belongs to no command; a restored terminal has it
// from its journal.
//
// # Panics
//
// A panic while output is processed, or in any method, is contained (panic.go): it is reported
// with its stack, the emulator is replaced by a fresh one, viewers get TerminalCleared and a line
// that says so, and the terminal goes on. After three of them it shows only that line; output
// still reaches viewers.
//
// # Ownership and concurrency
//
// All methods may be called from any goroutine. One goroutine reads, or in its place who typed
// (package source), one writes; screen guards the
// emulator and the filter, mu the queues; screen is taken first. Take needs only mu and so never
// waits for the emulator. Wake and Throttle are called with no lock held.
//
// # Bounds
//
// Pending output is bounded (the reader waits for Take), and so is what the landing holds (it
// waits for Released; Wake is called when half of it is in use, even if nothing is pending), input
// is bounded (Input refuses), held bytes of the filter are bounded (they are passed on), retained
// raw bytes are bounded by MaxContent (the emulator's serialised state takes over), commands by
// their number and bytes (command.go). Nothing ticks: with no output and no input there is no
// timer.
package terminal
