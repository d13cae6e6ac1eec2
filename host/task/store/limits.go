package store

// Bounds of what is kept. Sizes are in bytes.
const (
	MaxParams  = 256 << 10 // of a task, and its workspace, as JSON
	MaxContent = 1 << 20   // of an event or a message, as JSON
	MaxState   = 1 << 20   // as JSON
	MaxValue   = 64 << 10  // of a variable
	MaxSource  = 256 << 10 // of a definition, as JSON
	MaxLogText = 16 << 10  // of a line of log; longer ones are cut
	MaxReply   = 256 << 10 // of an answer that is to be replayed
	MaxPart    = 1 << 20   // of an event of a stream, as JSON

	MaxVariables = 200    // of an environment
	MaxKeys      = 1000   // API keys that are not revoked
	MaxStream    = 20_000 // events of a task's stream; the oldest go
	MaxStreamRaw = 32 << 20
	MaxLogs      = 50_000 // lines of an agent; the oldest go
	MaxPending   = 1000   // events of a task that wait
	MaxPage      = 1000   // rows of a page
)

// bounds are those of a store that tests make smaller.
type bounds struct{ stream, streamRaw, logs, pending int64 }

var usualBounds = bounds{stream: MaxStream, streamRaw: MaxStreamRaw, logs: MaxLogs, pending: MaxPending}
