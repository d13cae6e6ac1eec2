// Package worker does a fleet's tasks on one host: it says what room there is, takes the
// leases that the hub gives it, and has the host's own tasks' interface do the work.
//
// A task of the fleet is a task of the host's, named after it and the lease with which it
// began there (queue.Local), so that the next process finds it again and begins nothing
// twice: creating and sending have idempotency keys made of the same. What the host's stream
// tells of the turn goes to the hub, part by part, with the numbers it has there.
//
// The hub's requests for a task's other doings (answers, messages, changes) reach the
// host's interface here, for tasks that are the fleet's and nothing else.
//
// Work that the hub says is over is stopped. Work that another host may be given after a
// while of silence is stopped before that, also while the hub can't be reached; the clock
// for it goes on while the machine sleeps.
//
// A Worker has one goroutine that beats, and one for each lease. It stores nothing: what
// it has to know is the host's or the hub's.
package worker
