package queue

import (
	"encoding/json"
	"time"

	"tandemux/host/workspace/travel"
	"tandemux/hub/lease"
	"tandemux/hub/server"
)

// Spec is what was asked for, as it is in a record.
type Spec struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Person  string    `json:"person"`
	Project string    `json:"project,omitempty"`
	Where   []string  `json:"where,omitempty"`
	Agent   string    `json:"agent,omitempty"` // by name; empty for a command
	Created time.Time `json:"created"`
	// New is the body by which a host makes it.
	New json.RawMessage `json:"new"`
	// Files are what its workspace begins with, if that travels.
	Files *travel.Load `json:"files,omitempty"`
}

// Note is what a host says of a task of its own, as it is in a record.
type Note struct {
	// Local is the task there, by its name, and Last the last part of its stream that
	// was told.
	Local string `json:"local"`
	Last  int64  `json:"last,omitempty"`
	// Present is how it is there.
	Present json.RawMessage `json:"present,omitempty"`
	// Result is what it made of its files, and Kept the lease that stored that.
	Result *travel.Load `json:"result,omitempty"`
	Kept   uint64       `json:"kept,omitempty"`
	// Unkept is why what the last turn made is not stored.
	Unkept string `json:"unkept,omitempty"`
}

// Beat is what a host says every few seconds.
type Beat struct {
	Room   int          `json:"room"` // how many tasks it would take now
	Labels []string     `json:"labels,omitempty"`
	Agents []string     `json:"agents,omitempty"`
	Has    []lease.Held `json:"has,omitempty"`
	// Local are tasks that it has of which it does not know whether they are over.
	Local []string `json:"local,omitempty"`
}

// Leases answers a Beat.
type Leases struct {
	Terms lease.Terms `json:"terms"`
	// Yours are the leases that it has, Over those that it said it has, and has not.
	Yours map[string]lease.Record `json:"yours,omitempty"`
	Over  []lease.Held            `json:"over,omitempty"`
	// Gone are of the local tasks those that are over, Rest those that have nothing to do.
	Gone []string `json:"gone,omitempty"`
	Rest []string `json:"rest,omitempty"`
}

// Ask is a change that a host asks for.
type Ask struct {
	ID string   `json:"id"`
	Op lease.Op `json:"op"`
}

// Parts are some of what a task does. First is the number that the first has in the
// host's own stream.
type Parts struct {
	lease.Held
	First int64             `json:"first"`
	Parts []json.RawMessage `json:"parts,omitempty"`
}

// Wanted is an event that a host is to send to a task whose lease it has.
type Wanted struct {
	lease.Held
	Event string `json:"event"`
}

// Piece is a piece of a file that a host wants: of a task's files, or, of the hub, of a
// result that the host has.
type Piece struct {
	lease.Held
	At uint64 `json:"at,omitempty"`
}

// Keep is a result that a host has, of a task whose lease it has. The hub asks for its pieces,
// by place in bytes, before it answers.
type Keep struct {
	lease.Held
	Load travel.Load `json:"load"`
}

// Tell is what the hub tells a host: with an ID that it has that lease now, without one
// to beat.
type Tell struct {
	ID     string        `json:"id,omitempty"`
	Record *lease.Record `json:"record,omitempty"`
}

// Call is a request for the host's interface of tasks, below /api/v1/tasks/TASK.
type Call struct {
	Method string `json:"method"`
	Task   string `json:"task"` // by its name there
	Path   string `json:"path"`
	Query  string `json:"query,omitempty"`
	Type   string `json:"type,omitempty"`
	Body   []byte `json:"body,omitempty"`
	// Person is who asks.
	Person string `json:"person,omitempty"`
}

// Reply answers all that hosts and hub ask each other.
type Reply struct {
	Status int           `json:"status,omitempty"` // of an error, or of a Call
	Text   string        `json:"text,omitempty"`
	Record *lease.Record `json:"record,omitempty"`
	Leases *Leases       `json:"leases,omitempty"`
	Last   int64         `json:"last,omitempty"` // part of the host's stream that is stored
	Next   uint64        `json:"next,omitempty"` // place of the next piece of a file
	Type   string        `json:"type,omitempty"`
	Body   []byte        `json:"body,omitempty"`
}

// MaxCall bounds the body of a Call and of its answer, in bytes: with the rest it is one
// message of NATS.
const MaxCall = 600 << 10

// Subject is a host's for a kind of message.
func Subject(kind, host string) string { return "task." + kind + "." + host }

// Grant is what a host may do in NATS for its tasks.
func Grant(host string) server.Grant {
	var g server.Grant
	for _, kind := range []string{"beat", "ask", "event", "parts", "file", "keep"} {
		g.Publish = append(g.Publish, Subject(kind, host))
	}
	g.Subscribe = []string{Subject("tell", host), Subject("call", host), Subject("take", host)}
	return g
}
