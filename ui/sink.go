package ui

import "cotty/ahp"

// Sink takes what the connection brings. Its methods are called from one
// goroutine, the connection's, in order. It is made before the connection and
// before the Model, and keeps what arrives in between: the root snapshot of
// the handshake above all.
type Sink struct{}

// NewSink gives an empty sink.
func NewSink() *Sink { return &Sink{} }

// Snapshot takes the state of a channel, after a subscription or a reconnect.
func (s *Sink) Snapshot(snap ahp.Snapshot) {}

// Action takes a confirmed action, this client's own included, or a refusal.
func (s *Sink) Action(e ahp.Envelope) {}

// Gone takes the news that a channel no longer exists.
func (s *Sink) Gone(channel ahp.URI) {}

// Status takes a change of the connection's state; err says why, where known.
func (s *Sink) Status(l Link, err error) {}
