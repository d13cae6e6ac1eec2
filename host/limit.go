package host

import (
	"reflect"
	"time"

	"tandemux/host/agent"
)

// Limits bounds what clients can ask for. Zero members mean the defaults.
type Limits struct {
	Connections   int // open at once, upgraded ones
	Requests      int // to doors with a prefix, at once
	Terminals     int // existing at once, exited ones included
	Subscriptions int // per connection
	Layouts       int // channels
	Clients       int // clientIds remembered for reconnect
	FrameBytes    int // one message from a client
	QueueBytes    int // waiting for one connection before it is closed; see ReplyBytes
	LagBytes      int // of that, what it did not ask for; all of it if only QueueBytes is set
	ReplayBytes   int // of output in one channel's replay log
	ReplayCount   int // actions in one channel's replay log
	// ReplyBytes bounds the snapshots or replayed actions in one reply. Such
	// requests wait until the connection's queue is half empty, so half of
	// QueueBytes must be more than a reply: a client that asks for much is not
	// closed for being slow because of what it asked for.
	ReplyBytes int
	// JournalBytes bounds each of the two halves of a terminal's journal. Memory is
	// used for what is in it: all history and the screen, and output until those are
	// written again.
	JournalBytes int

	// What one connection may ask for in a second, and at once after a pause.
	RequestRate, RequestBurst   int
	DispatchRate, DispatchBurst int

	// HoldBytes may wait for the claim holder's own connection before its
	// terminal's pty is no longer read, and StallTime is how long that
	// connection may then take nothing before it is closed.
	HoldBytes int
	StallTime time.Duration

	// Sessions is how many exist at once, TurnBytes how much an agent says in one
	// turn. AgentStart is how long an agent may take to be ready, AgentGrace to end
	// what it was told to, AgentSilence to say something while no tool call runs;
	// ToolTime how long a client may take over a tool call, ClientGrace how long it
	// may be away before it takes part no more.
	Sessions, TurnBytes                                         int
	AgentStart, AgentGrace, AgentSilence, ToolTime, ClientGrace time.Duration

	// HeaderTime is how long an HTTP request's header may take, with the TLS
	// handshake before it, and how long a connection may be idle before it is
	// upgraded.
	HeaderTime time.Duration
}

// DefaultLimits are the limits of a zero Limits.
var DefaultLimits = Limits{
	Connections:   512,
	Requests:      4096,
	Terminals:     1000,
	Subscriptions: 2000,
	Layouts:       256,
	Clients:       10000,
	FrameBytes:    8 << 20,
	QueueBytes:    24 << 20,
	LagBytes:      8 << 20,
	ReplayBytes:   1 << 20,
	ReplayCount:   4096,
	ReplyBytes:    8 << 20,
	JournalBytes:  512 << 20,
	RequestRate:   500,
	RequestBurst:  5000,
	DispatchRate:  5000,
	DispatchBurst: 20000,
	HoldBytes:     128 << 10,
	StallTime:     5 * time.Second,
	HeaderTime:    5 * time.Second,
	Sessions:      200,
	TurnBytes:     8 << 20,
	AgentStart:    agent.DefaultStart + 10*time.Second,
	AgentGrace:    20 * time.Second,
	AgentSilence:  30 * time.Minute,
	ToolTime:      10 * time.Minute,
	ClientGrace:   30 * time.Second,
}

// withDefaults is l with the defaults in place of what is zero.
func (l Limits) withDefaults() Limits {
	if l.LagBytes <= 0 {
		l.LagBytes = l.QueueBytes
	}
	have, want := reflect.ValueOf(&l).Elem(), reflect.ValueOf(DefaultLimits)
	for i := range have.NumField() {
		if f := have.Field(i); f.Int() <= 0 { // all are numbers
			f.Set(want.Field(i))
		}
	}
	return l
}
