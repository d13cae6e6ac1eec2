// Package ui is the terminal user interface: a root model that dispatches, and
// small components below it that each draw themselves into a rectangle.
//
//	connection ─▶ Sink ─▶ feeds (ui/pane)      terminal/data, on the connection's goroutine
//	                 └──▶ inbox ─▶ Model       everything else, in order
//	keyboard   ─▶ ui/tty ─▶ Model              decoded keys, mouse, paste, focus, size
//	Model      ─▶ Host                         dispatches, creates, disposes
//	Model      ─▶ ui/paint ─▶ outer terminal   cells, compared with what is shown
//
// Ownership: the Model and every component are owned by Bubble Tea's event
// loop; nothing else touches them. A pane.Feed has its own lock, because the
// connection writes to it while the loop draws it. The Sink has a lock and a
// bounded inbox. Commands (tea.Cmd) run elsewhere, receive values and return a
// message.
//
// Long input, such as a paste, is a flow: a piece goes when the host has taken
// the one before. What the outer terminal says of its colours goes to the host,
// which answers programs with it.
//
// What is copied goes to the outer terminal's clipboard and to paste buffers,
// which this client keeps, bounded, until it ends. Opening links, editing and
// saving text is the Desk's, which cmd/tandemux supplies.
//
// What terminals have to tell comes by the host's activity channel, so that those
// that are not followed tell too (attention.go); package attention decides what
// that is. The host is told what the person has seen.
//
// Invariants: nothing is written to the outer terminal but by the painter and
// ui/tty; nothing is drawn unless something changed, so that an idle program
// writes no byte and wakes for nothing; the terminal is restored on every way
// out; the layout document that is shown is the newest confirmed one with the
// operations on top that the host has not answered yet.
//
// The package knows no sockets and starts no processes: it declares Host and
// Sink, and cmd/tandemux joins them to internal/client.
package ui
