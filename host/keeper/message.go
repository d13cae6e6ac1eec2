package keeper

// request is a host's message to the keeper. Op is a row of the keeper's table;
// members that an op does not use stay out.
type request struct {
	Seq uint64 `json:"seq"`
	Op  string `json:"op"`

	Min    int    `json:"min,omitempty"`    // hello: oldest version spoken
	Max    int    `json:"max,omitempty"`    // hello: newest version spoken
	Spec   *Spec  `json:"spec,omitempty"`   // spawn
	ID     string `json:"id,omitempty"`     // adopt, signal, forget, drop, annotate
	Signal int    `json:"signal,omitempty"` // signal
	Note   []byte `json:"note,omitempty"`   // annotate
	Name   string `json:"name,omitempty"`   // store, fetch, discard
	File   bool   `json:"file,omitempty"`   // store: a descriptor comes with it
}

// message is the keeper's to a host: the answer to request Seq, or an event.
// An answer with File set has a descriptor with it.
type message struct {
	Seq   uint64 `json:"seq,omitempty"`
	Error *fault `json:"error,omitempty"`

	Version int    `json:"version,omitempty"` // hello
	Pid     int    `json:"pid,omitempty"`     // hello: the keeper's; spawn, adopt: the child's
	File    bool   `json:"file,omitempty"`    // spawn, adopt, fetch
	fd      int    // the keeper's copy of that file, closed once it is sent
	List    []Info `json:"list,omitempty"`    // list; hello, when refused: who runs
	Counted bool   `json:"counted,omitempty"` // hello, when refused: List is all that run

	Min int `json:"min,omitempty"` // hello: oldest version the keeper speaks, also when refused
	Max int `json:"max,omitempty"` // hello: newest

	Files []FileInfo `json:"files,omitempty"` // files

	Event string `json:"event,omitempty"` // eventExit, eventSuperseded
	Exit  *Exit  `json:"exit,omitempty"`  // eventExit
}

const (
	eventExit       = "exit"
	eventSuperseded = "superseded"
)

// The ops. drop ends a child that nobody wants (its spawn was given up) and
// forgets it without a report.
const (
	opHello    = "hello"
	opSpawn    = "spawn"
	opList     = "list"
	opAdopt    = "adopt"
	opSignal   = "signal"
	opForget   = "forget"
	opDrop     = "drop"
	opShutdown = "shutdown"

	opAnnotate = "annotate"
	opStore    = "store"
	opFetch    = "fetch"
	opFiles    = "files"
	opDiscard  = "discard"
)
