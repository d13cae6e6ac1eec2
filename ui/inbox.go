package ui

import (
	"context"
	"errors"
	"fmt"

	"tandemux/ahp"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/loop"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// drain handles what the connection brought. It runs first in every update, so
// that an answer to a call is never handled before what came ahead of it.
func (m *Model) drain() {
	for _, item := range m.cfg.Sink.take() {
		switch it := item.(type) {
		case snapshot:
			m.snapshot(it)
		case ahp.Envelope:
			m.action(it)
		case gone:
			m.gone(it.channel)
		case sessionNote:
			m.noted(it)
		case linked:
			m.linked(it)
		case posted:
			it(m)
		case broken:
			m.loop.Fail(it.what, it.err)
		}
	}
	m.begin()
}

func (m *Model) snapshot(s snapshot) {
	switch st := s.state.(type) {
	case ahp.RootState:
		m.sessions.agents = st.Agents
		m.listed(st.Terminals)
	case ahp.SessionState:
		if sn := m.sessions.byURI[s.channel]; sn != nil {
			sn.state, sn.ready = st, true
			m.sessionsChanged()
		}
	case ahp.ChatState:
		if e := m.chats[s.channel]; e != nil {
			e.Reset(st)
			m.attending.stale = true
			m.loop.Dirty |= loop.Panes | loop.Chrome
		}
	case ahp.ActivityState:
		m.activity(st)
	case ahp.LayoutState:
		if s.channel != m.doc.uri {
			m.layouts.other(s.channel, st)
			return
		}
		if err := m.doc.replace(st); err != nil {
			// Going on would write over what somebody else understands.
			m.leave(Exit{Reason: Ended, Note: fmt.Sprintf("layout %s can't be read: %v", m.cfg.Layout, err)})
			return
		}
		m.layoutChanged(nil)
	case ahp.TerminalState:
		t := m.terms.ensure(s.channel)
		t.feed, t.ready, t.asked = m.cfg.Sink.feed(s.channel), true, 0
		t.info.Title, t.info.Claim, t.info.Lifecycle = st.Title, st.Claim, st.Lifecycle
		t.cols, t.rows, t.want = st.Cols, st.Rows, size{}
		if st.Cwd != "" {
			t.cwd = st.Cwd
		}
		m.terminalReady()
		m.loop.Dirty |= loop.Places
	}
}

func (m *Model) action(e ahp.Envelope) {
	own := e.Origin != nil && e.Origin.ClientID == m.terms.me
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
	t := m.terms.get(e.Channel)
	if t == nil {
		return
	}
	m.loop.Dirty |= loop.Chrome
	switch a := e.Action.(type) {
	case ahp.TerminalCommandExecuted:
		m.began(a)
	case ahp.TerminalTitleChanged:
		t.info.Title = a.Title
	case ahp.TerminalCwdChanged:
		t.cwd = a.Cwd
	case ahp.TerminalClaimed:
		t.info.Claim = a.Claim
		if own && e.Origin.ClientSeq == t.asked {
			t.asked = 0
		}
		t.want, t.theirs = size{}, !m.terms.mine(a.Claim) // the new holder's pane decides
		m.loop.Dirty |= loop.Places
	case ahp.TerminalResized:
		t.cols, t.rows = a.Cols, a.Rows
		t.theirs = t.theirs || !own && m.terms.holder(t) == command.MyOther
		m.loop.Dirty |= loop.Panes
	case ahp.TerminalExited:
		was := t.exited()
		t.info.Lifecycle = ahp.Lifecycle{Status: ahp.StatusExited, ExitCode: a.ExitCode}
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
	if t := m.terms.get(e.Channel); t != nil && e.Origin.ClientSeq == t.asked {
		t.asked = 0
		m.loop.Dirty |= loop.Chrome
	}
	m.loop.Say(status.Warning, "refused: %s", e.RejectionReason)
}

// listed takes the host's list of terminals.
func (m *Model) listed(list []ahp.TerminalInfo) {
	first := !m.terms.loaded
	ended, lost := m.terms.update(list, m.env.Now())
	m.attending.stale = true
	m.loop.Dirty |= loop.Chrome | loop.Places
	if first {
		return // begin looks at all of them
	}
	for _, t := range lost {
		m.unfollow(t)
		if m.begun {
			m.removePane(t.uri)
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
	if m.begun || !m.terms.loaded || !m.doc.loaded {
		return
	}
	m.begun = true
	now := m.env.Now()
	m.apply(func(l layout.Layout) (layout.Layout, error) {
		return l.Prune(m.area(), func(uri ahp.URI) bool {
			t := m.terms.get(uri)
			return t != nil && !t.done || isChat(uri)
		}), nil
	})
	for _, uri := range m.doc.shown.Terminals() {
		switch t := m.terms.get(uri); {
		case t == nil: // a chat
		case t.exited() && t.closesItself(now):
			m.dispose(t)
		case m.terms.left(t):
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
func (m *Model) ended(t *terminal) {
	m.loop.Dirty |= loop.Chrome
	if f := m.composing[t.uri]; f != nil {
		delete(m.composing, t.uri)
		f(m)
	}
	if !m.begun || t.done {
		return
	}
	if _, shown := m.doc.shown.Showing(t.uri); !shown {
		return
	}
	if !t.closesItself(m.env.Now()) {
		t.stays = true
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
			return nil, m.cfg.Host.Subscribe(ctx, channel)
		})
	case m.chats[channel] != nil:
		m.chats[channel].Fail(errEnded)
		m.loop.Dirty |= loop.Panes | loop.Chrome
	case m.sessions.byURI[channel] != nil:
		m.lostSession(channel)
		m.sessionsChanged()
	case m.terms.get(channel) != nil:
		m.unfollow(m.terms.get(channel))
		m.removePane(channel)
	}
}

func (m *Model) linked(l linked) {
	was := m.link
	m.link = l.link
	m.loop.Dirty |= loop.Chrome
	if l.link == Connected {
		m.attending.stale = true
		m.outer.Forgot() // it may be another host
	}
	switch {
	case l.link == Closed:
		note := "the host is gone"
		var closed ClosedError
		switch {
		case errors.As(l.err, &closed):
			note = "the host has closed the connection: " + words.Clean(closed.Error())
		case l.err != nil:
			note += ": " + l.err.Error()
		}
		m.leave(Exit{Reason: HostGone, Note: note})
	case l.link == Reconnecting && was == Connected:
		m.lose(l.err)
	case l.link == Connected && was == Reconnecting:
		m.loop.Say(status.Info, "connected again")
		m.resumeFlows()
		m.regain()
		m.loadSessions()
		m.loop.Dirty |= loop.Places
	}
}

// errGone is what a call about a terminal says that vanished meanwhile.
var errGone = errors.New("the terminal is gone")

func describe(t *terminal) string { return fmt.Sprintf("%q", t.title()) }
