package agent

import "errors"

// ErrDetached says that a person has taken a terminal from an agent, or sent it
// to the background: the command runs on, and the agent should too.
var ErrDetached = errors.New("terminal detached from its agent")

// Detached is what an agent reads of that, at the end of the output.
const Detached = "A person has taken this terminal over, or sent it to the background. The command runs on; go on without waiting for it."

// Kinds of Error, as AHP's ErrorInfo.errorType.
const (
	KindAuthRequired = "authRequired" // Auth lists the ways
	KindNotFound     = "agentNotFound"
	KindStart        = "agentStart"    // it did not start, or not in time
	KindCrashed      = "agentCrashed"  // its process ended
	KindProtocol     = "agentProtocol" // it said what can't be understood, or too much
	KindTimeout      = "agentTimeout"  // it did not do what it must in time
	KindAgent        = "agentError"    // it answered with an error of its own
	KindClosed       = "sessionClosed"
)

// Error is why a session could not be opened or a turn failed.
type Error struct {
	Kind string
	// Message says what was being done, what was wrong and what to do.
	Message string
	Auth    []AuthMethod // of KindAuthRequired
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Refusal is an error of Terminals and Files that is the agent's own doing: its
// text says what it may not do.
type Refusal struct{ Text string }

// Error is the text.
func (r *Refusal) Error() string { return r.Text }
