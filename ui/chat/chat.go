package chat

import (
	"encoding/json"
	"slices"
	"time"

	"tandemux/ahp"
	"tandemux/ui/editor"
	"tandemux/ui/look"
	"tandemux/ui/markup"
)

// Actions are what a chat has done for it. None may be nil but those that say so.
type Actions struct {
	// Dispatch sends an action to the chat's channel; false: it could not be sent.
	Dispatch func(a ahp.Action) bool
	// Configure sets a session's option.
	Configure func(id string, value any)
	// Complete asks what may follow at an offset in UTF-16 units; the answer comes
	// by Chat.Offer.
	Complete func(text string, offset int)
	// Copy puts text where paste finds it; what says what it is.
	Copy func(text, what string)
	// Open shows a terminal in a pane of its own. Link opens an address.
	Open, Link func(uri string)
	// Edit has a text edited elsewhere; done gets it when that is over.
	Edit func(text string, done func(string))
	// Choose asks which of some rows; at is the one to start from.
	Choose func(title string, rows []string, at int, accept func(int))
	// Say tells the person something.
	Say func(warn bool, text string)
	// Fork makes a chat that begins with this one's turns up to one.
	Fork func(turn string)
	// More loads older turns.
	More func()
	// Login runs a way to log in: an index into the error's ways.
	Login func(way ahp.AgentAuth)
	// Search asks for a text to look for.
	Search func(back bool)
	// Keys are those that a command is bound to, for people; "" for none.
	Keys func(command string) string
	// Screen gives a terminal's screen, nil while it is not followed.
	Screen func(uri ahp.URI) Screen
	// NewID makes an id that nothing has.
	NewID func(kind string) string
}

// Session is what of its session concerns a chat.
type Session struct {
	URI       ahp.URI
	Title     string
	Agent     string // for people
	Lifecycle string
	Error     *ahp.ErrorInfo // why it failed
	Options   []ahp.AgentOption
	Values    map[string]any
	Commands  []ahp.AgentCommand
	Plan      []ahp.AgentPlanEntry
	Fork      bool // chats can begin from this one
	Steer     bool // the agent takes messages into its turn
	Roots     []string
}

// focus is who has the keys.
type focus uint8

const (
	inPrompt focus = iota
	inPanel        // what waits for an answer
	inReading
)

// Chat is a conversation and this client's view of it.
type Chat struct {
	URI ahp.URI
	do  Actions

	state   ahp.ChatState // texts of the active turn as they were when they began
	session Session
	ready   bool  // the state has come
	gone    error // why it never will

	// The transcript.
	turns   []*turnView
	starts  []int // first row of each turn
	rows    int   // of all
	stale   int   // turns from here on are to be laid out anew
	r       renderer
	glyphs  markup.Glyphs
	ascii   bool
	palette markup.Palette
	known   bool // glyphs and palette are
	open    map[string]bool

	// The view.
	top    int // row at the top
	follow bool
	where  focus
	focus  stop
	find   find
	sel    selection
	view   placed

	// The prompt.
	edit    editor.Text
	history history
	popup   popup
	attach  []ahp.Attachment
	draft   drafting
	planned bool // the plan is unfolded
	ask     asking
	form    form
	now     time.Time // as told last
	escaped time.Time // when esc was pressed
	dirty   bool
	due     time.Duration // until what was drawn changes by itself, 0 for never
}

// New gives a chat whose state has not come.
func New(uri ahp.URI, do Actions) *Chat {
	c := &Chat{URI: uri, do: do, follow: true, open: map[string]bool{}, dirty: true}
	c.r.screens = do.Screen
	return c
}

// Ready reports whether the chat's state has come.
func (c *Chat) Ready() bool { return c.ready }

// Fail says why the state can't be had.
func (c *Chat) Fail(err error) { c.gone, c.dirty = err, true }

// Err is why the state can't be had, nil while it can.
func (c *Chat) Err() error { return c.gone }

// State is the chat's state. The texts of a turn that runs are not up to date in
// it.
func (c *Chat) State() *ahp.ChatState { return &c.state }

// SetSession takes what is known of the session.
func (c *Chat) SetSession(s Session) {
	c.session, c.dirty = s, true
	if slices.Equal(s.Roots, c.r.roots) {
		return
	}
	c.r.roots = s.Roots
	for i, v := range c.turns {
		for k, it := range v.items {
			if it.kind == toolItem {
				c.touch(i, k)
			}
		}
	}
}

// Session is what SetSession was given.
func (c *Chat) Session() Session { return c.session }

// Reset takes the chat's whole state.
func (c *Chat) Reset(s ahp.ChatState) {
	first := !c.ready
	c.state, c.ready, c.gone, c.dirty = s, true, nil, true
	old := c.turns
	c.turns = nil
	for i := range s.Turns {
		c.turns = append(c.turns, c.newTurn(s.Turns[i], old, s.Turns[i].State != ""))
	}
	if s.ActiveTurn != nil {
		c.turns = append(c.turns, c.newTurn(*s.ActiveTurn, nil, false))
	}
	c.stale, c.starts = 0, nil
	c.history.learn(s)
	if first || !c.draft.changed {
		c.takeDraft(s.Draft)
	}
	c.consider()
}

// newTurn makes a turn's view, or finds the one that was there.
func (c *Chat) newTurn(t ahp.Turn, old []*turnView, over bool) *turnView {
	if over {
		if i := slices.IndexFunc(old, func(v *turnView) bool { return v.id == t.ID && v.turn.State == t.State }); i >= 0 {
			return old[i]
		}
	}
	v := &turnView{id: t.ID, turn: t}
	m := &item{kind: messageItem, id: "message", md: &markup.Markdown{}, msg: &t.Message, turn: v, dirty: true}
	m.md.Append(t.Message.Text)
	v.items = append(v.items, m)
	for i := range t.ResponseParts {
		v.items = append(v.items, c.newItem(v, t.ResponseParts[i], time.Time{}))
	}
	if over {
		v.items = append(v.items, &item{kind: footItem, id: "foot", turn: v, dirty: true})
	}
	for _, it := range v.items[:len(v.items)-1] {
		it.over = true
	}
	for _, it := range v.items {
		if open, ok := c.open[v.id+"/"+it.id]; ok {
			it.open = &open
		}
	}
	return v
}

func (v *turnView) active() bool { return v.turn.State == "" }

// newItem makes the item of a part.
func (c *Chat) newItem(v *turnView, p ahp.ResponsePart, now time.Time) *item {
	it := &item{id: p.ID, turn: v, part: &p, dirty: true, began: now}
	switch p.Kind {
	case ahp.PartMarkdown:
		it.kind, it.md = answerItem, &markup.Markdown{}
		it.md.Append(p.Content)
	case ahp.PartReasoning:
		it.kind, it.md = thoughtItem, &markup.Markdown{}
		it.md.Append(p.Content)
	case ahp.PartToolCall:
		if it.kind = toolItem; p.ToolCall == nil {
			it.kind = blobItem
			break
		}
		it.id, it.call = p.ToolCall.ToolCallID, p.ToolCall
	case ahp.PartSystemNotification:
		if it.kind = noticeItem; p.Note == nil {
			it.kind = blobItem
		}
	case ahp.PartError:
		it.kind = failureItem
	case ahp.PartInputRequest:
		if it.kind = questionItem; p.Request == nil {
			it.kind = blobItem
			break
		}
		it.id = p.Request.ID
	default:
		it.kind = blobItem
	}
	return it
}

// Apply takes an action of the chat. now is when it came.
func (c *Chat) Apply(a ahp.Action, now time.Time) {
	c.dirty = true
	switch a := a.(type) {
	case ahp.ChatDelta:
		c.grow(a.TurnID, a.PartID, answerItem, a.Content)
		return
	case ahp.ChatReasoning:
		c.grow(a.TurnID, a.PartID, thoughtItem, a.Content)
		return
	case ahp.ChatUsage:
		c.state = ahp.ReduceChat(c.state, a)
		return
	case ahp.ChatDraftChanged:
		c.state = ahp.ReduceChat(c.state, a)
		if !c.draft.changed {
			c.takeDraft(a.Draft)
		}
		return
	case ahp.ChatToolCallConfirmed:
		c.answered(a)
	}
	c.state = ahp.ReduceChat(c.state, a)
	switch a.(type) {
	case ahp.ChatTurnsLoaded, ahp.ChatTruncated, ahp.ChatTurnResume:
		c.rebuild()
	default:
		c.sync(now)
	}
	c.consider()
}

// grow appends to a text of the active turn.
func (c *Chat) grow(turn, part string, kind itemKind, text string) {
	n := len(c.turns)
	if n == 0 || c.turns[n-1].id != turn || !c.turns[n-1].active() {
		return
	}
	v := c.turns[n-1]
	for i := len(v.items) - 1; i >= 0; i-- {
		if it := v.items[i]; it.id == part && it.kind == kind {
			it.md.Append(text)
			c.touch(n-1, i)
			return
		}
	}
}

// touch notes that an item is to be laid out anew.
func (c *Chat) touch(turn, item int) {
	v := c.turns[turn]
	v.items[item].dirty = true
	v.from = min(v.from, item)
	c.stale = min(c.stale, turn)
	c.dirty = true
}

// sync brings the last turns up to date with the state: one that began, the parts
// of the active one, one that ended.
func (c *Chat) sync(now time.Time) {
	s := &c.state
	if n := len(c.turns); n > 0 && c.turns[n-1].active() {
		v := c.turns[n-1]
		if s.ActiveTurn != nil && s.ActiveTurn.ID == v.id {
			c.syncTurn(n-1, *s.ActiveTurn, now)
		} else if i := slices.IndexFunc(s.Turns, func(t ahp.Turn) bool { return t.ID == v.id }); i >= 0 {
			c.syncTurn(n-1, s.Turns[i], now)
			v.items = append(v.items, &item{kind: footItem, id: "foot", turn: v, dirty: true})
			v.from, c.stale = min(v.from, len(v.items)-1), min(c.stale, n-1)
		} else {
			c.rebuild()
			return
		}
	}
	if t := s.ActiveTurn; t != nil && (len(c.turns) == 0 || c.turns[len(c.turns)-1].id != t.ID) {
		c.turns = append(c.turns, c.newTurn(*t, nil, false))
		c.stale = min(c.stale, len(c.turns)-1)
		c.history.add(t.Message)
	}
}

// syncTurn brings a turn's items up to date with its parts.
func (c *Chat) syncTurn(at int, t ahp.Turn, now time.Time) {
	v := c.turns[at]
	over := t.State != ""
	v.turn = t
	for i := range t.ResponseParts {
		p := t.ResponseParts[i]
		k := i + 1
		if k >= len(v.items) {
			for _, it := range v.items {
				it.settle(now, c, at)
			}
			v.items = append(v.items, c.newItem(v, p, now))
			c.touch(at, len(v.items)-1)
			continue
		}
		it := v.items[k]
		switch {
		case it.kind == toolItem && p.ToolCall != nil && !same(it.call, p.ToolCall):
			was := it.call.Status
			it.call = p.ToolCall
			switch {
			case it.call.Over() && it.ended.IsZero():
				it.ended = now
			case it.call.Status == ahp.ToolRunning && was != ahp.ToolRunning:
				it.began = now
			}
			c.touch(at, k)
		case it.kind == questionItem && p.Request != nil:
			it.part = &p
			c.touch(at, k)
		}
	}
	if over {
		for _, it := range v.items {
			it.settle(now, c, at)
		}
	}
}

// same reports whether a call is as it was; a changed one is another value.
func same(a, b *ahp.ToolCall) bool { return a == b }

// settle notes that a thought is over.
func (it *item) settle(now time.Time, c *Chat, turn int) {
	if it.kind == thoughtItem && !it.over {
		it.over, it.ended = true, now
		c.touch(turn, slices.Index(it.turn.items, it))
	}
}

// rebuild makes the turns anew, keeping those that are as they were.
func (c *Chat) rebuild() {
	anchor, off := c.anchor()
	old := c.turns
	c.turns = nil
	for _, t := range c.state.Turns {
		c.turns = append(c.turns, c.newTurn(t, old, true))
	}
	if t := c.state.ActiveTurn; t != nil {
		if i := slices.IndexFunc(old, func(v *turnView) bool { return v.id == t.ID && v.active() }); i >= 0 {
			c.turns = append(c.turns, old[i])
		} else {
			c.turns = append(c.turns, c.newTurn(*t, nil, false))
		}
	}
	c.stale, c.starts, c.focus = 0, nil, stop{}
	c.layout()
	c.restore(anchor, off)
}

// Working reports whether a turn runs, and since when; the time is zero where it
// is not known.
func (c *Chat) Working() (since time.Time, yes bool) {
	t := c.state.ActiveTurn
	if t == nil {
		return since, false
	}
	at, err := time.Parse(time.RFC3339, string(t.StartedAt))
	if err != nil {
		return time.Time{}, true
	}
	return at, true
}

// Waiting is the first tool call of the turn that waits for confirmation, nil for
// none.
func (c *Chat) Waiting() *ahp.ToolCall {
	if c.state.ActiveTurn == nil {
		return nil
	}
	for _, p := range c.state.ActiveTurn.ResponseParts {
		if p.ToolCall != nil && (p.ToolCall.Status == ahp.ToolPending || p.ToolCall.Status == ahp.ToolPendingResult) {
			return p.ToolCall
		}
	}
	return nil
}

// request is the first open input request, nil for none.
func (c *Chat) request() *ahp.InputRequest {
	if c.state.ActiveTurn != nil {
		for _, p := range c.state.ActiveTurn.ResponseParts {
			if p.Kind == ahp.PartInputRequest && p.Response == "" && p.Request != nil {
				return p.Request
			}
		}
	}
	for i := range c.state.InputRequests {
		return &c.state.InputRequests[i]
	}
	return nil
}

// Usage is what the turn that runs, or else the last one, took.
func (c *Chat) Usage() *ahp.Usage {
	if t := c.state.ActiveTurn; t != nil && t.Usage != nil {
		return t.Usage
	}
	for i := len(c.state.Turns) - 1; i >= 0; i-- {
		if u := c.state.Turns[i].Usage; u != nil {
			return u
		}
	}
	return nil
}

// usageMeta is tandemux's addition to a turn's usage.
type usageMeta struct {
	ContextUsed int64   `json:"tandemux/contextUsed"`
	ContextSize int64   `json:"tandemux/contextSize"`
	Cost        float64 `json:"tandemux/cost"`
	Currency    string  `json:"tandemux/currency"`
}

func usageMetaOf(u *ahp.Usage) (m usageMeta) {
	if u != nil {
		json.Unmarshal(u.Meta, &m) //nolint:errcheck // then there is none
	}
	return m
}

// dress takes a look; another one is drawn in, another set of glyphs laid out
// anew.
func (c *Chat) dress(l *look.Look) {
	ascii := l.Ellipsis == look.ASCII.Ellipsis
	if !c.known || ascii != c.ascii {
		c.glyphs, c.ascii = markup.GlyphsOf(l), ascii
		g := c.glyphs
		c.r.g = &g
		for _, v := range c.turns {
			v.from = 0
			for _, it := range v.items {
				it.dirty = true
			}
		}
		c.stale = 0
	}
	c.palette, c.known = markup.PaletteOf(l), true
}
