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
	"tandemux/ui/overlay"
	"tandemux/ui/status"
	"tandemux/ui/words"
)

// detach leaves; only a host that answers is known to run on.
func (m *Model) detach() {
	note := "detached; everything runs on"
	if m.link != Connected {
		note = "detached; the host was not reached any more" + m.unsent()
	}
	note += m.recordings.Leave()
	m.leave(Exit{Reason: Detached, Note: note})
}

// take makes a terminal this client's. What that interrupts is asked about first.
func (m *Model) take(t *terminal) {
	uri, said := t.uri, ""
	switch m.terms.holder(t) {
	case command.Agent:
		said = fmt.Sprintf("taken from %s (%s)", sessionName(t), callName(t))
	case command.Background:
		said = "taken from " + sessionName(t)
	case command.Other:
		said = "taken from " + personName(t)
	}
	m.askFirst(m.interrupts(t), func() {
		t := m.terms.get(uri)
		if t == nil {
			m.loop.Say(status.Warning, "%v", errGone)
			return
		}
		if t.info.Claim.Kind == ahp.ClaimSession {
			said += "; " + m.keysOf("hand-back") + " hands it back"
		}
		if said != "" {
			m.loop.Say(status.Info, "%s", said)
		}
		m.claim(t)
	})
}

// interrupts asks whether to take a terminal that somebody is busy with; "" when
// nobody is.
func (m *Model) interrupts(t *terminal) string {
	switch m.terms.holder(t) {
	case command.Agent:
		return fmt.Sprintf("%s runs %s here: interrupt it and take the terminal?", sessionName(t), callName(t))
	case command.Other:
		if line := runningLine(t); line != "" {
			return fmt.Sprintf("%s runs %s here: take the terminal?", personName(t), line)
		}
	}
	return ""
}

func (m *Model) claim(t *terminal) {
	t.asked, _ = m.dispatch(t.uri, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: m.terms.me}})
}

// background lets an agent's tool call end while the command runs on; a
// terminal of this person's leaves the layout and runs on.
func (m *Model) background(t *terminal) {
	switch m.terms.holder(t) {
	case command.Agent:
		c := t.info.Claim
		m.dispatch(t.uri, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: c.Kind, Session: c.Session, Chat: c.Chat}})
		m.loop.Say(status.Info, "%s goes on; %s runs in the background", sessionName(t), describe(t))
	case command.Background:
		m.loop.Say(status.Info, "%s runs in the background already", describe(t))
	case command.Me, command.MyOther:
		uri, area := t.uri, m.area()
		if _, shown := m.doc.shown.Showing(uri); !shown {
			m.loop.Say(status.Info, "%s runs in the background already", describe(t))
			return
		}
		m.change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) })
		m.kb.bare = len(m.doc.shown.Tabs) == 0
		m.loop.Say(status.Info, "%s runs in the background: %s shows it", describe(t), m.keysOf("terminals"))
	default:
		m.loop.Say(status.Warning, "%s is not yours", describe(t))
	}
}

// handBack returns a terminal to the session that it was taken from. A command of
// the person's that runs there is asked about first.
func (m *Model) handBack(t *terminal) {
	if t.info.Meta == nil || t.info.Meta.HandBack == nil {
		return
	}
	uri, to := t.uri, *t.info.Meta.HandBack
	name := words.Clean(cmp.Or(t.info.Meta.Agent, shortSession(to.Session)))
	question := ""
	if line := runningLine(t); line != "" {
		question = fmt.Sprintf("%s runs here: hand it to %s?", line, name)
	}
	m.askFirst(question, func() {
		m.dispatch(uri, ahp.TerminalClaimed{Claim: to})
		m.loop.Say(status.Info, "handed back to %s", name)
	})
}

// question asks before terminals end; "" when none of them runs.
func (m *Model) question(ts []*terminal) string {
	var running []string
	for _, t := range ts {
		if t == nil || t.exited() || m.atPrompt(t) {
			continue
		}
		s := describe(t)
		if m.terms.holder(t) == command.Agent {
			s += " (" + sessionName(t) + " runs " + callName(t) + ")"
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
func (m *Model) atPrompt(t *terminal) bool {
	if m.terms.holder(t) == command.Agent {
		return false
	}
	if t.feed != nil {
		c, detects, ok := t.feed.LastCommand()
		return detects && !(ok && c.Running)
	}
	return t.info.Meta != nil && t.info.Meta.LastCommand != nil && !t.info.Meta.LastCommand.Running
}

// closePane ends the focused pane's terminal, asking first when it runs. A
// terminal that another pane shows too is left alone.
func (m *Model) closePane() {
	p, t, _ := m.focused()
	if t == nil {
		// The terminal is gone or not known yet: only the pane is there.
		id, area := m.focusID(), m.area()
		m.change(func(l layout.Layout) layout.Layout { return l.Close(area, id) })
		m.emptied()
		return
	}
	if m.panesOf(t.uri) > 1 || t.exited() && t.info.Claim.Kind == ahp.ClaimSession {
		// What an agent's command printed stays its chat's to show.
		id, area := p.Pane, m.area()
		m.change(func(l layout.Layout) layout.Layout { return l.Close(area, id) })
		return
	}
	m.askFirst(m.question([]*terminal{t}), func() { m.endAll([]ahp.URI{t.uri}) })
}

// closeExited closes the pane of a terminal that has ended; one of a session's stays
// for its chat to show.
func (m *Model) closeExited(t *terminal) {
	if t.info.Claim.Kind != ahp.ClaimSession {
		m.dispose(t)
		m.emptied()
		return
	}
	m.closePane()
	m.emptied()
}

func (m *Model) panesOf(uri ahp.URI) int {
	n := 0
	for _, tab := range m.doc.shown.Tabs {
		for _, leaf := range tab.Panes() {
			if leaf.Terminal == uri {
				n++
			}
		}
	}
	return n
}

// closeTab ends all terminals of the active tab, asking first when any runs.
func (m *Model) closeTab() {
	tab, ok := m.doc.shown.Tab()
	if !ok {
		return
	}
	var uris []ahp.URI
	var ts []*terminal
	for _, leaf := range tab.Panes() {
		if !slices.Contains(uris, leaf.Terminal) {
			uris = append(uris, leaf.Terminal)
			ts = append(ts, m.terms.get(leaf.Terminal))
		}
	}
	m.askFirst(m.question(ts), func() { m.endAll(uris) })
}

// endAll ends terminals and closes their panes.
func (m *Model) endAll(uris []ahp.URI) {
	for _, uri := range uris {
		if t := m.terms.get(uri); t != nil {
			m.dispose(t)
			continue
		}
		m.removePane(uri)
	}
	m.emptied()
}

// stop ends the host, asking first.
func (m *Model) stop() {
	if !m.can(CanStop) {
		m.loop.Say(status.Info, "this connection can't stop the host: use tandemux stop")
		return
	}
	running := 0
	for _, t := range m.terms.byURI {
		if !t.exited() {
			running++
		}
	}
	m.loop.Open(overlay.NewConfirm(fmt.Sprintf("stop the host and end %s?", words.Plural(running, "terminal")), func() {
		m.loop.Async("stop the host", func(ctx context.Context) (func(), error) {
			err := m.cfg.Host.Stop(ctx)
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
