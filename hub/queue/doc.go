// Package queue keeps a fleet's tasks in NATS's JetStream and hands them to hosts. It joins hub/lease
// with a store, a clock and a network.
//
// # What is stored
//
//	tandemux_tasks     a key-value bucket: a lease.Record by the task's id. Each change
//	                   names the revision that it replaces; reads go to the leader
//	tandemux_events    a key-value bucket: TASK.EVENT, the events sent to tasks
//	tandemux_settings  a key-value bucket: limits, and the hosts that are drained
//	tandemux_parts     a stream: what tasks do (parts.TASK). Each message has some parts
//	                   with the ids that readers know them by, without gaps
//	tandemux_files     an object store: workspaces on their way, and results (hub/files)
//
// # What hosts say
//
// Each host has subjects of its own, and Grant lets it use no others:
//
//	task.beat.HOST    a Beat, every few seconds and when the hub asks for it; the answer
//	                  says which leases the host has
//	task.ask.HOST     an Ask for a change of a record whose lease the host has
//	task.event.HOST   a Wanted event of a task whose lease the host has
//	task.parts.HOST   Parts of a task whose lease the host has
//	task.file.HOST    a Piece of the files with which such a task begins
//	task.keep.HOST    an offer of a result (Keep) of such a task
//	task.tell.HOST    from the hub: a new lease, or that the host should beat now
//	task.call.HOST    from the hub: a request to the host's own interface of tasks
//	task.take.HOST    from the hub: a request for a Piece of an offered result
//
// # Who is next
//
// The next task is the oldest of the person who has the fewest tasks at work. Of the hosts that have
// all its labels, the one with the most room takes it. A task that a limit keeps waiting does not hold
// up others. See pick.
//
// # Concurrency
//
// A Queue may be used from any goroutine, and by several hubs of one fleet at once; the store settles
// what they must agree on. Each hub has all records in memory, a moment late. One goroutine follows
// the store, another hands out tasks and reclaims lost leases; both end with Close. While nothing
// changes, the queue only answers beats.
package queue
