package lease_test

import (
	"context"
	"testing"

	"tandemux/hub/lease"
)

// finished is a hub that has taken note of the work's end, and work that it then says is over.
type finished struct {
	over    context.CancelFunc
	dropped bool
}

func (f *finished) Ask(_ context.Context, _ string, op lease.Op) (lease.Record, error) {
	if op.Verb == lease.Finish {
		f.over()
	}
	return lease.Record{Lease: op.Lease}, nil
}

func (*finished) Pause(ctx context.Context, _ int) error { return ctx.Err() }

func (*finished) Prepare(context.Context, string, lease.Record) error { return nil }

func (*finished) Run(context.Context, string, lease.Record) (lease.End, error) {
	return lease.End{Outcome: "done"}, nil
}

func (f *finished) Drop(string, lease.Record) { f.dropped = true }

// TestFinishedIsNotDropped: once the hub has the end of a turn its lease is over, which a beat
// may say before the answer is seen. Nothing was lost, and the task stays for the next turn.
func TestFinishedIsNotDropped(t *testing.T) {
	ctx, over := context.WithCancel(t.Context())
	f := &finished{over: over}
	if err := lease.Carry(ctx, f, f, "a", "t", lease.Record{State: lease.Claimed, Lease: 1}); err != nil || f.dropped {
		t.Errorf("the task was dropped: %v; %v", f.dropped, err)
	}
}
