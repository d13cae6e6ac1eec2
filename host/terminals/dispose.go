package terminals

import (
	"context"
	"errors"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/core"
	"tandemux/host/journal"
	"tandemux/host/keeper"
	"tandemux/host/params"
	"tandemux/host/requests"
)

// endTime bounds the ending of one terminal's process; the keeper sends SIGKILL after five
// seconds.
const endTime = 15 * time.Second

// disposeTerminal removes a terminal at once and ends its process in the
// background (R28, G38).
func (ts *Terminals) disposeTerminal(_ context.Context, c *requests.Conn, p ahp.DisposeTerminalParams) (any, error) {
	if p.Channel == "" {
		return nil, ahp.InvalidParams("dispose terminal: channel: missing")
	}
	tx := ts.Core.Lock()
	defer tx.Unlock()
	t, err := Find(tx, c.Principal, p.Channel, "dispose terminal")
	if err == nil {
		err = params.Allowed("dispose terminal", t.Held().MayEnd(c.Principal, t.InLayout(tx)))
	}
	if err != nil {
		return nil, err
	}
	ts.Audit.Did(c.Who(), "dispose", p.Channel, "held by", claims.Text(t.Value.Claim))
	t.Dispose(tx)
	return nil, nil
}

// Dispose removes a terminal, and ends its process.
func (t *Terminal) Dispose(tx core.Tx) {
	t.removeTerm(tx)
	t.ts.later(t.end)
}

// later runs end in the background; Wait waits for it.
func (ts *Terminals) later(end func(ctx context.Context)) {
	ts.ending.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		end(ctx)
	})
}

// Kill ends the terminal's process in the background; the terminal stays.
func (t *Terminal) Kill(core.Tx) {
	t.ts.later(func(ctx context.Context) {
		if err := t.Term.Kill(ctx); err != nil {
			t.ts.Log.Warn("end an agent's terminal", "err", err)
		}
	})
}

// ClaimOwn changes the claim within its session, for instance to another tool call. The agent
// that uses the terminal keeps it.
func (t *Terminal) ClaimOwn(tx core.Tx, to ahp.Claim) {
	t.transfer(tx, to, nil, &auth.Principal{ID: t.Holder, Person: t.Person})
}

// end kills a removed terminal's process and frees everything. The journal goes last, as it
// records that the terminal was removed.
func (t *Terminal) end(ctx context.Context) {
	ts := t.ts
	if err := t.Term.Kill(ctx); err != nil {
		ts.Log.Warn("end terminal", "process", t.proc, "err", err)
	}
	t.Term.Close()
	forgotten := ts.forget(ctx, t.proc)
	<-t.Term.Done()
	tx := ts.Core.Lock()
	names := t.journal(tx).Close()
	tx.Unlock()
	if forgotten {
		ts.Journals.Discard(names...)
	}
}

// journal is the terminal's journal, nil when it has none.
func (t *Terminal) journal(tx core.Tx) *journal.Journal {
	if t.ch == nil {
		return t.unborn
	}
	return t.ch.Journal
}

// forget has the keeper forget a process, and reports whether it did.
func (ts *Terminals) forget(ctx context.Context, proc string) bool {
	tx := ts.Core.Lock()
	delete(ts.procs.terms, proc)
	delete(ts.procs.early, proc)
	tx.Unlock()
	ctx, cancel := context.WithTimeout(ctx, spawnTime)
	defer cancel()
	err := ts.Keeper().Forget(ctx, proc)
	if err == nil || errors.Is(err, keeper.ErrUnknown) {
		return true
	}
	tx = ts.Core.Lock()
	defer tx.Unlock()
	if !tx.Closing() {
		ts.Log.Warn("forget process", "process", proc, "err", err)
	}
	return false
}
