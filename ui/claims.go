package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"cotty/ahp"
	"cotty/ui/command"
	"cotty/ui/layout"
	"cotty/ui/overlay"
	"cotty/ui/status"
)

// detach leaves; only a host that answers is known to run on.
func (m *Model) detach() {
	note := "detached; everything runs on"
	if m.link != Connected {
		note = "detached; the host was not reached any more" + m.unsent()
	}
	m.leave(Exit{Reason: Detached, Note: note})
}

// take makes a terminal this client's, saying what that interrupts.
func (m *Model) take(t *terminal) {
	switch m.terms.holder(t) {
	case command.Agent:
		m.say(status.Info, "taken from %s, which was running %s", sessionName(t), callName(t))
	case command.Background:
		m.say(status.Info, "taken from %s", sessionName(t))
	}
	m.claim(t)
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
		m.say(status.Info, "%s goes on; %s runs in the background", sessionName(t), describe(t))
	case command.Background:
		m.say(status.Info, "%s runs in the background already", describe(t))
	case command.Me, command.MyOther:
		uri, area := t.uri, m.area()
		if _, shown := m.doc.shown.Showing(uri); !shown {
			m.say(status.Info, "%s runs in the background already", describe(t))
			return
		}
		m.change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) })
		m.kb.bare = len(m.doc.shown.Tabs) == 0
		m.say(status.Info, "%s runs in the background: %s shows it", describe(t), m.keysOf("terminals"))
	default:
		m.say(status.Warning, "%s is not yours", describe(t))
	}
}

// handBack returns a terminal to the session that it was taken from.
func (m *Model) handBack(t *terminal) {
	if t.info.Meta == nil || t.info.Meta.HandBack == nil {
		return
	}
	m.dispatch(t.uri, ahp.TerminalClaimed{Claim: *t.info.Meta.HandBack})
}

// question asks before terminals end; "" when none of them runs.
func (m *Model) question(ts []*terminal) string {
	var running []string
	for _, t := range ts {
		if t == nil || t.exited() {
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
	return fmt.Sprintf("end %s: %s?", plural(len(running), "terminal"), strings.Join(running, ", "))
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
	if m.panesOf(t.uri) > 1 {
		id, area := p.Pane, m.area()
		m.change(func(l layout.Layout) layout.Layout { return l.Close(area, id) })
		return
	}
	m.askFirst(m.question([]*terminal{t}), func() { m.endAll([]ahp.URI{t.uri}) })
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

// openTerminals opens the list of all terminals.
func (m *Model) openTerminals() {
	with := func(f func(*terminal)) func(ahp.URI) {
		return func(uri ahp.URI) {
			if t := m.terms.get(uri); t != nil {
				f(t)
			} else {
				m.say(status.Warning, "%v", errGone)
			}
		}
	}
	m.open(overlay.NewTerminals(m.terminalRows, overlay.Actions{
		Show:       with(m.show),
		Take:       with(m.take),
		Background: with(m.background),
		Kill: with(func(t *terminal) {
			list := m.overlay
			q := m.question([]*terminal{t})
			if q == "" {
				m.dispose(t)
				m.emptied()
				return
			}
			m.open(overlay.NewConfirm(q, func() {
				m.dispose(t)
				m.emptied()
				m.open(list)
			}))
		}),
	}))
}

// terminalRows are the rows of the terminal list.
func (m *Model) terminalRows() []overlay.Terminal {
	var rows []overlay.Terminal
	for _, uri := range m.terms.order {
		t := m.terms.get(uri)
		if t == nil || t.done {
			continue
		}
		row := overlay.Terminal{
			URI: uri, Title: t.title(), Cwd: clean(shorten(filePath(t.cwd), m.cfg.home())),
			Detail: clean(strings.Join(t.command(), " ")),
		}
		row.Badge, row.BadgeStyle = m.badge(t)
		if id, ok := m.doc.shown.Showing(uri); ok {
			i, _, _ := m.doc.shown.Find(id)
			row.Where = fmt.Sprintf("tab %d", i+1)
		}
		rows = append(rows, row)
	}
	return rows
}

// show goes to the pane that shows a terminal, or splits the focused pane to
// show it.
func (m *Model) show(t *terminal) {
	uri, area := t.uri, m.area()
	m.kb.bare = false
	m.apply(func(l layout.Layout) (layout.Layout, error) {
		if id, ok := l.Showing(uri); ok {
			return l.FocusPane(id), nil
		}
		tab, ok := l.Tab()
		if !ok {
			l, _, err := l.NewTab(uri)
			return l, err
		}
		for _, d := range [...]layout.Direction{layout.Right, layout.Down} {
			if tab.CanSplit(area, tab.Focus, d) {
				l, _, err := l.Split(area, tab.Focus, d, uri)
				return l, err
			}
		}
		l, _, err := l.NewTab(uri)
		return l, err
	})
}

// stop ends the host, asking first.
func (m *Model) stop() {
	s, ok := m.cfg.Host.(Stopper)
	if !ok {
		m.say(status.Info, "this connection can't stop the host: use cotty stop")
		return
	}
	running := 0
	for _, t := range m.terms.byURI {
		if !t.exited() {
			running++
		}
	}
	m.open(overlay.NewConfirm(fmt.Sprintf("stop the host and end %s?", plural(running, "terminal")), func() {
		m.async("stop the host", func(ctx context.Context) (then, error) {
			err := s.Stop(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				err = errors.New("it did not answer")
			}
			return func(m *Model) {
				if err == nil {
					m.leave(Exit{Reason: Emptied, Note: "the host was stopped"})
				}
			}, err
		})
	}))
}

// plural counts things.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
