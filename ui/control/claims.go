package control

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"tandemux/ahp"
	"tandemux/ui/alerts"
	"tandemux/ui/command"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/loop"
	"tandemux/ui/outer"
	"tandemux/ui/overlay"
	"tandemux/ui/panes"
	"tandemux/ui/status"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// Control has the commands about who holds a terminal and about ending it, and the list of
// terminals.
type Control struct {
	loop   *loop.Loop
	link   *link.Link
	panes  *panes.Panes
	outer  *outer.Terminal
	alerts *alerts.Alerts

	list    *overlay.List            // the list that shows previews, nil before it is opened
	of      func(key string) ahp.URI // the terminal of a row
	preview preview
}

func New(l *loop.Loop, lk *link.Link, ps *panes.Panes, o *outer.Terminal, al *alerts.Alerts) *Control {
	return &Control{loop: l, link: lk, panes: ps, outer: o, alerts: al}
}

// Commands returns the commands about terminals, by name.
func (ct *Control) Commands() map[string]command.Do {
	focused := func(f func(*terminals.Terminal)) command.Do {
		return func([]string) {
			if _, t, _ := ct.panes.Focused(); t != nil {
				f(t)
			}
		}
	}
	return map[string]command.Do{
		"close-pane": func([]string) { ct.closePane() },
		"close-tab":  func([]string) { ct.closeTab() },
		"terminals":  func([]string) { ct.openList() },
		"reclaim":    focused(ct.take),
		"background": focused(ct.background),
		"hand-back":  focused(ct.handBack),
		"end-share":  focused(ct.endShare),
	}
}

// take claims a terminal for this client. It asks first if that interrupts somebody.
func (ct *Control) take(t *terminals.Terminal) {
	uri, said := t.URI, ""
	switch ct.panes.Terms.Holder(t) {
	case command.Agent:
		said = fmt.Sprintf("taken from %s (%s)", t.AgentName(), t.Doing())
	case command.Background:
		said = "taken from " + t.AgentName()
	case command.Other:
		said = "taken from " + t.PersonName()
	}
	ct.askFirst(ct.interrupts(t), func() {
		t := ct.panes.Terms.Get(uri)
		if t == nil {
			ct.loop.Say(status.Warning, "the terminal is gone")
			return
		}
		if t.Info.Claim.Kind == ahp.ClaimSession {
			said += "; " + ct.loop.Keys("hand-back") + " hands it back"
		}
		if said != "" {
			ct.loop.Say(status.Info, "%s", said)
		}
		ct.panes.Claim(t)
	})
}

// interrupts returns the question whether to take a terminal from somebody who is busy with it,
// "" if nobody is.
func (ct *Control) interrupts(t *terminals.Terminal) string {
	who, line := "", ""
	switch ct.panes.Terms.Holder(t) {
	case command.Agent:
		who, line = t.AgentName(), t.Doing()
	case command.Other:
		who, line = t.PersonName(), t.RunningLine()
	}
	if line == "" {
		return ""
	}
	return fmt.Sprintf("take this terminal from %s, which runs %s?", who, line)
}

// background ends an agent's tool call while its command runs on. A terminal of this person's
// leaves the layout and runs on.
func (ct *Control) background(t *terminals.Terminal) {
	switch ct.panes.Terms.Holder(t) {
	case command.Agent:
		c := t.Info.Claim
		ct.link.Dispatch(t.URI, ahp.TerminalClaimed{Claim: ahp.Claim{Kind: c.Kind, Session: c.Session, Chat: c.Chat}})
		ct.loop.Say(status.Info, "%s goes on; %s runs in the background", t.AgentName(), t.Quoted())
	case command.Background:
		ct.loop.Say(status.Info, "%s runs in the background already", t.Quoted())
	case command.Me, command.MyOther:
		uri, area := t.URI, ct.panes.Area()
		if _, shown := ct.panes.Doc.Shown.Showing(uri); !shown {
			ct.loop.Say(status.Info, "%s runs in the background already", t.Quoted())
			return
		}
		ct.panes.Change(func(l layout.Layout) layout.Layout { return l.RemoveTerminal(area, uri) })
		ct.panes.Bare = len(ct.panes.Doc.Shown.Tabs) == 0
		ct.loop.Say(status.Info, "%s runs in the background: %s shows it", t.Quoted(), ct.loop.Keys("terminals"))
	default:
		ct.loop.Say(status.Warning, "%s is not yours", t.Quoted())
	}
}

// handBack returns a terminal to the session that had it before. It asks first if a command runs
// there.
func (ct *Control) handBack(t *terminals.Terminal) {
	if t.Info.Meta == nil || t.Info.Meta.HandBack == nil {
		return
	}
	uri, to := t.URI, *t.Info.Meta.HandBack
	name := words.Clean(cmp.Or(t.Info.Meta.Agent, terminals.ShortName(to.Session)))
	question := ""
	if line := t.RunningLine(); line != "" {
		question = fmt.Sprintf("%s runs here: hand it to %s?", line, name)
	}
	ct.askFirst(question, func() {
		ct.link.Dispatch(uri, ahp.TerminalClaimed{Claim: to})
		ct.loop.Say(status.Info, "handed back to %s", name)
	})
}

// endShare revokes the guests' tokens for a terminal. If a guest held it, this client claims it.
func (ct *Control) endShare(t *terminals.Terminal) {
	uri, host, held := t.URI, ct.link.Host, t.HeldByGuest()
	ct.loop.Call("end the sharing of "+t.Quoted(), func(ctx context.Context) error {
		return host.Call(ctx, ahp.MethodTokenRevoke, ahp.TokenRevokeParams{Channel: ahp.RootURI, Shares: uri}, nil)
	}, func() {
		ct.loop.Say(status.Info, "nobody else looks at it any more")
		if t := ct.panes.Terms.Get(uri); t != nil && held {
			ct.panes.Claim(t)
		}
	})
}

// question returns the question before terminals end, "" if nothing runs in them.
func (ct *Control) question(ts []*terminals.Terminal) string {
	var running []string
	for _, t := range ts {
		if t == nil || t.Exited() || ct.atPrompt(t) {
			continue
		}
		s := t.Quoted()
		if ct.panes.Terms.Holder(t) == command.Agent {
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

// atPrompt reports whether a terminal's shell is known to run no command. It returns false if an
// agent holds it, which may be about to run one.
func (ct *Control) atPrompt(t *terminals.Terminal) bool {
	if ct.panes.Terms.Holder(t) == command.Agent {
		return false
	}
	if t.Feed != nil {
		c, detects, ok := t.Feed.LastCommand()
		return detects && !(ok && c.Running)
	}
	return t.Info.Meta != nil && t.Info.Meta.LastCommand != nil && !t.Info.Meta.LastCommand.Running
}

// closePane ends the focused pane's terminal; it asks first if something runs. If another pane
// shows the terminal, only the pane closes.
func (ct *Control) closePane() {
	p, t, _ := ct.panes.Focused()
	if t == nil {
		// The terminal is gone or unknown: only the pane exists.
		id, area := ct.panes.FocusID(), ct.panes.Area()
		ct.panes.Change(func(l layout.Layout) layout.Layout { return l.Close(area, id) })
		ct.panes.Emptied()
		return
	}
	if ct.panes.PanesOf(t.URI) > 1 || t.Exited() && t.Info.Claim.Kind == ahp.ClaimSession {
		// The chat needs the output of an agent's command.
		id, area := p.Pane, ct.panes.Area()
		ct.panes.Change(func(l layout.Layout) layout.Layout { return l.Close(area, id) })
		return
	}
	ct.askFirst(ct.question([]*terminals.Terminal{t}), func() { ct.endAll([]ahp.URI{t.URI}) })
}

// CloseExited closes the pane of a terminal that has ended. A session's terminal is kept for its
// chat.
func (ct *Control) CloseExited(t *terminals.Terminal) {
	if t.Info.Claim.Kind != ahp.ClaimSession {
		ct.panes.Dispose(t)
		ct.panes.Emptied()
		return
	}
	ct.closePane()
	ct.panes.Emptied()
}

// closeTab ends all terminals of the active tab; it asks first if something runs.
func (ct *Control) closeTab() {
	tab, ok := ct.panes.Doc.Shown.Tab()
	if !ok {
		return
	}
	var uris []ahp.URI
	var ts []*terminals.Terminal
	for _, leaf := range tab.Panes() {
		if !slices.Contains(uris, leaf.Terminal) {
			uris = append(uris, leaf.Terminal)
			ts = append(ts, ct.panes.Terms.Get(leaf.Terminal))
		}
	}
	ct.askFirst(ct.question(ts), func() { ct.endAll(uris) })
}

// endAll ends terminals and closes their panes.
func (ct *Control) endAll(uris []ahp.URI) {
	for _, uri := range uris {
		if t := ct.panes.Terms.Get(uri); t != nil {
			ct.panes.Dispose(t)
			continue
		}
		ct.panes.RemovePane(uri)
	}
	ct.panes.Emptied()
}

// askFirst asks a question and calls yes if it is confirmed. Without a question it calls yes at
// once.
func (ct *Control) askFirst(question string, yes func()) {
	if question == "" {
		yes()
		return
	}
	ct.loop.Confirm(question, yes)
}
