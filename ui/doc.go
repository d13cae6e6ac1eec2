// Package ui is the terminal user interface: a root model that dispatches, and parts
// with a state of their own in the packages below it.
//
//	connection ─▶ link.Sink ─▶ feeds (ui/pane)   terminal/data, on the connection's goroutine
//	                      └──▶ Model             everything else, in order
//	keyboard   ─▶ ui/tty ─▶ Model                decoded keys, mouse, paste, focus, size
//	Model      ─▶ parts  ─▶ link.Host            dispatches, creates, disposes
//	Model      ─▶ ui/outer ─▶ outer terminal     cells, compared with what is shown
//
// A message goes to the part that it is about: what the host says of the layout and of
// terminals to ui/panes, of sessions, chats and changes (ui/review) to ui/agents, of what
// goes on to ui/alerts; a key to the overlay, to a command that waits for a character
// (ui/copying), to ui/keys, to the focused chat, or to the program (ui/typing); the
// mouse to ui/mouse. Commands are a table that the parts fill. After each message the
// Model lets the parts settle: places, subscriptions, sizes, what goes to the host, and
// the screen, which ui/screen draws but for the status line and what is on top.
//
// Ownership: the Model and all parts belong to the event loop; nothing else touches them.
// That is Bubble Tea's, and for keys and what the connection brings the goroutine that
// read it, one message at a time (turns.go); such a turn of the connection's waits neither
// for another nor for the outer terminal. A pane.Feed has its own lock, because the connection writes to it while
// the loop draws it. The Sink has a lock and a bounded inbox. Commands (tea.Cmd) run
// elsewhere, receive values and return a message. Parts know those above them in
// docs/contributing/architecture.md; what one has done by others are functions that it is given.
//
// Invariants: nothing is written to the outer terminal but by ui/outer and ui/tty;
// nothing is drawn unless something changed, so that an idle program writes no byte and
// wakes for nothing; the terminal is restored on every way out.
//
// Do is the same Model with nobody looking (panes.Panes.Unseen): it draws nothing, follows
// no terminal, and sends what a command did to the layout as one change.
//
// The package knows no sockets and starts no processes: cmd/tandemux joins the Sink and
// the Host to internal/client, and supplies what the machine does (Desk).
package ui
