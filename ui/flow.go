package ui

import (
	"bytes"
	"time"

	"tandemux/ahp"
	"tandemux/ui/status"
)

const (
	// maxFlow bounds what waits to be typed into one terminal, in bytes.
	maxFlow = 64 << 20
	// retryTime is how long after a refusal a piece is sent again: the program
	// has not read what came before it.
	retryTime = 50 * time.Millisecond
	// refusedTime is for how long that is done.
	refusedTime = 30 * time.Second
	// lostTime is how long after a reconnect the host may take to answer for a
	// piece that was under way.
	lostTime = 5 * time.Second
)

// flow is input for a terminal that is more than one message, such as a long
// paste. A piece goes when the host has taken the one before, so that a program
// that reads slowly gets all of it and in order.
type flow struct {
	data  []byte // begins with the piece that is under way
	piece int    // its length
	seq   int64  // its dispatch, 0 while none is under way
	since time.Time
	wait  bool // a refused piece is sent again later
}

// sendInput dispatches what was gathered.
func (m *Model) sendInput() {
	if len(m.kb.out) > 0 {
		m.kb.typed = m.env.Now()
	}
	for _, o := range m.kb.out {
		f := m.kb.flows[o.uri]
		if f == nil && m.keepInput(o) {
			continue
		}
		switch {
		case f == nil && len(o.data) <= maxInput && !o.part:
			if !m.typed(o) {
				m.keepInput(o)
			}
			continue
		case f == nil:
			f = m.newFlow(o.uri)
		case string(o.data) == "\x03":
			f.interrupt()
		}
		if len(f.data)+len(o.data) > maxFlow {
			m.loop.Say(status.Warning, "more than %d MiB wait to be typed: the rest is left out", maxFlow>>20)
			continue
		}
		f.data = append(f.data, o.data...)
		m.advance(o.uri, f)
	}
	m.kb.out = m.kb.out[:0]
}

// typed dispatches what fits into a message; false means that there is no
// connection.
func (m *Model) typed(o outgoing) bool {
	_, ok := m.link.Dispatch(o.uri, ahp.TerminalInput{Data: string(o.data)})
	return ok || m.link.Up()
}

func (m *Model) newFlow(uri ahp.URI) *flow {
	if m.kb.flows == nil {
		m.kb.flows = map[ahp.URI]*flow{}
	}
	f := &flow{}
	m.kb.flows[uri] = f
	m.link.Sink.HearInput(true)
	return f
}

func (m *Model) endFlow(uri ahp.URI) {
	delete(m.kb.flows, uri)
	m.link.Sink.HearInput(len(m.kb.flows) > 0)
}

// interrupt drops what has not been sent: Ctrl-C is for what is there. The end of
// a bracketed paste stays.
func (f *flow) interrupt() {
	rest := f.data[f.piece:]
	end := []byte("\x1b[201~")
	if i := bytes.LastIndex(rest, end); i >= 0 {
		rest = rest[i:]
	} else {
		rest = nil
	}
	f.data = append(f.data[:f.piece], rest...)
}

// advance sends the next piece, if none is under way.
func (m *Model) advance(uri ahp.URI, f *flow) {
	if f.seq != 0 || f.wait || !m.link.Up() {
		return
	}
	if len(f.data) == 0 {
		m.endFlow(uri)
		return
	}
	n := len(f.data)
	if n > maxInput {
		n = cutRune(f.data[:maxInput])
	}
	seq, ok := m.link.Dispatch(uri, ahp.TerminalInput{Data: string(f.data[:n])})
	switch {
	case !ok && !m.link.Up():
		return // it goes on when the connection is back
	case !ok:
		m.endFlow(uri) // dispatch has said so
		return
	}
	f.seq, f.piece = seq, n
}

// took handles the host's word that it has taken a piece.
func (m *Model) took(e ahp.Envelope) {
	f := m.kb.flows[e.Channel]
	if f == nil || e.Origin.ClientSeq != f.seq {
		return
	}
	f.data = f.data[f.piece:]
	f.seq, f.piece, f.since = 0, 0, time.Time{}
	m.advance(e.Channel, f)
}

// refusedPiece handles the refusal of a piece; it reports whether it was one. A
// terminal that this person may type into just has no room yet.
func (m *Model) refusedPiece(e ahp.Envelope) bool {
	f := m.kb.flows[e.Channel]
	if f == nil || e.Origin.ClientSeq != f.seq {
		return false
	}
	now := m.env.Now()
	if f.since.IsZero() {
		f.since = now
	}
	f.seq = 0
	if !m.panes.Terms.Typable(m.panes.Terms.Get(e.Channel)) || now.Sub(f.since) > refusedTime {
		m.cutOff(e.Channel, f, e.RejectionReason)
		return true
	}
	f.wait = true
	uri := e.Channel
	m.loop.After(retryTime, func() {
		if m.kb.flows[uri] == f {
			f.wait = false
			m.advance(uri, f)
		}
	})
	return true
}

// cutOff gives up a flow.
func (m *Model) cutOff(uri ahp.URI, f *flow, why string) {
	m.endFlow(uri)
	m.loop.Say(status.Warning, "the last %d KiB were not typed: %s", (len(f.data)+1023)>>10, why)
}

// resumeFlows goes on after a reconnect: the connection sends a piece that was
// under way again, unless it is to a host that knows nothing of it.
func (m *Model) resumeFlows() {
	for uri, f := range m.kb.flows {
		if f.seq == 0 {
			m.advance(uri, f)
			continue
		}
		seq := f.seq
		m.loop.After(lostTime, func() {
			if m.kb.flows[uri] == f && f.seq == seq {
				m.cutOff(uri, f, "the connection was lost")
			}
		})
	}
}
