package client

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"tandemux/ahp"
)

// mirrorLimit is the default of NewMirror.
const mirrorLimit = 4 << 20

// Mirror is a Sink that keeps the states of the root, terminal and layout
// channels it hears of. Its readers see the confirmed state plus the client's
// own pending actions on title, claim and layout; output and input are never
// predicted. All methods may be called from any goroutine.
type Mirror struct {
	limit int

	mu        sync.Mutex // Protects following.
	root      *ahp.RootState
	terminals map[ahp.URI]*ahp.TerminalFold
	layouts   map[ahp.URI]ahp.LayoutState
	predicted []prediction
	changed   chan struct{}
}

// prediction is an action that the host has not decided yet.
type prediction struct {
	seq     int64
	channel ahp.URI
	action  ahp.Action
}

var _ Predictor = (*Mirror)(nil)

// NewMirror makes an empty mirror. It keeps about limit bytes of text for each
// terminal, the newest; 0 means 4 MiB.
func NewMirror(limit int) *Mirror {
	return &Mirror{
		limit:     cmp.Or(limit, mirrorLimit),
		terminals: map[ahp.URI]*ahp.TerminalFold{},
		layouts:   map[ahp.URI]ahp.LayoutState{},
		changed:   make(chan struct{}),
	}
}

// change runs f under the lock and wakes those who wait for changes.
func (m *Mirror) change(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
	close(m.changed)
	m.changed = make(chan struct{})
}

// Snapshot implements Sink. What a channel is shows in its state: terminals may
// have URIs of any scheme.
func (m *Mirror) Snapshot(s ahp.Snapshot) {
	switch {
	case s.Resource == ahp.RootURI:
		var root ahp.RootState
		if ahp.Unmarshal(s.State, &root) == nil {
			m.change(func() { m.root = &root })
		}
	case strings.HasPrefix(s.Resource, ahp.LayoutScheme):
		var layout ahp.LayoutState
		if ahp.Unmarshal(s.State, &layout) == nil {
			m.change(func() { m.layouts[s.Resource] = layout })
		}
	case strings.HasPrefix(s.Resource, ahp.SessionScheme), strings.HasPrefix(s.Resource, ahp.ChatScheme):
	default:
		var terminal ahp.TerminalState
		if ahp.Unmarshal(s.State, &terminal) == nil {
			m.change(func() { m.terminals[s.Resource] = ahp.NewTerminalFold(terminal, m.limit) })
		}
	}
}

// Action implements Sink.
func (m *Mirror) Action(e ahp.Envelope) {
	if e.RejectionReason != "" {
		return // Settled takes the prediction back.
	}
	m.change(func() {
		if e.Channel == ahp.RootURI && m.root != nil {
			next := ahp.ReduceRoot(*m.root, e.Action)
			m.root = &next
		}
		if f := m.terminals[e.Channel]; f != nil {
			f.Apply(e.Action)
		}
		if l, ok := m.layouts[e.Channel]; ok {
			m.layouts[e.Channel] = ahp.ReduceLayout(l, e.Action)
		}
	})
}

// Gone implements Sink.
func (m *Mirror) Gone(channel ahp.URI) {
	m.change(func() {
		delete(m.terminals, channel)
		delete(m.layouts, channel)
	})
}

// Status implements Sink.
func (m *Mirror) Status(Status, error) { m.change(func() {}) }

// Dispatched implements Predictor.
func (m *Mirror) Dispatched(seq int64, channel ahp.URI, a ahp.Action) {
	switch a.(type) {
	case ahp.TerminalTitleChanged, ahp.TerminalClaimed, ahp.LayoutChanged:
		m.change(func() { m.predicted = append(m.predicted, prediction{seq, channel, a}) })
	}
}

// Settled implements Predictor.
func (m *Mirror) Settled(seq int64) {
	is := func(p prediction) bool { return p.seq == seq }
	m.mu.Lock()
	has := slices.ContainsFunc(m.predicted, is)
	m.mu.Unlock()
	if has {
		m.change(func() { m.predicted = slices.DeleteFunc(m.predicted, is) })
	}
}

// Root is the root state; ok is false before its first snapshot.
func (m *Mirror) Root() (s ahp.RootState, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil {
		return s, false
	}
	return *m.root, true
}

// Terminal is a terminal's state.
func (m *Mirror) Terminal(channel ahp.URI) (s ahp.TerminalState, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.terminals[channel]
	if f == nil {
		return s, false
	}
	s = f.State()
	for _, p := range m.predicted {
		if p.channel == channel {
			s = ahp.ReduceTerminal(s, p.action)
		}
	}
	return s, true
}

// Layout is a layout's state.
func (m *Mirror) Layout(channel ahp.URI) (s ahp.LayoutState, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok = m.layouts[channel]
	for _, p := range m.predicted {
		if p.channel == channel {
			s = ahp.ReduceLayout(s, p.action)
		}
	}
	return s, ok
}

// Changed is closed at the next change of anything. Take it before reading.
func (m *Mirror) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}
