package client

import "cotty/ahp"

// Mirror is a Sink that keeps the states of the root, terminal and layout
// channels it hears of. Its readers see the confirmed state plus the client's
// own pending actions on title, claim and layout; output and input are never
// predicted. All methods may be called from any goroutine.
type Mirror struct{}

// NewMirror makes an empty mirror. It keeps at most limit bytes of text for
// each terminal; 0 means 4 MiB.
func NewMirror(limit int) *Mirror { panic("not yet") }

// Snapshot implements Sink.
func (m *Mirror) Snapshot(s ahp.Snapshot) { panic("not yet") }

// Action implements Sink.
func (m *Mirror) Action(e ahp.Envelope) { panic("not yet") }

// Gone implements Sink.
func (m *Mirror) Gone(channel ahp.URI) { panic("not yet") }

// Status implements Sink.
func (m *Mirror) Status(s Status, err error) { panic("not yet") }

// Root is the root state; ok is false before its first snapshot.
func (m *Mirror) Root() (s ahp.RootState, ok bool) { panic("not yet") }

// Terminal is a terminal's state.
func (m *Mirror) Terminal(channel ahp.URI) (s ahp.TerminalState, ok bool) { panic("not yet") }

// Layout is a layout's state.
func (m *Mirror) Layout(channel ahp.URI) (s ahp.LayoutState, ok bool) { panic("not yet") }

// Changed is closed at the next change of anything. Take it before reading.
func (m *Mirror) Changed() <-chan struct{} { panic("not yet") }
