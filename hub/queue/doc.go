// Package queue keeps the tasks of a fleet in NATS's JetStream, and hands them to hosts:
// hub/lease with a store, a clock and a network.
//
// # What is stored
//
//	tandemux_tasks     a key-value bucket: a lease.Record by the task's id. Each change
//	                   names the revision that it replaces; read from the leader
//	tandemux_events    a key-value bucket: TASK.EVENT, what was sent
//	tandemux_settings  a key-value bucket: limits, and the hosts that are drained
//	tandemux_parts     a stream: what tasks do (parts.TASK), each message some parts with
//	                   the ids that readers know them by, without gaps
//	tandemux_files     an object store: workspaces on their way, and results (hub/files)
//
// # What hosts say
//
// Each host has subjects of its own, and Grant lets it use no others:
//
//	task.beat.HOST    a Beat, every few seconds and when it is told to; the answer says
//	                  which leases it has
//	task.ask.HOST     an Ask for a change of a record whose lease it has
//	task.parts.HOST   Parts of a task whose lease it has
//	task.file.HOST    a Piece of the files that a task begins with, whose lease it has
//	task.keep.HOST    a result that it has, of a task whose lease it has
//	task.tell.HOST    from the hub: a lease that it got, or that it should beat now
//	task.call.HOST    from the hub: a request for the host's own interface of tasks
//	task.take.HOST    from the hub: a Piece of a result that the host has said to keep
//
// # Who is next
//
// The people who have the fewest tasks at work are first, of one person's tasks the
// oldest; the host with the most room takes it that has all the labels. What a limit
// keeps waiting keeps nothing else waiting. See pick.
//
// # Concurrency
//
// A Queue may be used from any goroutine, and by several hubs of one fleet at once: what
// they must agree on is the store's. Each has all records in memory, a moment late. One
// goroutine follows the store, one hands out and reclaims; both end with Close. When
// nothing changes nothing is done but answering beats.
package queue
