package host

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/host/keeper"
)

// restoreTime bounds the making of all that an earlier host left.
const restoreTime = time.Minute

// restore makes what an earlier host left: channels, clients, terminals. Nobody
// is connected yet.
func (h *Host) restore() error {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), restoreTime)
	defer cancel()
	children, err := h.keeper().List(ctx)
	if err != nil {
		return fmt.Errorf("list the keeper's processes: %w", err)
	}
	h.findStrays(children)
	files, err := h.keeper().Files(ctx)
	if err != nil {
		return fmt.Errorf("list the keeper's files: %w", err)
	}
	h.openSpool(ctx, files)
	all := h.openAll(ctx, slices.DeleteFunc(files, func(f keeper.FileInfo) bool { return f.Name == spoolName }))
	left := record.Divide(all, func(id string) bool {
		return slices.ContainsFunc(children, func(c keeper.Info) bool { return c.ID == id })
	})
	tx := h.core.Lock()
	for _, f := range all {
		tx.Saw(f.Contents.Newest)
	}
	for _, f := range left.Spares {
		if !h.journals.Put(f.Journal) {
			left.Stale = append(left.Stale, f)
		}
	}
	for _, f := range left.Channels {
		if err := tx.Revive(f); err != nil {
			h.log.Error("restore a channel", "channel", f.Contents.Channel, "err", err)
			left.Stale = append(left.Stale, f)
		}
	}
	for _, f := range left.Stale {
		h.journals.Drop(f.Journal)
	}
	tx.Unlock()
	terms := h.adoptAll(ctx, children, left.Terminals)
	tx = h.core.Lock()
	h.list.held = true
	for _, a := range terms {
		h.rejoin(tx, a)
	}
	h.list.held = false
	h.listChanged(tx)
	tx.RestoreWindows()
	for _, a := range terms {
		h.doubt(tx, a.t)
	}
	h.sessions.Revive(tx)
	h.sendList(tx)
	h.activity.Revived(tx)
	channels := 0
	for range tx.Channels() {
		channels++
	}
	tx.Unlock()
	h.storeSpool(ctx)
	if err := h.journals.Fill(); err != nil {
		h.activity.Warn("journals", err)
	}
	h.core.Locked(func(tx core.Tx) { tx.Keep(h.root.ch) })
	for _, a := range terms {
		a.t.t.Start()
		if a.exit != nil {
			a.t.t.Exit(*a.exit)
		}
	}
	if len(children)+len(files) > 0 {
		h.log.Info("took over from an earlier host", "terminals", len(terms), "channels", channels, "took", time.Since(began))
	}
	return nil
}

// each calls f for 0 to n-1, a few at a time.
func each(n int, f func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, 4*runtime.GOMAXPROCS(0))
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i)
		})
	}
	all.Wait()
}

// openAll takes over all journals: what an earlier host might still write is
// refused from here on.
func (h *Host) openAll(ctx context.Context, files []keeper.FileInfo) []*record.Found {
	all := make([]*record.Found, len(files))
	each(len(files), func(i int) {
		f, err := h.openJournal(ctx, files[i].Name)
		if err != nil {
			h.log.Error("open a journal", "err", err)
		}
		all[i] = f
	})
	return slices.DeleteFunc(all, func(f *record.Found) bool { return f == nil })
}

func (h *Host) openJournal(ctx context.Context, name string) (*record.Found, error) {
	file, err := h.keeper().Fetch(ctx, name)
	if err != nil {
		return nil, err
	}
	j, r, err := journal.Adopt(name, file)
	if err != nil {
		h.journals.Drop(&journal.Journal{Name: name})
		return nil, err
	}
	f := &record.Found{Contents: record.Read(r), Journal: j}
	j.Made = f.Contents.Made
	f.Spare = journal.IsSpare(r) && f.Contents.State == nil
	return f, nil
}

// adoptAll makes all terminals, oldest first. The caller holds no lock.
func (h *Host) adoptAll(ctx context.Context, children []keeper.Info, terms map[string]*record.Found) []*adopted {
	all := make([]*adopted, len(children))
	each(len(children), func(i int) {
		info := children[i]
		f := terms[info.ID]
		if f != nil && f.Contents.Removed { // The last host was about to end it.
			h.finish(info.ID, f.Journal)
			return
		}
		a, err := h.adopt(ctx, info, f)
		if err != nil {
			h.log.Error("adopt a terminal", "process", info.ID, "err", err)
			return
		}
		all[i] = a
	})
	return slices.DeleteFunc(all, func(a *adopted) bool { return a == nil })
}

// finish ends a child whose terminal was disposed of, in the background.
func (h *Host) finish(proc string, j *journal.Journal) {
	tx := h.core.Lock()
	names := j.Close()
	h.ending.Add(1)
	tx.Unlock()
	go func() {
		defer h.ending.Done()
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		// Nothing of it is shown any more, so there is nothing to be gentle for.
		err := h.keeper().Signal(ctx, proc, syscall.SIGKILL)
		for err == nil || errors.Is(err, keeper.ErrUnknown) {
			if err = h.keeper().Forget(ctx, proc); !errors.Is(err, keeper.ErrRunning) {
				break
			}
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(50 * time.Millisecond):
				err = nil
			}
		}
		if err != nil && !errors.Is(err, keeper.ErrUnknown) {
			h.log.Warn("end a process", "process", proc, "err", err)
			return
		}
		h.journals.Discard(names...)
	}()
}

// rejoin makes an adopted terminal known.
func (h *Host) rejoin(tx core.Tx, a *adopted) {
	t := a.t
	for n := 2; tx.Channel(a.uri) != nil; n++ { // Only the keeper's notes can be at odds.
		a.uri = fmt.Sprintf("%s:/%s-%d", "ahp-terminal", t.proc, n)
	}
	if h.nameTaken(tx, auth.Operator, t.meta.Name, a.uri) != "" {
		t.meta.Name = "" // the keeper's note is older than what the others have
	}
	t.ch = tx.NewChannel(a.uri, t)
	h.terms = append(h.terms, t)
	defer t.retitle(tx)
	defer h.noteQueue(tx, t)
	h.procs.terms[t.proc] = t
	defer t.retake(tx)
	if a.m != nil && a.m.State != nil {
		tx.Resume(t.ch, a.journal, a.m)
	} else {
		t.ch.Journal = a.journal
	}
	if t.ch.Journal == nil {
		t.flush(tx)
		return
	}
	// What was not typed must not be accepted for the next host either.
	if a.damage != nil || a.m == nil || a.m.State == nil || len(a.m.Unaccepted) > 0 {
		tx.Checkpoint(t.ch)
		return
	}
	t.flush(tx)
}
