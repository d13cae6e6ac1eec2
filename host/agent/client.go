package agent

import (
	"context"
	"encoding/json"

	"tandemux/ahp"
)

// ClientTools are tools that clients of the session carry out, which the host
// supplies by Spec.Clients. They come and go with the clients.
type ClientTools interface {
	// List gives those that there are now.
	List() []ahp.ToolDefinition
	// Call has one carried out in the turn that runs and waits for the result. The
	// call's id is the agent's own, unique in the session; the host tells of the
	// call, so that Sink.Tool must not. An error means that there is no such tool or
	// that the turn has ended; what the client failed at is a result.
	Call(ctx context.Context, id, name string, input json.RawMessage) (ahp.ToolResult, error)
}

// Asker is implemented by the host's Sinks: it asks a person questions and waits
// for the answer. Ctx ends with the turn.
type Asker interface {
	Ask(ctx context.Context, r ahp.InputRequest) (ahp.ChatInputCompleted, error)
}

// Steerer is implemented by Sessions that can be given a message while a turn
// runs, from about the time of Prompt's call on; an error makes it wait. Without
// it, or where it is not so, such a message waits and begins the next turn.
type Steerer interface {
	// Steers reports whether the agent takes any. It answers at once.
	Steers() bool
	Steer(ctx context.Context, t Turn) error
}
