package chat

import (
	"time"

	"tandemux/ahp"
	"tandemux/ui/transcript"
)

// Actions is what a chat has others do. No field may be nil.
type Actions struct {
	// Dispatch sends an action to the chat's channel. It returns false if that was not possible.
	Dispatch func(a ahp.Action) bool
	// Configure sets an option of the session.
	Configure func(id string, value any)
	// Complete asks for completions at an offset in UTF-16 units. Chat.Offer takes the answer.
	Complete func(text string, offset int)
	// Copy copies text to the clipboard. what describes it.
	Copy func(text, what string)
	// Open shows a terminal in a pane. Link opens an address.
	Open, Link func(uri string)
	// Edit has a text edited in an editor. done gets the result.
	Edit func(text string, done func(string))
	// Choose lets the person choose a row; at is the preselected one.
	Choose func(title string, rows []string, at int, accept func(int))
	// Say shows a message.
	Say func(warn bool, text string)
	// Fork makes a chat with this one's turns up to the given one.
	Fork func(turn string)
	// More fetches older turns.
	More func()
	// Login logs in to the agent in one of its ways.
	Login func(way ahp.AgentAuth)
	// Search asks for a text and searches for it.
	Search func(back bool)
	// Keys returns the keys of a command as text, "" for none.
	Keys func(command string) string
	// Screen returns a terminal's screen, nil while it is not available.
	Screen func(uri ahp.URI) transcript.Screen
	// NewID makes a unique id.
	NewID func(kind string) string
}

// Screen is the screen of a terminal.
type Screen = transcript.Screen

// Session is what a chat shows of its session.
type Session struct {
	Title     string
	Agent     string // the agent's name for people
	Lifecycle string
	Error     *ahp.ErrorInfo // why it failed to start
	Options   []ahp.AgentOption
	Values    map[string]any
	Commands  []ahp.AgentCommand
	Plan      []ahp.AgentPlanEntry
	Fork      bool // the chat can be forked
	Steer     bool // the agent takes messages during its turn
	Roots     []string
}

// focus is the part of a chat that gets the keys.
type focus uint8

const (
	inPrompt focus = iota
	inPanel        // a question or form
	inReading
)

// Chat is a conversation and its view.
type Chat struct {
	URI ahp.URI
	do  Actions

	state   ahp.ChatState // texts of the active turn are only as at its start
	session Session
	ready   bool  // the state has arrived
	gone    error // why the chat can't be shown, nil if it can

	*transcript.View
	where focus
	view  placed

	prompt
	planned bool // the plan shows all steps
	ask     asking
	form    form
	now     time.Time // as last passed in
	escaped time.Time // when escape was last pressed, if it may cancel the turn
	dirty   bool
	due     time.Duration // time until what was drawn changes by itself, 0 for never
}

// New makes a chat whose state has not arrived.
func New(uri ahp.URI, do Actions) *Chat {
	return &Chat{URI: uri, do: do, View: transcript.New(do.Screen), prompt: prompt{lookUp: do.Complete}, dirty: true}
}

// Ready reports whether the chat's state has arrived.
func (c *Chat) Ready() bool { return c.ready }

// Fail sets why the chat can't be shown.
func (c *Chat) Fail(err error) { c.gone, c.dirty = err, true }

// Err returns why the chat can't be shown, nil if it can.
func (c *Chat) Err() error { return c.gone }

// State returns the chat's state. The texts of a running turn are not up to date in it.
func (c *Chat) State() *ahp.ChatState { return &c.state }

// SetSession sets what the chat shows of its session.
func (c *Chat) SetSession(s Session) {
	c.session, c.dirty = s, true
	c.SetRoots(s.Roots)
}

// Session returns what SetSession set.
func (c *Chat) Session() Session { return c.session }

// Reset replaces the chat's state.
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

// Apply applies an action to the chat. now is when it arrived.
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

// Working reports whether a turn runs, and since when; since is zero if unknown.
func (c *Chat) Working() (since time.Time, yes bool) {
	t := c.state.ActiveTurn
	if t == nil {
		return since, false
	}
	since, _ = time.Parse(time.RFC3339, string(t.StartedAt)) //nolint:errcheck // then it is zero
	return since, true
}

// Waiting returns the first tool call of the turn that waits for confirmation, nil for none.
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

// request returns the first open input request, nil for none.
func (c *Chat) request() *ahp.InputRequest {
	if open := c.state.OpenRequests(); len(open) > 0 {
		return &open[0]
	}
	return nil
}

// Usage returns the usage of the running turn, or else of the last one that has any.
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
