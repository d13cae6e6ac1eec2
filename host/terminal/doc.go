// Package terminal is one terminal of the host: it reads the pty, answers what
// the child asks of its terminal, keeps the screen, and turns output into
// actions for whoever sequences them.
//
// # The pull model
//
// A terminal knows nothing of sequence numbers, connections or claims. It
// queues actions in stream order and calls Config.Wake; the holder then calls
// Take, under its own sequencing lock, and gives numbers to what it gets. What
// changes the state from outside, Resize and Clear, queues its own action
// (TerminalResized, TerminalCleared) at its exact place in the stream, so the
// holder calls Take right after, under the same lock, and finds it there: it
// is the holder's part only to attach the origin to it. Content returns what is
// still pending together with the content that includes it: sequence the
// pending actions first, then serve the snapshot with the resulting number.
//
// # Pipeline
//
//	pty ─read ≤64 KiB─▶ repair UTF-8 ─┬─▶ filter ─▶ pending actions ─Take─▶ host
//	                                  │      └────▶ retained raw bytes
//	                                  └─▶ emulator ─▶ replies ─▶ pty
//	                                         └─▶ titles, cwd ─▶ pending actions
//
// The emulator sees the questions and answers each once; the filter takes
// questions and shell marks out of what viewers get (design.md, rule 4).
//
// Content reproduces the host's screen, cursor, modes and history in a fresh
// emulator, and so does whatever follows it. Where MaxContent left history out,
// a viewer has that much less to rewrap, and to bring back to the screen, after
// a later resize.
//
// # Commands
//
// The filter notes the shell's marks with their place in what viewers get; feed
// splits output there, so that data, the emulator and what a mark tells are in
// step, and host/shell's tracker makes commands of them (mark.go, command.go).
// A command is marked in the emulator at its beginning and its end. Content
// consists of parts: of the raw output while that is whole, otherwise of the
// serialised state, cut where those marks lie (parts.go). Besides, the head and
// the tail of the last commands' output are kept, for lookups (output.go). A
// terminal that was started with a command is one command, whatever it prints.
//
// # Ownership and concurrency
//
// All methods may be called from any goroutine. One goroutine reads, one
// writes; screen guards the emulator and the filter, mu the queues; screen is
// taken first. Take needs only mu and so never waits for the emulator. Wake and
// Throttle are called with no lock held.
//
// # Bounds
//
// Pending output is bounded (the reader waits for Take), input is bounded
// (Input refuses), held bytes of the filter are bounded (they are passed on),
// retained raw bytes are bounded by MaxContent (the emulator's serialised state
// takes over), commands by their number and bytes (command.go). Nothing ticks: with no output and no input there is no timer.
package terminal
