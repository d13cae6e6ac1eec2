package ui

import (
	"errors"
	"time"

	"tandemux/ahp"
	"tandemux/ahp/annotation"
	"tandemux/ahp/changeset"
	"tandemux/ahp/hosted"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/status"
	"tandemux/ui/tty"
	"tandemux/ui/words"
)

// drain handles what arrived from the host. It runs first in every update, so the answer to a
// call is never handled before what arrived ahead of it.
func (m *Model) drain() {
	for _, item := range m.link.Sink.Take() {
		switch it := item.(type) {
		case link.Snapshot:
			if m.link.Hosts.Has(it.Channel) {
				m.snapshot(it)
			}
		case ahp.Envelope:
			if m.link.Hosts.Has(it.Channel) {
				m.action(it)
			}
		case link.Gone:
			if !m.agents.Gone(it.Channel) {
				m.panes.Gone(it.Channel)
			}
		case link.Note:
			m.agents.Noted(it)
		case link.Changed:
			m.linked(it)
		case link.HostChanged:
			m.hostChanged(it)
		case link.HostSilent:
			m.link.Hosts.SetSilent(it)
			m.loop.Dirty |= loop.Chrome
		case link.Retry:
			m.typing.Retrying(it)
		case link.Lost:
			m.typing.Lost(int(it))
		case link.Silent:
			m.typing.Silent(time.Time(it))
		case link.Broken:
			m.loop.Fail(it.What, it.Err)
		case link.Asked:
			m.read(tty.Input{it})
		}
	}
	if m.panes.Begin() {
		m.release()
		if m.cfg.Notice != "" {
			m.loop.Say(status.Info, "%s", m.cfg.Notice)
		}
	}
}

func (m *Model) snapshot(s link.Snapshot) {
	switch st := s.State.(type) {
	case ahp.RootState:
		if s.Channel == ahp.RootURI {
			m.agents.Offered(st.Agents)
		}
		m.panes.Listed(hosted.Host(s.Channel), st)
		m.alerts.Stale = true
	case ahp.SessionState:
		m.agents.SessionState(s.Channel, st)
	case ahp.ChatState:
		m.agents.ChatState(s.Channel, st)
	case changeset.State, annotation.State:
		m.agents.ChangesState(s.Channel, st)
	case ahp.ActivityState:
		m.alerts.Take(s.Channel, st)
	case ahp.LayoutState:
		m.panes.Confirmed(s.Channel, st)
	case ahp.TerminalState:
		m.panes.Shows(s.Channel, st)
		m.agents.TerminalReady()
	}
}

func (m *Model) action(e ahp.Envelope) {
	own := e.Origin != nil && e.Origin.ClientID == m.panes.Terms.Me
	if e.RejectionReason != "" {
		m.refused(e, own)
		return
	}
	switch a := e.Action.(type) {
	case ahp.RootTerminalsChanged:
		m.panes.Listed(hosted.Host(e.Channel), ahp.RootState{Terminals: a.Terminals, Meta: a.Meta})
		m.alerts.Stale = true
		return
	case ahp.RootAgentsChanged:
		if e.Channel != ahp.RootURI {
			return
		}
		m.agents.Offered(a.Agents)
		m.agents.Refresh()
		return
	case ahp.LayoutChanged:
		m.panes.Changed(e, a, own)
		return
	}
	if _, there := hosted.Split(e.Channel); there == ahp.ActivityURI {
		m.alerts.Act(e.Channel, e.Action)
		return
	}
	if _, ok := e.Action.(ahp.TerminalInput); ok {
		if own {
			m.typing.Took(e)
		}
		return
	}
	if m.agents.Action(e) {
		return
	}
	t := m.panes.Terms.Get(e.Channel)
	if t == nil {
		return
	}
	if a, ok := e.Action.(ahp.TerminalCommandExecuted); ok {
		m.loop.HostTime(a.Timestamp)
	}
	m.panes.Acts(t, e, own)
}

// refused handles the host's refusal of something that this client sent.
func (m *Model) refused(e ahp.Envelope, own bool) {
	if _, there := hosted.Split(e.Channel); !own || there == ahp.ActivityURI { // other people's marks
		return
	}
	if m.panes.Refused(e) || m.typing.Refused(e) {
		return
	}
	m.agents.Refused(e.Channel)
	m.loop.Say(status.Warning, "refused: %s", e.RejectionReason)
}

// relist updates the hosts that have names. Panes of hosts without a name any more say so.
func (m *Model) relist() {
	for _, name := range m.link.Hosts.List(m.cfg.far(), m.loop.Now()) {
		m.panes.Left(name, true)
		m.alerts.Unnamed(name)
	}
	m.loop.Dirty |= loop.Chrome | loop.Places
}

// hostChanged handles a change of the connection to another host.
func (m *Model) hostChanged(c link.HostChanged) {
	turned := m.link.Hosts.Take(c)
	m.loop.Dirty |= loop.Chrome
	if !turned {
		return
	}
	m.loop.Dirty |= loop.Places
	if c.State == link.Closed {
		m.panes.Left(c.Name, false)
	}
	if c.State != link.Connected {
		return
	}
	if far, is := m.link.Hosts.Find(c.Name); is {
		m.panes.Terms.Known(c.Name, far.Person())
	}
	m.panes.Arrived(c.Name)
	m.alerts.Follow(m.log, c.Name)
	m.alerts.Stale = true
	m.outer.Forgot()
	m.typing.Regained(c.Name)
	m.agents.Load()
}

func (m *Model) linked(l link.Changed) {
	was := m.link.State
	m.link.State = l.State
	m.loop.Dirty |= loop.Chrome
	if l.State == link.Connected {
		m.alerts.Stale = true
		m.outer.Forgot() // the host may be another one
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
		m.typing.Disconnected(l.Err)
	case l.State == link.Connected && was == link.Reconnecting:
		m.loop.Say(status.Info, "connected again")
		m.typing.Regained("")
		m.agents.Load()
		m.loop.Dirty |= loop.Places
	}
}
