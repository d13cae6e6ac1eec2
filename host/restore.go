package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/auth"
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
	tx := h.lock()
	for _, f := range all {
		h.seq.last = max(h.seq.last, f.Contents.Newest)
	}
	for _, f := range left.Spares {
		if !h.journals.Put(f.Journal) {
			left.Stale = append(left.Stale, f)
		}
	}
	for _, f := range left.Channels {
		if err := h.revive(tx, f); err != nil {
			h.log.Error("restore a channel", "channel", f.Contents.Channel, "err", err)
			left.Stale = append(left.Stale, f)
		}
	}
	for _, f := range left.Stale {
		h.journals.Drop(f.Journal)
	}
	tx.unlock()
	terms := h.adoptAll(ctx, children, left.Terminals)
	tx = h.lock()
	h.list.held = true
	for _, a := range terms {
		h.rejoin(tx, a)
	}
	h.list.held = false
	h.listChanged(tx)
	h.restoreWindows(tx)
	for _, a := range terms {
		h.doubt(tx, a.t)
	}
	h.sessions.reviveSessions(tx)
	for _, ch := range h.channels {
		if b, ok := ch.body.(revived); ok {
			b.revived(tx)
		}
	}
	n := len(h.channels)
	tx.unlock()
	h.storeSpool(ctx)
	if err := h.journals.Fill(); err != nil {
		h.warn("journals", err)
	}
	h.locked(func(tx Tx) { h.keep(tx, h.root.ch) })
	for _, a := range terms {
		a.t.t.Start()
		if a.exit != nil {
			a.t.t.Exit(*a.exit)
		}
	}
	if len(children)+len(files) > 0 {
		h.log.Info("took over from an earlier host", "terminals", len(terms), "channels", n, "took", time.Since(began))
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

// revive makes a channel that is no terminal.
func (h *Host) revive(tx Tx, f *record.Found) error {
	m := f.Contents
	make, known := channelKind(m.Channel)
	if !known {
		return errors.New("this version has no such channels")
	}
	ch := h.newChannel(tx, m.Channel, nil)
	body, err := make(h, ch, m.State)
	if err == nil {
		if p, ok := body.(private); ok && m.Private != nil {
			err = p.know(m.Private)
		}
	}
	if err != nil {
		delete(h.channels, m.Channel)
		return err
	}
	ch.body = body
	for _, e := range m.Log {
		switch {
		case e.Env.Action != nil:
			body.reduce(e.Env.Action)
		case e.Type == record.TypePrivate:
			if p, ok := body.(private); ok {
				err = p.know(e.Data)
			}
		case e.Type == record.TypeClient && ch.uri == ahp.RootURI:
			err = h.knowClient(e.Data)
		}
		if err != nil {
			m.Spoil(err)
			break
		}
	}
	h.resume(tx, ch, f.Journal, m)
	return nil
}

// resume makes a channel go on with its journal.
func (h *Host) resume(tx Tx, ch *channel, j *journal.Journal, m *record.Contents) {
	ch.journal, ch.last = j, m.LastLogged()
	if m.Damage != nil {
		// Clients may have seen what is lost, and what follows may come anew: they
		// are given states. The sequence has begun above all that they know.
		ch.log.floor = h.seq.last
	} else {
		es, floor := m.Replay()
		ch.log.floor = floor
		for _, e := range es {
			ch.log.add(e)
		}
	}
	for id, o := range m.Origins {
		ch.accepted.Set(id, o)
	}
	for o := range m.Unaccepted {
		ch.accepted.Remove(o.ClientID, o.ClientSeq)
	}
	for _, e := range m.Log {
		o := e.Env.Origin
		if e.Type == record.TypeInput {
			o = &e.Input.Origin
		}
		if o == nil || m.Unaccepted[*o] {
			continue
		}
		if cl := h.clients[o.ClientID]; cl != nil && e.Seq >= cl.since {
			ch.accepted.Note(o.ClientID, cl.since, o.ClientSeq, e.Seq)
		}
	}
	if m.Damage != nil {
		h.log.Warn("a journal was damaged", "channel", ch.uri, "err", m.Damage)
		if _, is := ch.body.(*term); !is {
			h.checkpoint(tx, ch, false)
		}
	}
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
	tx := h.lock()
	names := j.Close()
	h.ending.Add(1)
	tx.unlock()
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
func (h *Host) rejoin(tx Tx, a *adopted) {
	t := a.t
	for n := 2; a.t.h.channels[a.uri] != nil; n++ { // Only the keeper's notes can be at odds.
		a.uri = fmt.Sprintf("%s:/%s-%d", "ahp-terminal", t.proc, n)
	}
	if h.nameTaken(tx, auth.Operator, t.meta.Name, a.uri) != "" {
		t.meta.Name = "" // the keeper's note is older than what the others have
	}
	t.ch = h.newChannel(tx, a.uri, t)
	h.terms = append(h.terms, t)
	defer t.retitle(tx)
	defer h.noteQueue(tx, t)
	h.procs.terms[t.proc] = t
	defer t.retake(tx)
	if a.m != nil && a.m.State != nil {
		h.resume(tx, t.ch, a.journal, a.m)
	} else {
		t.ch.journal = a.journal
	}
	if t.ch.journal == nil {
		t.flush(tx)
		return
	}
	// What was not typed must not be accepted for the next host either.
	if a.damage != nil || a.m == nil || a.m.State == nil || len(a.m.Unaccepted) > 0 {
		more, _ := h.checkpoint(tx, t.ch, false)
		h.deliver(tx, t.ch, more)
		return
	}
	t.flush(tx)
}

// clientRecord is what is remembered of a client that may come back.
type clientRecord struct {
	ID        string           `json:"id"`
	Principal string           `json:"principal"`
	Version   string           `json:"version"`
	Since     int64            `json:"since"`
	Colors    *emulator.Colors `json:"colors,omitempty"`
}

// maxKnown bounds the clients that a next host knows.
const maxKnown = 1000

// noteClient journals a client that has initialized, or says something new of
// itself.
func (h *Host) noteClient(tx Tx, cl *client) {
	r, err := record.JSON(record.TypeClient, h.seq.last, cl.record())
	if err != nil {
		return
	}
	h.applyAll(tx, h.root.ch, nil, []journal.Record{r})
}

func (cl *client) record() clientRecord {
	r := clientRecord{ID: cl.id, Principal: cl.principal, Version: cl.version, Since: cl.since}
	if cl.colors != (emulator.Colors{}) {
		r.Colors = &cl.colors
	}
	return r
}

// knowClient takes what an earlier host noted.
func (h *Host) knowClient(raw json.RawMessage) error {
	var r clientRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	p, ok := ahp.ProfileOf(r.Version)
	if !ok || auth.CheckClientID(r.ID) != nil || r.Principal == "" {
		return nil
	}
	cl := &client{
		id: r.ID, principal: r.Principal, version: r.Version, profile: p, since: r.Since,
		window: newWindow(), conns: map[*conn]struct{}{}, seen: h.now(),
	}
	if r.Colors != nil {
		cl.colors = *r.Colors
	}
	if len(h.clients) >= h.limits.Clients {
		h.forgetClients()
	}
	h.clients[cl.id] = cl
	return nil
}

// restoreWindows makes the clients' windows of what all channels have accepted.
func (h *Host) restoreWindows(tx Tx) {
	seqs := map[*client][]int64{}
	for _, ch := range h.channels {
		for id, o := range ch.accepted {
			cl := h.clients[id]
			if cl == nil || o.Since != cl.since {
				continue
			}
			o.Each(windowSize, func(seq int64) { seqs[cl] = append(seqs[cl], seq) })
		}
	}
	for cl, all := range seqs {
		slices.Sort(all)
		for _, seq := range all {
			cl.window.note(seq, done{})
		}
	}
}
