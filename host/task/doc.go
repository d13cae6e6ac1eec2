// Package task manages tasks: agents that work in workspaces of their own. To a session of the host a
// task adds a workspace, a sandbox, a history of events and messages, and a stream; it is not another
// kind of session.
//
// # Parts
//
// A Service is the whole of it in one process. Package store has the records, package workspace the
// files, package sandbox the sandboxes. The Service speaks to the host like any AHP client, over a
// connection inside the process, so a task's session, chat and terminals are ordinary ones: they are
// listed, watched, approved and journaled like all others.
//
// # The life of a task
//
//	CREATING  its workspace is being made, its session opened or on_create run
//	IDLE      nothing is to be done; an event begins a turn
//	RUNNING   a turn is under way, or events wait for one
//	CANCELLED somebody stopped it; it takes no events any more
//	FAILED    it could not be made, or its agent is gone for good
//
// Cancelling and failing are final; deleting removes the task with its workspace,
// its session and everything that was stored of it.
//
// A task whose budget is used up (package budget) begins nothing: its events wait.
//
// # What outlives the host
//
// A task is in the store before anything of it exists elsewhere, and leaves it
// after everything else is gone. A Service that is opened looks at each task that
// is not final: creation that was interrupted begins anew in the same places, turns
// go on where the session does, and what was being deleted is deleted.
//
// # Concurrency
//
// Every method may be called from any goroutine. A task that is not final has one
// goroutine, its runner, that alone changes what is outside of the store: one thing
// at a time, from a queue. Readers of streams read the store, and are woken.
package task
