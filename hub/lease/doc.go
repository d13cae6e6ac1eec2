// Package lease says who may work on a task of a fleet: the states of a task that is
// queued, what leads from one to the next, and when a host that is silent has lost what
// it had. It has no clock, no network and no store: queue gives it those, its tests a
// simulation of them.
//
// # Records
//
// A Record is what is kept of a task, under a revision that each change raises. Apply is
// the only way to change one: values in, values out. Change does it to a Store whose
// updates name the revision that they replace, so that of two at once one is done anew.
//
// A lease is for one piece of work (an event of the task), and has a number that only
// grows. Who has a lease names its number in all it asks for; a number that is not the
// record's any more is refused (Stale). Asking for the same twice does it once, so that
// an answer that was lost is asked for again.
//
//	IDLE       nothing is to be done
//	PENDING    work waits for a host; with Home for that one
//	CLAIMED    a host has the lease, and makes ready: nothing of the work was begun
//	BEGUN      the host may have begun the work, or has
//	CANCELLED  somebody stopped it for good
//	FAILED     it could not be made
//
// # What holds
//
// A host begins work after Begin was answered, never before. As one lease alone can get
// from CLAIMED to BEGUN, and from there back to PENDING only where the policy is
// to do it again (Again), work is begun at most once otherwise, whatever clocks say and
// however messages are late, lost or doubled. Work leaves a record by End, Lose, Fail and
// Cancel alone: none is lost without a word.
//
// With Again it is begun anew where its host says that it was interrupted there (Redo), and
// once its host was silent for Terms.Begun and a quarter. Each
// beat of such a lease is a change of its record (Renew), and Lose names the last: of two
// nodes of a hub one that hears nothing can't lose what another has renewed. A Holder
// tells the host to stop the work Terms.Begun after the last renewal was asked for, and to
// give the lease back (Redo) where it turns out to be its own still, so
// two hosts don't work on it at once as long as clocks run at rates that differ by less
// than a tenth, and the process that has the Holder lives: where that alone was killed,
// the agent that it left may still be at work, and a machine that slept needs a moment
// after it woke.
//
// # Time
//
// Times are durations since any moment of the one machine that compares them: a clock
// that is set, by a day or a year, means nothing. Only silence counts. A hub that begins
// counts from then.
//
// # Concurrency
//
// Records are values. A Watch and a Holder belong to one goroutine, or to who holds a
// lock. Carry runs in a goroutine of its own for each task that a host has.
package lease
