package host

import (
	"reflect"
	"time"

	"tandemux/host/agent"
	"tandemux/host/files"
	"tandemux/host/requests"
	"tandemux/host/resources"
	"tandemux/host/sessions"
	"tandemux/host/terminals"
)

// Limits bounds what clients can ask for. Zero members mean the defaults.
type Limits struct {
	Connections int // open at once, upgraded ones
	Requests    int // to doors with a prefix, at once
	Layouts     int // channels
	Clients     int // clientIds remembered for reconnect
	FrameBytes  int // one message from a client
	ReplayBytes int // of output in one channel's replay log
	ReplayCount int // actions in one channel's replay log
	ReplayAll   int // of output in all replay logs
	// HeaderTime is how long an HTTP request's header may take, with the TLS
	// handshake before it.
	HeaderTime time.Duration

	requestLimits
	terminalLimits
	sessionLimits
	resourceLimits
}

// Those of the parts, with names to embed them by.
type (
	requestLimits  = requests.Limits
	terminalLimits = terminals.Limits
	sessionLimits  = sessions.Limits
	resourceLimits = resources.Limits
)

// DefaultLimits are the limits of a zero Limits.
var DefaultLimits = Limits{
	Connections: 512,
	Requests:    4096,
	Layouts:     256,
	Clients:     10000,
	FrameBytes:  8 << 20,
	ReplayBytes: 1 << 20,
	ReplayCount: 4096,
	ReplayAll:   4 << 20,
	HeaderTime:  5 * time.Second,
	requestLimits: requests.Limits{
		Subscriptions: 2000,
		QueueBytes:    24 << 20,
		LagBytes:      8 << 20,
		ReplyBytes:    8 << 20,
		RequestRate:   500,
		RequestBurst:  5000,
		DispatchRate:  5000,
		DispatchBurst: 20000,
	},
	terminalLimits: terminals.Limits{
		Terminals:    1000,
		JournalBytes: 512 << 20,
		HoldBytes:    128 << 10,
		StallTime:    5 * time.Second,
	},
	sessionLimits: sessions.Limits{
		Sessions:     200,
		TurnBytes:    8 << 20,
		AgentStart:   agent.DefaultStart + 10*time.Second,
		AgentGrace:   20 * time.Second,
		AgentSilence: 30 * time.Minute,
		ToolTime:     10 * time.Minute,
		ClientGrace:  30 * time.Second,
	},
	resourceLimits: resources.Limits{
		Watches:    32,
		WatchesAll: 64, // Linux gives a user 128 by default
		Limits: files.Limits{
			TreeEntries:    20000,
			WatchEntries:   200000,
			WatchedDirs:    8192,
			WatchedDirsAll: 32768, // and 65,536 or more of these
		},
	},
}

// withDefaults completes limits; the queue's bounds what of it nobody asked for, too.
func (l Limits) withDefaults() Limits {
	if l.LagBytes <= 0 {
		l.LagBytes = l.QueueBytes
	}
	complete(reflect.ValueOf(&l).Elem(), reflect.ValueOf(DefaultLimits))
	return l
}

// complete gives the numbers of a struct that are not above 0 other ones.
func complete(have, want reflect.Value) {
	for i := range have.NumField() {
		switch f := have.Field(i); {
		case f.Kind() == reflect.Struct:
			complete(f, want.Field(i))
		case f.Int() <= 0:
			f.Set(want.Field(i))
		}
	}
}
