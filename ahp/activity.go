package ahp

import "maps"

// ActivityURI is the channel that tells what needs a person's attention in any terminal. It
// always exists. Bound tokens have no access to it.
const ActivityURI URI = "x-tandemux-activity:/"

// ActivityState is the state of ActivityURI.
type ActivityState struct {
	// Terminals has a row for each terminal that has something to tell.
	Terminals Object[Attention] `json:"terminals"`
	// Layouts counts the connections that are subscribed to each layout, where any is.
	Layouts Object[int] `json:"layouts"`
	// Refusals are what agents were not allowed lately, oldest first; at most
	// MaxRefusals.
	Refusals []AgentRefusal `json:"refusals,omitempty"`
	// Warning says what the owner has to see to, only to who operates the host; "" when all
	// is well. It has no control characters and at most MaxNote bytes.
	Warning string `json:"warning,omitempty"`
}

// MaxRefusals bounds ActivityState.Refusals.
const MaxRefusals = 16

// AgentRefusal is something that an agent was not allowed to do. The texts have no
// control characters and at most MaxNote bytes.
type AgentRefusal struct {
	At    int64 `json:"at"`    // when last, Unix ms
	Count int   `json:"count"` // how often, in a row of the same
	// Agent is what people call it, Session where it works.
	Agent    string `json:"agent"`
	Session  URI    `json:"session,omitempty"`
	Terminal URI    `json:"terminal,omitempty"` // that it was about; may not exist
	What     string `json:"what"`               // a command, a file, or a request
	Why      string `json:"why"`
}

// Attention is what a terminal has to tell a person. Times are Unix milliseconds of the
// host's clock, 0 for never.
type Attention struct {
	// Output is the time of the newest output that followed a silence and was not a
	// response to typing.
	Output int64 `json:"output,omitempty"`
	// Bell is the time of the last bell.
	Bell int64 `json:"bell,omitempty"`
	// Note is the newest notification (OSC 9, 99, 777).
	Note *Note `json:"note,omitempty"`
	// Status is what the program reports about itself (OSC 7501, OSC 9;4).
	Status *ProgramStatus `json:"status,omitempty"`
	// Seen is the time when a person last looked at the terminal.
	Seen int64 `json:"seen,omitempty"`
}

// Note is a program's notification. Its texts have no control characters and at most MaxNote
// bytes.
type Note struct {
	At    int64  `json:"at"`
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
}

// MaxNote bounds each text of a Note or a ProgramStatus, in bytes.
const MaxNote = 1024

// ProgramStatus is the record of a terminal's programs that matters most
// (Program Status Protocol, OSC 7501, revision 0.4).
type ProgramStatus struct {
	State string `json:"state"`          // one of the constants below
	Kind  string `json:"kind,omitempty"` // of StatusBlocked: "permission", "question" or "auth"
	App   string `json:"app,omitempty"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
	// Progress is in percent; nil if the amount of work is not known.
	Progress *int `json:"progress,omitempty"`
	// At is when the state began. Changes of progress or texts do not change it.
	At int64 `json:"at"`
}

// The values of ProgramStatus.State.
const (
	StatusIdle    = "idle"
	StatusWorking = "working"
	StatusBlocked = "blocked"
	StatusDone    = "done"
	StatusError   = "error"
)

// Actions of ActivityURI.
type (
	// AttentionChanged replaces a terminal's row; nil takes it out. Host only.
	AttentionChanged struct {
		Terminal  URI        `json:"terminal"`
		Attention *Attention `json:"attention"`
	}
	// TerminalSeen says that a person looks at a terminal. The host fills in At.
	TerminalSeen struct {
		Terminal URI   `json:"terminal"`
		At       int64 `json:"at,omitempty"`
	}
	// AgentsRefused replaces the list of refusals. Host only.
	AgentsRefused struct {
		Refusals List[AgentRefusal] `json:"refusals"`
	}
	// HostWarned replaces the warning. Host only.
	HostWarned struct {
		Warning string `json:"warning"`
	}
	// LayoutWatched replaces a layout's number of connections. Host only.
	LayoutWatched struct {
		Layout  URI `json:"layout"`
		Clients int `json:"clients"`
	}
)

func (AttentionChanged) ActionType() string { return "x-tandemux/attentionChanged" }
func (TerminalSeen) ActionType() string     { return "x-tandemux/terminalSeen" }
func (AgentsRefused) ActionType() string    { return "x-tandemux/agentsRefused" }
func (HostWarned) ActionType() string       { return "x-tandemux/hostWarned" }
func (LayoutWatched) ActionType() string    { return "x-tandemux/layoutWatched" }

// ReduceActivity returns the activity channel's state after a. It copies the map that
// changes.
func ReduceActivity(s ActivityState, a Action) ActivityState {
	switch a := a.(type) {
	case AttentionChanged:
		s.Terminals = with(s.Terminals, a.Terminal, a.Attention)
	case TerminalSeen:
		row := s.Terminals[a.Terminal]
		row.Seen = a.At
		s.Terminals = with(s.Terminals, a.Terminal, &row)
	case AgentsRefused:
		s.Refusals = append([]AgentRefusal(nil), a.Refusals...)
	case HostWarned:
		s.Warning = a.Warning
	case LayoutWatched:
		n := &a.Clients
		if *n == 0 {
			n = nil
		}
		s.Layouts = with(s.Layouts, a.Layout, n)
	}
	return s
}

// with returns a copy of m in which k has the value *v, or without k if v is nil.
func with[V any](m map[URI]V, k URI, v *V) map[URI]V {
	next := make(map[URI]V, len(m)+1)
	maps.Copy(next, m)
	if delete(next, k); v != nil {
		next[k] = *v
	}
	return next
}
