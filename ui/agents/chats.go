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

// draftTime is how long after the last key a draft is told to the host.
const draftTime = time.Second

// Chat is a chat that panes of the layout show.
type Chat struct {
	*chat.Chat
	uri     ahp.URI
	session ahp.URI // "" while it is not known
	asked   bool    // it is subscribed to
	drafts  bool    // a timer runs that tells the draft
	ticks   bool    // a timer runs that draws times again
	follows []ahp.URI
	cursor  paint.Cursor
	rect    paint.Rect
}

// Focused is the focused pane's chat, nil where it shows none.
func (as *Agents) Focused() *Chat {
	if p, ok := as.Panes.Arr.Focused(); ok {
		return as.chats[p.Terminal]
	}
	return nil
}

// Mode is the table of bindings that a chat is used with.
func (as *Agents) Mode() (keymap.Mode, bool) {
	switch c := as.Focused(); {
	case c == nil:
		return keymap.Normal, false
	case c.Reading():
		return keymap.Reading, true
	}
	return keymap.Chat, true
}

// Follow subscribes to the chats that the layout shows and drops the others.
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

// Settle follows what came into sight, and sets the timers of chats.
func (as *Agents) Settle() {
	// A review that was left ends.
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

// tellDraft tells the host what is being written.
func (as *Agents) tellDraft(e *Chat) {
	if !as.Link.Up() {
		return
	}
	if a, changed := e.Draft(); changed {
		as.Link.Dispatch(e.uri, a)
	}
}

// TellDrafts tells the host what is being written in all chats, before leaving.
func (as *Agents) TellDrafts() {
	for _, e := range as.chats {
		as.tellDraft(e)
	}
}

// TerminalReady tells chats that a terminal can be seen.
func (as *Agents) TerminalReady() {
	for _, e := range as.chats {
		e.TerminalReady()
	}
}

// Draw draws a chat's pane and gives the place of its cursor.
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

// Title is what a chat's pane is called.
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

// Badge says how a chat stands.
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

// stateWord is a status in a word, and in a mark.
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

// errEnded is what a chat says whose session has ended.
var errEnded = errors.New("the session has ended")

// Action takes an action of a chat or session; it reports whether it was one.
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
