package agents

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandemux/ahp"
	"tandemux/keymap"
	"tandemux/ui/address"
	"tandemux/ui/chat"
	"tandemux/ui/layout"
	"tandemux/ui/link"
	"tandemux/ui/look"
	"tandemux/ui/loop"
	"tandemux/ui/overlay"
	"tandemux/ui/paint"
	"tandemux/ui/terminals"
	"tandemux/ui/words"
)

// draftTime is how long after the last key a draft is sent to the host.
const draftTime = time.Second

// Chat is a chat in the layout.
type Chat struct {
	*chat.Chat
	uri     ahp.URI
	session ahp.URI // "" while it is unknown
	asked   bool    // it is subscribed
	drafts  bool    // a timer that sends the draft runs
	ticks   bool    // a timer that redraws times runs
	follows []ahp.URI
	cursor  paint.Cursor
	rect    paint.Rect
}

// Focused returns the focused pane's chat, nil if it shows none.
func (as *Agents) Focused() *Chat {
	if p, ok := as.Panes.Arr.Focused(); ok {
		return as.chats[p.Terminal]
	}
	return nil
}

// Mode returns the key table of the focused chat; ok is false if there is none.
func (as *Agents) Mode() (keymap.Mode, bool) {
	switch c := as.Focused(); {
	case c == nil:
		return keymap.Normal, false
	case c.Reading():
		return keymap.Reading, true
	}
	return keymap.Chat, true
}

// Follow subscribes to the chats in the layout and unsubscribes from the others.
func (as *Agents) Follow() {
	shown := map[ahp.URI]bool{}
	for _, tab := range as.Panes.Doc.Shown.Tabs {
		for _, leaf := range tab.Panes() {
			if address.IsChat(leaf.Terminal) {
				shown[leaf.Terminal] = true
			}
		}
	}
	changed := false
	for uri := range shown {
		e := as.chats[uri]
		if e == nil {
			e = &Chat{uri: uri}
			e.Chat = chat.New(uri, as.chatActions(e))
			as.chats[uri], changed = e, true
			as.inform(e)
		}
		if !e.asked && as.Link.Up() && e.Err() == nil {
			as.followChat(e)
		}
	}
	for uri, e := range as.chats {
		if !shown[uri] {
			as.tellDraft(e)
			as.Link.Sink.Expect(uri, link.None)
			as.Link.Host.Unsubscribe(uri)
			delete(as.chats, uri)
			changed = true
		}
	}
	if changed {
		as.followSessions()
	}
	for _, p := range as.Panes.Arr.Panes {
		if e := as.chats[p.Terminal]; e != nil {
			e.follows = e.Terminals()
			for _, uri := range e.follows {
				if t := as.Panes.Terms.Get(uri); t != nil {
					as.Panes.Keep(t)
				}
			}
		}
	}
}

func (as *Agents) followChat(e *Chat) {
	uri := e.uri
	e.asked = true
	as.Link.Sink.Expect(uri, link.Chat)
	as.Loop.Async("show a chat", func(ctx context.Context) (func(), error) {
		err := as.Link.Host.Subscribe(ctx, uri)
		return func() {
			e := as.chats[uri]
			if e == nil || err == nil {
				return
			}
			if e.asked = false; as.Link.Up() {
				e.Fail(err)
				as.Loop.Dirty |= loop.Panes | loop.Chrome
			}
		}, nil
	})
}

// Settle updates subscriptions and timers of visible chats, and closes a review that was left.
func (as *Agents) Settle() {
	if as.review != nil && as.Loop.Overlay != as.review {
		as.dropReview()
		as.followSessions()
	}
	for _, p := range as.Panes.Arr.Panes {
		e := as.chats[p.Terminal]
		if e == nil {
			continue
		}
		if !slices.Equal(e.Terminals(), e.follows) {
			as.Loop.Dirty |= loop.Stale
		}
		if d := e.Due(); d > 0 && !e.ticks {
			e.ticks = true
			uri := e.uri
			as.Loop.After(d, func() {
				if e := as.chats[uri]; e != nil {
					e.ticks = false
					e.Tick()
					as.Loop.Dirty |= loop.Panes | loop.Chrome
				}
			})
		}
	}
	for uri, e := range as.chats {
		if e.Unsent() && !e.drafts {
			e.drafts = true
			as.Loop.After(draftTime, func() {
				if e := as.chats[uri]; e != nil {
					e.drafts = false
					as.tellDraft(e)
				}
			})
		}
	}
	as.Panes.Freshen()
}

// tellDraft sends a chat's draft to the host if it has changed.
func (as *Agents) tellDraft(e *Chat) {
	if !as.Link.Up() {
		return
	}
	if a, changed := e.Draft(); changed {
		as.Link.Dispatch(e.uri, a)
	}
}

// TellDrafts sends all drafts to the host, before leaving.
func (as *Agents) TellDrafts() {
	for _, e := range as.chats {
		as.tellDraft(e)
	}
}

// TerminalReady tells the chats that a terminal's screen has arrived.
func (as *Agents) TerminalReady() {
	for _, e := range as.chats {
		e.TerminalReady()
	}
}

// Draw draws a chat's pane if it has changed and returns the cursor.
func (as *Agents) Draw(p layout.Placed, e *Chat, all bool, now time.Time) paint.Cursor {
	r := paint.Rect(p.Body)
	if !all && e.rect == r && !e.Stale() {
		return e.cursor
	}
	e.rect = r
	e.cursor = e.Draw(&as.Outer.Canvas, r, &as.Outer.Look, p.Focused, now)
	return e.cursor
}

func (as *Agents) Type(e *Chat, k tea.Key) {
	as.Loop.Unsay()
	e.Type(k, as.Loop.Now())
	as.Loop.Dirty |= loop.Panes
}

// Title is the title of a chat's pane.
func (as *Agents) Title(uri ahp.URI) string {
	if s := as.sessionOf(uri); s != nil {
		if s.ready {
			for _, c := range s.state.Chats {
				if t := words.Clean(c.Title); c.Resource == uri && t != "" {
					return t
				}
			}
		}
		return s.title()
	}
	if e := as.chats[uri]; e != nil && e.Session().Title != "" {
		return e.Session().Title
	}
	return terminals.ShortName(uri)
}

// Badge is the state of a chat as its pane's badge shows it.
func (as *Agents) Badge(e *Chat) (string, look.Style) {
	l := &as.Outer.Look
	s := as.sessions.byURI[e.session]
	switch {
	case e.Err() != nil:
		return "gone", l.Exited
	case !e.Ready():
		return "", l.Other
	}
	name := "agent"
	if s != nil {
		name = as.agentTitle(s.row.Provider)
	}
	if s != nil && s.ready && s.state.Lifecycle == ahp.LifecycleFailed {
		return name + ": not started", l.Fail
	}
	word, mark := stateWord(e.State().Status, l)
	return name + ": " + word, mark.Style
}

// stateWord returns a word and a mark for a status.
func stateWord(s ahp.Status, l *look.Look) (string, overlay.Cell) {
	switch {
	case s.NeedsInput():
		return "waiting for you", overlay.Cell{Text: "?", Style: l.Agent}
	case s.Activity() == ahp.ActivityInProgress:
		return "working", overlay.Cell{Text: string(l.Running), Style: l.Agent}
	case s.Activity() == ahp.ActivityError:
		return "failed", overlay.Cell{Text: string(l.Failed), Style: l.Fail}
	}
	return "idle", overlay.Cell{Text: string(l.Ended), Style: l.Background}
}

// errEnded is why a chat can't be shown after its session has ended.
var errEnded = errors.New("the session has ended")

// Action handles an action of a chat or session. It reports whether it was one.
func (as *Agents) Action(e ahp.Envelope) bool {
	if as.review != nil && as.review.Act(e) {
		return true
	}
	if c := as.chats[e.Channel]; c != nil {
		c.Apply(e.Action, as.Loop.Now())
		as.Changed()
		as.Loop.Dirty |= loop.Panes | loop.Chrome
		return true
	}
	if s := as.sessions.byURI[e.Channel]; s != nil {
		if s.ready {
			s.state = ahp.ReduceSession(s.state, e.Action)
			if t, ok := e.Action.(ahp.SessionTitleChanged); ok {
				s.row.Title = t.Title
			}
			as.Refresh()
		}
		return true
	}
	return false
}
