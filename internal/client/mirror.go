package client

import (
	"cmp"
	"strings"
	"sync"

	"tandemux/ahp"
	"tandemux/ahp/wire"
)

// mirrorLimit is the default of NewMirror.
const mirrorLimit = 4 << 20

// Mirror is a Sink that keeps the states of the root, terminal and layout
// channels it hears of. All methods may be called from any goroutine.
type Mirror struct {
	limit int

	mu        sync.Mutex // Protects following.
	root      *ahp.RootState
	terminals map[ahp.URI]*ahp.TerminalFold
	layouts   map[ahp.URI]ahp.LayoutState
	changed   chan struct{}
}

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
		if terminal, err := wire.Terminal(s); err == nil {
			m.change(func() { m.terminals[s.Resource] = ahp.NewTerminalFold(terminal, m.limit) })
		}
	}
}

func (m *Mirror) Action(e ahp.Envelope) {
	if e.RejectionReason != "" {
		return
	}
	m.change(func() {
		if e.Channel == ahp.RootURI && m.root != nil {
			m.root = new(ahp.ReduceRoot(*m.root, e.Action))
		}
		if f := m.terminals[e.Channel]; f != nil {
			f.Apply(e.Action)
		}
		if l, ok := m.layouts[e.Channel]; ok {
			m.layouts[e.Channel] = ahp.ReduceLayout(l, e.Action)
		}
	})
}

func (m *Mirror) Gone(channel ahp.URI) {
	m.change(func() {
		delete(m.terminals, channel)
		delete(m.layouts, channel)
	})
}

func (m *Mirror) Status(Status, error) { m.change(func() {}) }

// Root is the root state; ok is false before its first snapshot.
func (m *Mirror) Root() (s ahp.RootState, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.root == nil {
		return s, false
	}
	return *m.root, true
}

func (m *Mirror) Terminal(channel ahp.URI) (s ahp.TerminalState, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.terminals[channel]
	if f == nil {
		return s, false
	}
	return f.State(), true
}

func (m *Mirror) Layout(channel ahp.URI) (s ahp.LayoutState, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok = m.layouts[channel]
	return s, ok
}

// Changed is closed at the next change of anything. Take it before reading.
func (m *Mirror) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}
