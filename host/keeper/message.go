package keeper

import "os"

// request is a host's message to the keeper. Op is a row of the keeper's table;
// members that an op does not use stay out.
type request struct {
	Seq uint64 `json:"seq"`
	Op  string `json:"op"`

	Min    int    `json:"min,omitempty"`    // hello: oldest version spoken
	Max    int    `json:"max,omitempty"`    // hello: newest version spoken
	Spec   *Spec  `json:"spec,omitempty"`   // spawn
	ID     string `json:"id,omitempty"`     // adopt, signal, forget, drop
	Signal int    `json:"signal,omitempty"` // signal
	Name   string `json:"name,omitempty"`   // store, fetch, discard
	File   bool   `json:"file,omitempty"`   // store, spawn since version 3: a descriptor comes with it
}

// message is the keeper's message to a host: the answer to request Seq, or an event. With File set
// a descriptor comes with it.
type message struct {
	Seq   uint64 `json:"seq,omitempty"`
	Error *fault `json:"error,omitempty"`

	Version int    `json:"version,omitempty"` // hello
	Pid     int    `json:"pid,omitempty"`     // hello: the keeper's; spawn, adopt: the child's
	File    bool   `json:"file,omitempty"`    // spawn, adopt, fetch
	fd      int    // the keeper's descriptor of that file, closed once it is sent
	List    []Info `json:"list,omitempty"` // list; hello, when refused: the running children

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

// The ops. drop ends a child whose spawn was given up, and forgets it without a report.
const (
	opHello    = "hello"
	opSpawn    = "spawn"
	opList     = "list"
	opAdopt    = "adopt"
	opSignal   = "signal"
	opForget   = "forget"
	opDrop     = "drop"
	opShutdown = "shutdown"

	opStore   = "store"
	opFetch   = "fetch"
	opFiles   = "files"
	opDiscard = "discard"
)

// Versions of the protocol that this package speaks, on both sides. A keeper lives for
// weeks while hosts come and go, so a host speaks what the keepers of all earlier releases
// spoke. Version 1 was never released under this name; 3 adds Spec.Stdin.
const (
	MinVersion      = 2
	ProtocolVersion = 3
)

// MaxNote bounds a child's note in bytes.
const MaxNote = 8 << 10

// maxName bounds the name of a child or of a stored file in bytes; a terminal's
// URI has up to 1024.
const maxName = 1100

type Spec struct {
	// ID names the child. The host chooses it: not empty, at most 256 bytes, not in use.
	ID string `json:"id"`
	// Argv is the command and its arguments, which no shell interprets. A name without a
	// slash is looked up in the PATH of Env.
	Argv []string `json:"argv"`
	// Env is the whole environment, each as "K=V". The child inherits nothing from the
	// keeper.
	Env []string `json:"env"`
	// Dir is the working directory, absolute.
	Dir string `json:"dir"`
	// Cols and Rows are set before the child starts; 1..65535.
	Cols int `json:"cols"`
	Rows int `json:"rows"`
	// Note is what a later host needs to make a terminal of this child without a journal.
	// It is opaque, at most MaxNote bytes, and returned by List.
	Note []byte `json:"note,omitempty"`
	// Stdin is the child's standard input in place of its terminal, unless it is
	// nil: for a keeper that TakesStdin. It stays the caller's.
	Stdin *os.File `json:"-"`
}

// Exit says how a child ended.
type Exit struct {
	ID string `json:"id"`
	// Code is the exit status, 0..255; 128+n when signal n ended the child.
	Code int `json:"code"`
	// Signal is the signal that ended the child, such as "SIGKILL"; empty when it exited by
	// itself.
	Signal string `json:"signal,omitempty"`
	// Unknown says that it is not known how the child ended: Code and Signal mean nothing.
	Unknown bool `json:"unknown,omitempty"`
}

type Info struct {
	ID      string   `json:"id"`
	Pid     int      `json:"pid"`
	Argv    []string `json:"argv"`
	Dir     string   `json:"dir"`     // as started
	Started int64    `json:"started"` // Unix milliseconds
	Exit    *Exit    `json:"exit,omitempty"`
	Note    []byte   `json:"note,omitempty"` // Spec's
}

type FileInfo struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // bytes, as stored; only written pages use memory
}
