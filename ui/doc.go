// Package ui is the terminal user interface: a root model that dispatches, and parts
// with a state of their own in the packages below it.
//
//	connection ─▶ link.Sink ─▶ feeds (ui/pane)   terminal/data, on the connection's goroutine
//	                      └──▶ Model             everything else, in order
//	keyboard   ─▶ ui/tty ─▶ Model                decoded keys, mouse, paste, focus, size
//	Model      ─▶ parts  ─▶ link.Host            dispatches, creates, disposes
//	Model      ─▶ ui/outer ─▶ outer terminal     cells, compared with what is shown
//
// A message goes to the part that it is about. What comes from the host goes to ui/panes (the
// layout, terminals), ui/agents (sessions, chats, changes in ui/review) or ui/alerts (activity).
// A key goes to the overlay, a command that waits for a character (ui/copying), ui/keys, the
// focused chat or the program (ui/typing); the mouse goes to ui/mouse. Commands are a table that
// the parts fill. After each message the Model lets the parts settle: places, subscriptions,
// sizes, what is sent to the host, and the screen. ui/screen draws all of it but the status line
// and overlays.
//
// Ownership: only the event loop may use the Model and the parts. That is Bubble Tea's loop,
// except that keys and what the connection brings are handled on the goroutine that read them,
// one message at a time (turns.go); a turn of the connection waits neither for another turn nor
// for the outer terminal. A pane.Feed has its own lock, because the connection writes to it while
// the loop draws it. The Sink has a lock and a bounded inbox. Commands (tea.Cmd) run on other
// goroutines, receive values and return a message. Parts know only those above them in
// docs/contributing/architecture.md; for others they are given functions.
//
// Invariants: only ui/outer and ui/tty write to the outer terminal; nothing is drawn unless
// something changed, so an idle program writes no byte and never wakes; the terminal is restored
// on every way out.
//
// Do is the same Model without a viewer (panes.Panes.Unseen): it draws nothing, follows no
// terminal, and sends what a command did to the layout as one change.
//
// The package knows no sockets and starts no processes: cmd/tandemux joins the Sink and
// the Host to internal/client, and supplies what the machine does (Desk).
package ui
