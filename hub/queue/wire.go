package queue

import (
	"encoding/json"
	"time"

	"tandemux/host/workspace/travel"
	"tandemux/hub/lease"
	"tandemux/hub/server"
)

// Spec is what was asked for, as stored in a task's record.
type Spec struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Person  string    `json:"person"`
	Project string    `json:"project,omitempty"`
	Where   []string  `json:"where,omitempty"`
	Agent   string    `json:"agent,omitempty"` // its name; empty for a command
	Created time.Time `json:"created"`
	// New is the body of the request with which a host makes the task.
	New json.RawMessage `json:"new"`
	// Files describes the files with which its workspace begins, nil if none travel.
	Files *travel.Load `json:"files,omitempty"`
}

// Note is what a host says about a task that it has, as stored in the record.
type Note struct {
	// Local is the task's name on the host. Last is the last part of its stream there that the hub was
	// told.
	Local string `json:"local"`
	Last  int64  `json:"last,omitempty"`
	// Present is the task's state on the host.
	Present json.RawMessage `json:"present,omitempty"`
	// Result describes what the task made of its files, and Kept is the lease that stored it.
	Result *travel.Load `json:"result,omitempty"`
	Kept   uint64       `json:"kept,omitempty"`
	// Unkept says why the result of the last turn is not stored.
	Unkept string `json:"unkept,omitempty"`
}

// Beat is what a host sends every few seconds.
type Beat struct {
	Room   int          `json:"room"` // how many more tasks it would take now
	Labels []string     `json:"labels,omitempty"`
	Agents []string     `json:"agents,omitempty"`
	Has    []lease.Held `json:"has,omitempty"`
	// Local names tasks on the host of which it does not know whether they are over.
	Local []string `json:"local,omitempty"`
}

// Leases is the answer to a Beat.
type Leases struct {
	Terms lease.Terms `json:"terms"`
	// Yours are the host's leases; Over are those that it named but no longer has.
	Yours map[string]lease.Record `json:"yours,omitempty"`
	Over  []lease.Held            `json:"over,omitempty"`
	// Gone are the local tasks that are over, Rest those that have nothing to do.
	Gone []string `json:"gone,omitempty"`
	Rest []string `json:"rest,omitempty"`
}

// Ask is a change of a record for which a host asks.
type Ask struct {
	ID string   `json:"id"`
	Op lease.Op `json:"op"`
}

// Parts are some parts of a task. First is the first one's number in the host's own stream.
type Parts struct {
	lease.Held
	First int64             `json:"first"`
	Parts []json.RawMessage `json:"parts,omitempty"`
}

// Wanted names an event that a host is to send to a task whose lease it has.
type Wanted struct {
	lease.Held
	Event string `json:"event"`
}

// Piece names a piece of a file: a host asks for one of a task's files, the hub for one of a
// result that the host offers. At is 0 for the first, else the place that the piece before
// gave: the hub counts in messages of its store (Reply.Next), a host in bytes.
type Piece struct {
	lease.Held
	At uint64 `json:"at,omitempty"`
}

// Keep offers the hub a result of a task whose lease the host has. The hub asks for its pieces before
// it answers.
type Keep struct {
	lease.Held
	Load travel.Load `json:"load"`
}

// Tell is a message of the hub to a host. With an ID the host has that task's lease now; without one
// it should beat.
type Tell struct {
	ID     string        `json:"id,omitempty"`
	Record *lease.Record `json:"record,omitempty"`
}

// Call is a request to the host's interface of tasks, below /api/v1/tasks/TASK.
type Call struct {
	Method string `json:"method"`
	Task   string `json:"task"` // its name on the host
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	Type   string `json:"type,omitempty"`
	Body   []byte `json:"body,omitempty"`
	// Person is on whose behalf the hub asks.
	Person string `json:"person,omitempty"`
}

// Reply is the answer to every request between hosts and hub.
type Reply struct {
	Status int           `json:"status,omitempty"` // HTTP status, of an error or of a Call's answer
	Text   string        `json:"text,omitempty"`
	Record *lease.Record `json:"record,omitempty"`
	Leases *Leases       `json:"leases,omitempty"`
	Last   int64         `json:"last,omitempty"` // last part of the host's stream that is stored
	Next   uint64        `json:"next,omitempty"` // place of the next piece of a file
	Type   string        `json:"type,omitempty"`
	Body   []byte        `json:"body,omitempty"`
}

// MaxCall bounds the body of a Call and of its answer, in bytes, so that each fits into one message of
// NATS.
const MaxCall = 600 << 10

// Subject returns a host's NATS subject for a kind of message.
func Subject(kind, host string) string { return "task." + kind + "." + host }

// Grant returns what a host may do in NATS for its tasks.
func Grant(host string) server.Grant {
	var g server.Grant
	for _, kind := range []string{"beat", "ask", "event", "parts", "file", "keep"} {
		g.Publish = append(g.Publish, Subject(kind, host))
	}
	g.Subscribe = []string{Subject("tell", host), Subject("call", host), Subject("take", host)}
	return g
}
