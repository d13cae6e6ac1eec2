package hooks

import (
	"tandemux/ahp"
)

// The kinds of events.
const (
	Command   = "command"   // a command in a terminal has ended
	Exit      = "exit"      // a terminal's process has ended
	Claim     = "claim"     // somebody else holds a terminal
	Bell      = "bell"      // a terminal's bell rang
	Attention = "attention" // a program notifies, or says that it is blocked, done or failed
	Output    = "output"    // output came after ten silent seconds
	Attach    = "attach"    // an interface shows a layout
	Detach    = "detach"    // it does no more
	Layout    = "layout"    // panes or tabs have changed
	Question  = "question"  // an agent waits for an answer
	Turn      = "turn"      // an agent's turn has ended
)

// Kinds are those of events, as a hook's `on` has them.
var Kinds = []string{Command, Exit, Claim, Bell, Attention, Output, Attach, Detach, Layout, Question, Turn}

// The values of Event.Outcome.
const (
	Done      = "done"
	Cancelled = "cancelled"
	Failed    = "failed"
	Budget    = "budget" // it was stopped: a limit of what its task may use was reached
)

// Event is what a hook gets, as JSON. What doesn't belong to its kind is left out.
type Event struct {
	Event    string         `json:"event"` // one of Kinds
	At       ahp.Instant    `json:"at"`
	Terminal *Terminal      `json:"terminal,omitempty"`
	Command  *Ran           `json:"command,omitempty"`
	Exit     *ahp.Lifecycle `json:"exit,omitempty"`
	Note     *Note          `json:"note,omitempty"`    // a notification
	Status   *Status        `json:"status,omitempty"`  // what a program says of itself
	Layout   string         `json:"layout,omitempty"`  // its name
	Clients  *int           `json:"clients,omitempty"` // that show the layout now
	Session  *Session       `json:"session,omitempty"`
	Question string         `json:"question,omitempty"` // what the agent wants to do, or to know
	Outcome  string         `json:"outcome,omitempty"`  // of a turn
	Error    string         `json:"error,omitempty"`    // of a turn that failed, or was stopped by its budget
	// Dropped is how many events before this one the hook was too slow for.
	Dropped int `json:"dropped,omitempty"`
}

// Terminal is the one that an event is about.
type Terminal struct {
	ID    string    `json:"id"`
	Name  string    `json:"name,omitempty"`
	Title string    `json:"title"`
	Cwd   string    `json:"cwd,omitempty"`
	Pid   int       `json:"pid,omitempty"`
	Claim ahp.Claim `json:"claim"`
}

// Ran is a command that has ended.
type Ran struct {
	ID         string      `json:"commandId"`
	Line       string      `json:"commandLine"` // cut to 256 bytes
	Cwd        string      `json:"cwd,omitempty"`
	Timestamp  ahp.Instant `json:"timestamp"`          // when it began
	ExitCode   *int        `json:"exitCode,omitempty"` // absent when it is not known
	DurationMs *int64      `json:"durationMs,omitempty"`
}

type Note struct {
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
}

// Status is what a program says of itself, as ahp.ProgramStatus has it.
type Status struct {
	State string `json:"state"` // blocked, done or error
	Kind  string `json:"kind,omitempty"`
	App   string `json:"app,omitempty"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Session is the agent's that an event is about.
type Session struct {
	ID    string `json:"id"`
	Chat  string `json:"chat"` // its id
	Title string `json:"title"`
	Agent string `json:"agent"`
	// Task is the id of the task that the session is of.
	Task string `json:"task,omitempty"`
}
