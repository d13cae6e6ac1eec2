// Package worker does a fleet's tasks on one host. It tells the hub how much room there is, takes the
// leases that the hub gives it, and has the host's own interface of tasks do the work.
//
// A task of the fleet is a task on the host, named after it and the lease with which it began there
// (queue.Local). So the worker's next process finds it again and begins nothing twice: the requests
// that create tasks and send events have idempotency keys made of the same. What the host's stream
// tells of the turn goes to the hub, part by part, with the numbers it has there.
//
// The hub's other requests about a task (answers, messages, changes) also reach the host's interface
// here, but only for tasks of the fleet.
//
// The worker stops work that the hub says is over. After a while of silence the hub may give a task to
// another host; the worker stops it before that, also while the hub can't be reached. The clock for
// this runs while the machine sleeps.
//
// A Worker has one goroutine that sends beats, and one for each lease. It stores nothing: what it has
// to know is on the host or the hub.
package worker
