package ui

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tandemux/ahp"
	"tandemux/ui/address"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// drain handles what the connection brought. It runs first in every update, so
// that an answer to a call is never handled before what came ahead of it.
func (m *Model) drain() {
	for _, item := range m.link.Sink.Take() {
		switch it := item.(type) {
		case link.Snapshot:
			m.snapshot(it)
		case ahp.Envelope:
			m.action(it)
		case link.Gone:
			m.gone(it.Channel)
		case link.Note:
			m.noted(it)
		case link.Changed:
			m.linked(it)
		case link.Retry:
			m.retrying(it)
		case link.Lost:
			m.lostInput(int(it))
		case link.Silent:
			m.silent(time.Time(it))
		case link.Broken:
			m.loop.Fail(it.What, it.Err)
		}
	}
	m.begin()
}

func (m *Model) snapshot(s link.Snapshot) {
	switch st := s.State.(type) {
	case ahp.RootState:
		m.sessions.agents = st.Agents
		m.listed(st.Terminals)
	case ahp.SessionState:
		if sn := m.sessions.byURI[s.Channel]; sn != nil {
			sn.state, sn.ready = st, true
			m.sessionsChanged()
		}
	case ahp.ChatState:
		if e := m.chats[s.Channel]; e != nil {
			e.Reset(st)
			m.attending.stale = true
			m.loop.Dirty |= loop.Panes | loop.Chrome
		}
	case ahp.ActivityState:
		m.activity(st)
	case ahp.LayoutState:
		if s.Channel != m.doc.uri {
			m.layouts.other(s.Channel, st)
			return
		}
		if err := m.doc.replace(st); err != nil {
			// Going on would write over what somebody else understands.
			m.leave(Exit{Reason: Ended, Note: fmt.Sprintf("layout %s can't be read: %v", m.cfg.Layout, err)})
			return
		}
		m.layoutChanged(nil)
	case ahp.TerminalState:
		t := m.terms.Ensure(s.Channel)
		t.Feed, t.Ready, t.Asked = m.link.Sink.Feed(s.Channel), true, 0
		t.Info.Title, t.Info.Claim, t.Info.Lifecycle = st.Title, st.Claim, st.Lifecycle
		t.Cols, t.Rows, t.Want = st.Cols, st.Rows, terminals.Size{}
		if st.Cwd != "" {
			t.Cwd = st.Cwd
		}
		m.terminalReady()
		m.loop.Dirty |= loop.Places
	}
}

func (m *Model) action(e ahp.Envelope) {
	own := e.Origin != nil && e.Origin.ClientID == m.terms.Me
	if e.RejectionReason != "" {
		m.refused(e, own)
		return
	}
	switch a := e.Action.(type) {
	case ahp.RootTerminalsChanged:
		m.listed(a.Terminals)
		return
	case ahp.RootAgentsChanged:
		m.sessions.agents = a.Agents
		m.sessionsChanged()
		return
	case ahp.LayoutChanged:
		if e.Channel == m.doc.uri {
			m.layoutChanged(m.doc.changed(a, own && e.Origin.ClientSeq == m.doc.seq))
		}
		return
	}
	if e.Channel == ahp.ActivityURI {
		m.activity(ahp.ReduceActivity(m.attending.state, e.Action))
		return
	}
	if _, ok := e.Action.(ahp.TerminalInput); ok {
		if own {
			m.took(e)
		}
		return
	}
	if m.agentAction(e) {
		return
	}
	t := m.terms.Get(e.Channel)
	if t == nil {
		return
	}
	m.loop.Dirty |= loop.Chrome
	switch a := e.Action.(type) {
	case ahp.TerminalCommandExecuted:
		m.began(a)
	case ahp.TerminalTitleChanged:
		t.Info.Title = a.Title
	case ahp.TerminalCwdChanged:
		t.Cwd = a.Cwd
	case ahp.TerminalClaimed:
		t.Info.Claim = a.Claim
		if own && e.Origin.ClientSeq == t.Asked {
			t.Asked = 0
		}
		t.Want, t.Theirs = terminals.Size{}, !m.terms.Mine(a.Claim) // the new holder's pane decides
		m.loop.Dirty |= loop.Places
	case ahp.TerminalResized:
		t.Cols, t.Rows = a.Cols, a.Rows
		t.Theirs = t.Theirs || !own && m.terms.Holder(t) == command.MyOther
		m.loop.Dirty |= loop.Panes
	case ahp.TerminalExited:
		was := t.Exited()
		t.Info.Lifecycle = ahp.Lifecycle{Status: ahp.StatusExited, ExitCode: a.ExitCode}
		if !was {
			m.ended(t)
		}
	}
}

// refused handles the host's refusal of something that this client sent.
func (m *Model) refused(e ahp.Envelope, own bool) {
	if !own || e.Channel == ahp.ActivityURI { // others' marks are not this person's to take away
		return
	}
	if e.Channel == m.doc.uri && e.Origin.ClientSeq == m.doc.seq {
		if !m.doc.refused() {
			m.loop.Say(status.Error, "the host refused the change: %s", e.RejectionReason)
		}
		m.loop.Dirty |= loop.Places
		return
	}
	if m.refusedPiece(e) {
		return
	}
	if c := m.chats[e.Channel]; c != nil {
		c.Sent("")
		m.loop.Dirty |= loop.Panes
	}
	if t := m.terms.Get(e.Channel); t != nil && e.Origin.ClientSeq == t.Asked {
		t.Asked = 0
		m.loop.Dirty |= loop.Chrome
	}
	m.loop.Say(status.Warning, "refused: %s", e.RejectionReason)
}

// listed takes the host's list of terminals.
func (m *Model) listed(list []ahp.TerminalInfo) {
	first := !m.terms.Loaded
	ended, lost := m.terms.Update(list, m.env.Now())
	m.attending.stale = true
	m.loop.Dirty |= loop.Chrome | loop.Places
	if first {
		return // begin looks at all of them
	}
	for _, t := range lost {
		m.unfollow(t)
		if m.begun {
			m.removePane(t.URI)
		}
	}
	for _, t := range ended {
		m.ended(t)
	}
}

// layoutChanged acts on a new confirmed layout.
func (m *Model) layoutChanged(err error) {
	if err != nil {
		m.loop.Fail("read layout "+m.cfg.Layout, err)
		return
	}
	m.loop.Dirty |= loop.Places | loop.Chrome
	if m.begun && !m.kb.bare {
		m.emptied()
	}
}

// begin acts on the first full picture: panes whose terminals are gone or have
// ended close, and an empty layout gets a terminal.
func (m *Model) begin() {
	if m.begun || !m.terms.Loaded || !m.doc.loaded {
		return
	}
	m.begun = true
	now := m.env.Now()
	m.apply(func(l layout.Layout) (layout.Layout, error) {
		return l.Prune(m.area(), func(uri ahp.URI) bool {
			t := m.terms.Get(uri)
			return t != nil && !t.Done || address.IsChat(uri)
		}), nil
	})
	for _, uri := range m.doc.shown.Terminals() {
		switch t := m.terms.Get(uri); {
		case t == nil: // a chat
		case t.Exited() && t.ClosesItself(now):
			m.dispose(t)
		case m.terms.Left(t):
			// Attaching is sitting down at one's own terminals.
			m.claim(t)
		}
	}
	if len(m.doc.shown.Tabs) == 0 {
		m.newTab(m.cfg.Command)
	}
	m.release()
	if m.cfg.Notice != "" {
		m.loop.Say(status.Info, "%s", m.cfg.Notice)
	}
}

// ended acts on the end of a terminal's program.
func (m *Model) ended(t *terminals.Terminal) {
	m.loop.Dirty |= loop.Chrome
	if f := m.composing[t.URI]; f != nil {
		delete(m.composing, t.URI)
		f(m)
	}
	if !m.begun || t.Done {
		return
	}
	if _, shown := m.doc.shown.Showing(t.URI); !shown {
		return
	}
	if !t.ClosesItself(m.env.Now()) {
		t.Stays = true
		return
	}
	m.dispose(t)
	m.emptied()
}

// emptied leaves when no pane is left.
func (m *Model) emptied() {
	if len(m.doc.shown.Tabs) == 0 && m.kb.holding == 0 {
		m.leave(Exit{Reason: Emptied, Note: "the last pane closed"})
	}
}

func (m *Model) gone(channel ahp.URI) {
	switch {
	case channel == m.doc.uri:
		m.loop.Async("open layout "+m.cfg.Layout, func(ctx context.Context) (func(), error) {
			return nil, m.link.Host.Subscribe(ctx, channel)
		})
	case m.chats[channel] != nil:
		m.chats[channel].Fail(errEnded)
		m.loop.Dirty |= loop.Panes | loop.Chrome
	case m.sessions.byURI[channel] != nil:
		m.lostSession(channel)
		m.sessionsChanged()
	case m.terms.Get(channel) != nil:
		m.unfollow(m.terms.Get(channel))
		m.removePane(channel)
	}
}

func (m *Model) linked(l link.Changed) {
	was := m.link.State
	m.link.State = l.State
	m.loop.Dirty |= loop.Chrome
	if l.State == link.Connected {
		m.attending.stale = true
		m.outer.Forgot() // it may be another host
	}
	switch {
	case l.State == link.Closed:
		note := "the host is gone"
		var closed link.ClosedError
		switch {
		case errors.As(l.Err, &closed):
			note = "the host has closed the connection: " + words.Clean(closed.Error())
		case l.Err != nil:
			note += ": " + l.Err.Error()
		}
		m.leave(Exit{Reason: HostGone, Note: note})
	case l.State == link.Reconnecting && was == link.Connected:
		m.lose(l.Err)
	case l.State == link.Connected && was == link.Reconnecting:
		m.loop.Say(status.Info, "connected again")
		m.resumeFlows()
		m.regain()
		m.loadSessions()
		m.loop.Dirty |= loop.Places
	}
}

// errGone is what a call about a terminal says that vanished meanwhile.
var errGone = errors.New("the terminal is gone")
