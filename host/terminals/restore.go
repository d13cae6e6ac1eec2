package terminals

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// Inheritance is what an earlier host left.
type Inheritance struct {
	record.Left
	Journals []*record.Found // all

	ts       *Terminals
	children []keeper.Info
	adopted  []*adopted
}

// Inherit takes over what an earlier host left with the keeper: processes, and the journals of
// all channels. It must be called before any program is started.
func (ts *Terminals) Inherit(ctx context.Context) (*Inheritance, error) {
	children, err := ts.Keeper().List(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the keeper's processes: %w", err)
	}
	ts.findStrays(children)
	files, err := ts.Keeper().Files(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the keeper's files: %w", err)
	}
	ts.openSpool(ctx, files)
	if err := removePipes(filepath.Join(ts.Runtime, FeedDir)); err != nil {
		ts.Log.Warn("remove the last host's pipes for commands' input", "err", err)
	}
	in := &Inheritance{ts: ts, children: children}
	in.Journals = ts.openAll(ctx, slices.DeleteFunc(files, func(f keeper.FileInfo) bool { return f.Name == spoolName }))
	in.Left = record.Divide(in.Journals, func(id string) bool {
		return slices.ContainsFunc(children, func(c keeper.Info) bool { return c.ID == id })
	})
	return in, nil
}

// removePipes removes the last host's pipes. A shell that waits for one to be opened sees its end.
func removePipes(dir string) error {
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, path := range left {
		if pipe, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
			defer pipe.Close() // when no other can open it
		}
	}
	return os.RemoveAll(dir)
}

// Adopt makes the terminals, oldest first. It is called without the lock.
func (in *Inheritance) Adopt(ctx context.Context) {
	all := make([]*adopted, len(in.children))
	each(len(in.children), func(i int) {
		info := in.children[i]
		f := in.Terminals[info.ID]
		if f != nil && f.Contents.Removed { // the last host was about to end it
			in.ts.later(func(ctx context.Context) { in.ts.finish(ctx, info.ID, f.Journal) })
			return
		}
		a, err := in.ts.adopt(ctx, info, f)
		if err != nil {
			in.ts.Log.Error("adopt a terminal", "process", info.ID, "err", err)
			return
		}
		all[i] = a
	})
	in.adopted = slices.DeleteFunc(all, func(a *adopted) bool { return a == nil })
}

// Join gives the adopted terminals their channels.
func (in *Inheritance) Join(tx core.Tx) {
	in.ts.list.held = true
	for _, a := range in.adopted {
		in.ts.rejoin(tx, a)
	}
	in.ts.list.held = false
	in.ts.Changed(tx)
}

// Doubt refuses repetitions of input that may not have been typed, with the reason that it may
// not have arrived.
func (in *Inheritance) Doubt(tx core.Tx) {
	for _, a := range in.adopted {
		for _, q := range a.t.queue {
			if cl := tx.Client(q.Origin.ClientID); cl != nil && q.End <= 0 {
				tx.Doubt(cl, q.Origin.ClientSeq, inDoubt)
			}
		}
	}
}

// Start begins to read the ptys, and returns their number.
func (in *Inheritance) Start(ctx context.Context) int {
	in.ts.storeSpool(ctx)
	for _, a := range in.adopted {
		a.t.Term.Start()
		if a.exit != nil {
			a.t.Term.Exit(*a.exit)
		}
	}
	in.ts.keepers.following.Add(1)
	go in.ts.followExits(in.ts.Keeper())
	return len(in.adopted)
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

// openAll takes over all journals. From now on an earlier host that still runs can't write to
// them.
func (ts *Terminals) openAll(ctx context.Context, files []keeper.FileInfo) []*record.Found {
	all := make([]*record.Found, len(files))
	each(len(files), func(i int) {
		f, err := ts.openJournal(ctx, files[i].Name)
		if err != nil {
			ts.Log.Error("open a journal", "err", err)
		}
		all[i] = f
	})
	return slices.DeleteFunc(all, func(f *record.Found) bool { return f == nil })
}

func (ts *Terminals) openJournal(ctx context.Context, name string) (*record.Found, error) {
	file, err := ts.Keeper().Fetch(ctx, name)
	if err != nil {
		return nil, err
	}
	j, r, err := journal.Adopt(name, file)
	if err != nil {
		ts.Journals.Drop(&journal.Journal{Name: name})
		return nil, err
	}
	f := &record.Found{Contents: record.Read(r), Journal: j}
	j.Made = f.Contents.Made
	f.Spare = journal.IsSpare(r) && f.Contents.State == nil
	return f, nil
}

// finish ends a child whose terminal was removed.
func (ts *Terminals) finish(ctx context.Context, proc string, j *journal.Journal) {
	// The terminal no longer shows, so its program needs no time to end well.
	err := ts.Keeper().Signal(ctx, proc, syscall.SIGKILL)
	for err == nil || errors.Is(err, keeper.ErrUnknown) {
		if err = ts.Keeper().Forget(ctx, proc); !errors.Is(err, keeper.ErrRunning) {
			break
		}
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(50 * time.Millisecond):
			err = nil
		}
	}
	tx := ts.Core.Lock()
	names := j.Close()
	tx.Unlock()
	if err != nil && !errors.Is(err, keeper.ErrUnknown) {
		ts.Log.Warn("end a process", "process", proc, "err", err)
		return
	}
	ts.Journals.Discard(names...)
}

// rejoin gives an adopted terminal its channel.
func (ts *Terminals) rejoin(tx core.Tx, a *adopted) {
	t := a.t
	for n := 2; tx.Channel(a.uri) != nil; n++ { // only keepers' notes can name a URI twice
		a.uri = fmt.Sprintf("%s:/%s-%d", "ahp-terminal", t.proc, n)
	}
	if ts.nameTaken(tx, auth.Operator, t.Meta.Name, a.uri) != "" {
		t.Meta.Name = "" // the keeper's note is older than the others' journals
	}
	t.ch = tx.NewChannel(a.uri, t)
	ts.all = append(ts.all, t)
	defer t.retitle(tx)
	defer t.noteQueue(tx)
	ts.procs.terms[t.proc] = t
	defer t.retake(tx)
	if a.m != nil && a.m.State != nil {
		tx.Resume(t.ch, a.journal, a.m)
	} else {
		t.ch.Journal = a.journal
	}
	if t.ch.Journal == nil {
		t.Flush(tx)
		return
	}
	// Record for the next host, too, that input which was not typed was not accepted.
	if a.damage != nil || a.m == nil || a.m.State == nil || len(a.m.Unaccepted) > 0 {
		tx.Checkpoint(t.ch)
		return
	}
	t.Flush(tx)
}
