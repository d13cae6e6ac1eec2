package chat

import (
	"time"

	"tandemux/ahp"
	"tandemux/ui/transcript"
)

// Actions are what a chat has done for it. None may be nil.
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
	Screen func(uri ahp.URI) transcript.Screen
	// NewID makes an id that nothing has.
	NewID func(kind string) string
}

// Screen is a terminal as this client sees it.
type Screen = transcript.Screen

// Session is what of its session concerns a chat.
type Session struct {
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

	*transcript.View
	where focus
	view  placed

	prompt
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
	return &Chat{URI: uri, do: do, View: transcript.New(do.Screen), prompt: prompt{lookUp: do.Complete}, dirty: true}
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
	c.SetRoots(s.Roots)
}

// Session is what SetSession was given.
func (c *Chat) Session() Session { return c.session }

// Reset takes the chat's whole state.
func (c *Chat) Reset(s ahp.ChatState) {
	first := !c.ready
	c.state, c.ready, c.gone, c.dirty = s, true, nil, true
	c.View.Reset(&c.state)
	c.history.texts = c.history.texts[:0]
	for _, t := range s.Turns {
		c.history.add(t.Message)
	}
	if s.ActiveTurn != nil {
		c.history.add(s.ActiveTurn.Message)
	}
	if first || !c.changed {
		c.takeDraft(s.Draft)
	}
	c.consider()
}

// Apply takes an action of the chat. now is when it came.
func (c *Chat) Apply(a ahp.Action, now time.Time) {
	c.dirty = true
	switch a := a.(type) {
	case ahp.ChatDelta:
		c.Grow(a.TurnID, a.PartID, false, a.Content)
		return
	case ahp.ChatReasoning:
		c.Grow(a.TurnID, a.PartID, true, a.Content)
		return
	case ahp.ChatUsage:
		c.state = ahp.ReduceChat(c.state, a)
		return
	case ahp.ChatDraftChanged:
		c.state = ahp.ReduceChat(c.state, a)
		if !c.changed {
			c.takeDraft(a.Draft)
		}
		return
	case ahp.ChatToolCallConfirmed:
		c.answered(a)
	}
	c.state = ahp.ReduceChat(c.state, a)
	switch a.(type) {
	case ahp.ChatTurnsLoaded, ahp.ChatTruncated, ahp.ChatTurnResume:
		c.Rebuild(&c.state)
	default:
		if c.Sync(&c.state, now) {
			c.history.add(c.state.ActiveTurn.Message)
		}
	}
	c.consider()
}

// Working reports whether a turn runs, and since when; the time is zero where it
// is not known.
func (c *Chat) Working() (since time.Time, yes bool) {
	t := c.state.ActiveTurn
	if t == nil {
		return since, false
	}
	since, _ = time.Parse(time.RFC3339, string(t.StartedAt)) //nolint:errcheck // then it is zero
	return since, true
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
	if open := c.state.OpenRequests(); len(open) > 0 {
		return &open[0]
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
