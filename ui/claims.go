package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// detach leaves; only a host that answers is known to run on.
func (m *Model) detach() {
	note := "detached; everything runs on"
	if !m.link.Up() {
		note = "detached; the host was not reached any more" + m.typing.Unsent()
	}
	note += m.recordings.Leave()
	m.leave(Exit{Reason: Detached, Note: note})
}

// take makes a terminal this client's. What that interrupts is asked about first.
func (m *Model) take(t *terminals.Terminal) {
	uri, said := t.URI, ""
	switch m.panes.Terms.Holder(t) {
	case command.Agent:
		said = fmt.Sprintf("taken from %s (%s)", t.AgentName(), t.Doing())
	case command.Background:
		said = "taken from " + t.AgentName()
	case command.Other:
		said = "taken from " + t.PersonName()
	}
	m.askFirst(m.interrupts(t), func() {
		t := m.panes.Terms.Get(uri)
		if t == nil {
			m.loop.Say(status.Warning, "%v", errGone)
			return
		}
		if t.Info.Claim.Kind == ahp.ClaimSession {
			said += "; " + m.keysOf("hand-back") + " hands it back"
		}
		if said != "" {
			m.loop.Say(status.Info, "%s", said)
		}
		m.panes.Claim(t)
	})
}

// interrupts asks whether to take a terminal that somebody is busy with; "" when
// nobody is.
func (m *Model) interrupts(t *terminals.Terminal) string {
	switch m.panes.Terms.Holder(t) {
	case command.Agent:
		return fmt.Sprintf("%s runs %s here: interrupt it and take the terminal?", t.AgentName(), t.Doing())
	case command.Other:
		if line := t.RunningLine(); line != "" {
			return fmt.Sprintf("%s runs %s here: take the terminal?", t.PersonName(), line)
		}
	}
	return ""
}

// background lets an agent's tool call end while the command runs on; a
// terminal of this person's leaves the layout and runs on.
func (m *Model) background(t *terminals.Terminal) {
	switch m.panes.Terms.Holder(t) {
	case command.Agent:
		c := t.Info.Claim
		m.link.Dispatch(t.URI, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: c.Kind, Session: c.Session, Chat: c.Chat}})
		m.loop.Say(status.Info, "%s goes on; %s runs in the background", t.AgentName(), t.Quoted())
	case command.Background:
		m.loop.Say(status.Info, "%s runs in the background already", t.Quoted())
	case command.Me, command.MyOther:
		uri, area := t.URI, m.panes.Area()
		if _, shown := m.panes.Doc.Shown.Showing(uri); !shown {
			m.loop.Say(status.Info, "%s runs in the background already", t.Quoted())
			return
		}
		m.panes.Change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) })
		m.panes.Bare = len(m.panes.Doc.Shown.Tabs) == 0
		m.loop.Say(status.Info, "%s runs in the background: %s shows it", t.Quoted(), m.keysOf("terminals"))
	default:
		m.loop.Say(status.Warning, "%s is not yours", t.Quoted())
	}
}

// handBack returns a terminal to the session that it was taken from. A command of
// the person's that runs there is asked about first.
func (m *Model) handBack(t *terminals.Terminal) {
	if t.Info.Meta == nil || t.Info.Meta.HandBack == nil {
		return
	}
	uri, to := t.URI, *t.Info.Meta.HandBack
	name := words.Clean(cmp.Or(t.Info.Meta.Agent, terminals.ShortName(to.Session)))
	question := ""
	if line := t.RunningLine(); line != "" {
		question = fmt.Sprintf("%s runs here: hand it to %s?", line, name)
	}
	m.askFirst(question, func() {
		m.link.Dispatch(uri, ahp.TerminalClaimed{Claim: to})
		m.loop.Say(status.Info, "handed back to %s", name)
	})
}

// question asks before terminals end; "" when none of them runs.
func (m *Model) question(ts []*terminals.Terminal) string {
	var running []string
	for _, t := range ts {
		if t == nil || t.Exited() || m.atPrompt(t) {
			continue
		}
		s := t.Quoted()
		if m.panes.Terms.Holder(t) == command.Agent {
			s += " (" + t.AgentName() + " runs " + t.Doing() + ")"
		}
		running = append(running, s)
	}
	switch len(running) {
	case 0:
		return ""
	case 1:
		return "end " + running[0] + "?"
	}
	return fmt.Sprintf("end %s: %s?", words.Plural(len(running), "terminal"), strings.Join(running, ", "))
}

// atPrompt reports that a terminal's shell is known to run nothing: it marks its
// commands, and none runs. An agent that holds it may be about to run one.
func (m *Model) atPrompt(t *terminals.Terminal) bool {
	if m.panes.Terms.Holder(t) == command.Agent {
		return false
	}
	if t.Feed != nil {
		c, detects, ok := t.Feed.LastCommand()
		return detects && !(ok && c.Running)
	}
	return t.Info.Meta != nil && t.Info.Meta.LastCommand != nil && !t.Info.Meta.LastCommand.Running
}

// closePane ends the focused pane's terminal, asking first when it runs. A
// terminal that another pane shows too is left alone.
func (m *Model) closePane() {
	p, t, _ := m.panes.Focused()
	if t == nil {
		// The terminal is gone or not known yet: only the pane is there.
		id, area := m.panes.FocusID(), m.panes.Area()
		m.panes.Change(func(l layout.Layout) layout.Layout { return l.Close(area, id) })
		m.panes.Emptied()
		return
	}
	if m.panes.PanesOf(t.URI) > 1 || t.Exited() && t.Info.Claim.Kind == ahp.ClaimSession {
		// What an agent's command printed stays its chat's to show.
		id, area := p.Pane, m.panes.Area()
		m.panes.Change(func(l layout.Layout) layout.Layout { return l.Close(area, id) })
		return
	}
	m.askFirst(m.question([]*terminals.Terminal{t}), func() { m.endAll([]ahp.URI{t.URI}) })
}

// closeExited closes the pane of a terminal that has ended; one of a session's stays
// for its chat to show.
func (m *Model) closeExited(t *terminals.Terminal) {
	if t.Info.Claim.Kind != ahp.ClaimSession {
		m.panes.Dispose(t)
		m.panes.Emptied()
		return
	}
	m.closePane()
	m.panes.Emptied()
}

// closeTab ends all terminals of the active tab, asking first when any runs.
func (m *Model) closeTab() {
	tab, ok := m.panes.Doc.Shown.Tab()
	if !ok {
		return
	}
	var uris []ahp.URI
	var ts []*terminals.Terminal
	for _, leaf := range tab.Panes() {
		if !slices.Contains(uris, leaf.Terminal) {
			uris = append(uris, leaf.Terminal)
			ts = append(ts, m.panes.Terms.Get(leaf.Terminal))
		}
	}
	m.askFirst(m.question(ts), func() { m.endAll(uris) })
}

// endAll ends terminals and closes their panes.
func (m *Model) endAll(uris []ahp.URI) {
	for _, uri := range uris {
		if t := m.panes.Terms.Get(uri); t != nil {
			m.panes.Dispose(t)
			continue
		}
		m.panes.RemovePane(uri)
	}
	m.panes.Emptied()
}

// stop ends the host, asking first.
func (m *Model) stop() {
	if !m.link.Can(link.CanStop) {
		m.loop.Say(status.Info, "this connection can't stop the host: use tandemux stop")
		return
	}
	running := 0
	for _, t := range m.panes.Terms.ByURI {
		if !t.Exited() {
			running++
		}
	}
	m.loop.Open(overlay.NewConfirm(fmt.Sprintf("stop the host and end %s?", words.Plural(running, "terminal")), func() {
		m.loop.Async("stop the host", func(ctx context.Context) (func(), error) {
			err := m.link.Host.Stop(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				err = errors.New("it did not answer")
			}
			return func() {
				if err == nil {
					m.leave(Exit{Reason: Emptied, Note: "the host was stopped"})
				}
			}, err
		})
	}, nil))
}
