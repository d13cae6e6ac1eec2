package lease

import (
	"context"
	"errors"
	"slices"
)

type Store interface {
	// Get returns a record with its revision.
	Get(ctx context.Context, id string) (Record, uint64, error)
	// Put replaces a record if it still has this revision, else it returns ErrMoved. After
	// any other error the record may have been replaced or not.
	Put(ctx context.Context, id string, r Record, revision uint64) error
}

// ErrMoved says that a record's revision is not the expected one.
var ErrMoved = errors.New("the record has changed")

// Change applies op to a record, and tries again after ErrMoved. It returns the changed
// record.
func Change(ctx context.Context, s Store, id string, op Op) (Record, error) {
	for {
		r, revision, err := s.Get(ctx, id)
		if err != nil {
			return r, err
		}
		next, err := Apply(r, op)
		if err != nil || same(r, next) {
			return next, err
		}
		if err := s.Put(ctx, id, next, revision); !errors.Is(err, ErrMoved) {
			return next, err
		}
	}
}

// same reports whether a change from a to b needs no Put.
func same(a, b Record) bool {
	return a.State == b.State && a.Lease == b.Lease && a.Renewed == b.Renewed && len(a.Work) == len(b.Work) && slices.Equal(a.Ends, b.Ends) && string(a.Note) == string(b.Note)
}

// Hub is how a host asks for changes. After an error that is not Stale the change may have
// been made or not.
type Hub interface {
	Ask(ctx context.Context, id string, op Op) (Record, error)
	// Pause waits before something is asked for again.
	Pause(ctx context.Context, tries int) error
}

// Work is what a host does. Each may be called again for a lease, also by the next process.
type Work interface {
	// Prepare makes ready what needs no lease to be begun. ErrRefused says that no host
	// could; any other error, that this one can't now.
	Prepare(ctx context.Context, id string, r Record) error
	// Run begins the work of the record's lease, or goes on with it, until it has ended.
	// An error says that it is not known how.
	Run(ctx context.Context, id string, r Record) (End, error)
	// Drop stops what the host does of a task that it has lost.
	Drop(id string, r Record)
}

// ErrRefused is why a task can't be made, by any host.
var ErrRefused = errors.New("the task can't be made")

// Carry does the work of a lease that a host got. It returns when the hub knows how
// that ended, or when the host has lost it, for which ctx ends, too.
func Carry(ctx context.Context, hub Hub, work Work, host, id string, r Record) error {
	op := Op{Host: host, Lease: r.Lease}
	if r.State == Claimed {
		switch err := work.Prepare(ctx, id, r); {
		case ctx.Err() != nil:
			work.Drop(id, r)
			return ctx.Err()
		case errors.Is(err, ErrRefused):
			op.Verb, op.Reason = Refuse, err.Error()
			_, err = ask(ctx, hub, id, op)
			return err
		case err != nil:
			op.Verb = Return
			_, asked := ask(ctx, hub, id, op)
			return errors.Join(err, asked)
		}
		op.Verb = Begin
		begun, err := ask(ctx, hub, id, op)
		if err != nil {
			work.Drop(id, r)
			return err
		}
		r = begun
	}
	end, err := work.Run(ctx, id, r)
	if err == nil {
		if op.Verb, op.Outcome, op.Reason = Finish, end.Outcome, end.Reason; r.Policy == Again && end.Outcome == OutcomeLost {
			op = Op{Verb: Redo, Host: host, Lease: r.Lease} // this host itself was lost meanwhile
			work.Drop(id, r)
		}
		_, err = ask(ctx, hub, id, op)
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, Stale)) { // what is finished may be over
		work.Drop(id, r)
	}
	return err
}

func ask(ctx context.Context, hub Hub, id string, op Op) (Record, error) {
	return Insist(ctx, hub, func() (Record, error) { return hub.Ask(ctx, id, op) })
}

// Insist calls ask until it succeeds or returns Stale, or ctx ends.
func Insist[T any](ctx context.Context, hub Hub, ask func() (T, error)) (T, error) {
	for tries := 0; ; tries++ {
		v, err := ask()
		if err == nil || errors.Is(err, Stale) || ctx.Err() != nil {
			return v, err
		}
		if err := hub.Pause(ctx, tries); err != nil {
			return v, err
		}
	}
}
