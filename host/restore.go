package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/auth"
	"tandemux/host/journal"
	"tandemux/host/keeper"
)

// restoreTime bounds the making of all that an earlier host left.
const restoreTime = time.Minute

// found is a journal that an earlier host left with the keeper.
type found struct {
	wal    *wal
	memory *memory
	spare  bool
	lands  bool // a pty is read into it
}

// estate is all of them.
type estate struct {
	terms    map[string]*found // by the child's id
	channels []*found          // that are no terminals: the root channel, then the oldest
	spares   []*found
	stale    []*found // nobody needs them
}

// divide says what each journal is.
func divide(all []*found, children []keeper.Info) estate {
	e := estate{terms: map[string]*found{}}
	lives := map[string]bool{}
	for _, c := range children {
		lives[c.ID] = true
	}
	channels := map[ahp.URI]*found{}
	for _, f := range all {
		id, _, _ := strings.Cut(f.wal.name, " ")
		m := f.memory
		switch {
		case lives[id]:
			var left *found
			if e.terms[id], left = newest(e.terms[id], f); left != nil {
				e.stale = append(e.stale, left)
			}
		case f.spare:
			e.spares = append(e.spares, f)
		case m.state == nil, m.removed, m.Process != "":
			e.stale = append(e.stale, f)
		default:
			var left *found
			if channels[m.Channel], left = newest(channels[m.Channel], f); left != nil {
				e.stale = append(e.stale, left)
			}
		}
	}
	e.channels = slices.SortedFunc(maps.Values(channels), func(a, b *found) int {
		if root := a.memory.Channel == ahp.RootURI; root != (b.memory.Channel == ahp.RootURI) {
			return map[bool]int{true: -1, false: 1}[root]
		}
		return cmp.Compare(a.memory.Made, b.memory.Made)
	})
	return e
}

// newest gives the journal that replaced the other, of two of one channel, and what
// is of no more use: not the one that the terminal's pty is read into. a may be nil.
func newest(a, b *found) (f, left *found) {
	switch {
	case a == nil:
		return b, nil
	case b.memory.state == nil || a.memory.state != nil && a.memory.Made > b.memory.Made:
		a, b = b, a
	}
	switch {
	case a.wal.landing != nil:
		b.wal.landing, a.wal.landing = a.wal.landing, nil
	case a.lands:
		b.wal.landing = a.wal
		return b, nil
	}
	return b, a
}

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
	e := divide(all, children)
	tx := h.lock()
	for _, f := range all {
		h.seq.last = max(h.seq.last, f.memory.newest)
	}
	for _, f := range e.channels {
		if err := tx.revive(f); err != nil {
			h.log.Error("restore a channel", "channel", f.memory.Channel, "err", err)
			e.stale = append(e.stale, f)
		}
	}
	for i, f := range e.spares {
		if i < keptSpares {
			h.spares = append(h.spares, f.wal)
		} else {
			e.stale = append(e.stale, f)
		}
	}
	for _, f := range e.stale {
		h.drop(tx, f.wal)
	}
	tx.unlock()
	terms := h.adoptAll(ctx, children, e.terms)
	tx = h.lock()
	h.list.held = true
	for _, a := range terms {
		tx.rejoin(a)
	}
	h.list.held = false
	h.listChanged(tx)
	tx.restoreWindows()
	for _, a := range terms {
		tx.doubt(a.t)
	}
	tx.reviveSessions()
	for _, ch := range h.channels {
		if b, ok := ch.body.(revived); ok {
			b.revived(tx)
		}
	}
	n := len(h.channels)
	tx.unlock()
	h.storeSpool(ctx)
	if err := h.prepareJournals(); err != nil {
		h.warn("journals", err)
	}
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

// prepareJournals makes those that are needed at once.
func (h *Host) prepareJournals() error {
	tx := h.lock()
	want := keptSpares - len(h.spares)
	tx.unlock()
	for range want {
		w, err := h.newSpare()
		if err != nil {
			w.close()
			return err
		}
		h.locked(func(Tx) { h.spares = append(h.spares, w) })
	}
	tx = h.lock()
	defer tx.unlock()
	tx.keep(h.root.ch)
	h.refill(tx)
	return nil
}

// newSpare makes a spare journal that the keeper has.
func (h *Host) newSpare() (*wal, error) {
	w, err := h.newWAL(spareName, smallArea, 0)
	if err == nil {
		err = h.handFile(w, w.takeFile())
	}
	return w, err
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
func (h *Host) openAll(ctx context.Context, files []keeper.FileInfo) []*found {
	all := make([]*found, len(files))
	each(len(files), func(i int) {
		f, err := h.openJournal(ctx, files[i].Name)
		if err != nil {
			h.log.Error("open a journal", "err", err)
		}
		all[i] = f
	})
	return slices.DeleteFunc(all, func(f *found) bool { return f == nil })
}

func (h *Host) openJournal(ctx context.Context, name string) (*found, error) {
	file, err := h.keeper().Fetch(ctx, name)
	if err != nil {
		return nil, err
	}
	j, r, err := journal.Adopt(file)
	if err != nil {
		h.locked(func(tx Tx) { h.drop(tx, &wal{name: name}) })
		return nil, err
	}
	j.File.Close()
	j.File = nil
	f := &found{memory: readMemory(r), lands: j.Landing.Size() > 0, wal: &wal{name: name, j: j, bare: !r.Whole}}
	f.wal.made = f.memory.Made
	f.spare = r.Name == spareName && f.memory.state == nil
	return f, nil
}

// drop discards a journal, in the background.
func (h *Host) drop(tx Tx, w *wal) {
	names := w.close()
	h.ending.Add(1)
	go func() {
		defer h.ending.Done()
		h.discard(names...)
	}()
}

// revive makes a channel that is no terminal.
func (tx Tx) revive(f *found) error {
	m := f.memory
	make, known := channelKind(m.Channel)
	if !known {
		return errors.New("this version has no such channels")
	}
	ch := tx.newChannel(tx, m.Channel, nil)
	body, err := make(tx.Host, ch, m.state)
	if err == nil {
		if p, ok := body.(private); ok && m.private != nil {
			err = p.know(m.private)
		}
	}
	if err != nil {
		delete(tx.channels, m.Channel)
		return err
	}
	ch.body = body
	for _, e := range m.log {
		switch {
		case e.env.Action != nil:
			body.reduce(e.env.Action)
		case e.kind == recPrivate:
			if p, ok := body.(private); ok {
				err = p.know(e.data)
			}
		case e.kind == recClient && ch.uri == ahp.RootURI:
			err = tx.knowClient(e.data)
		}
		if err != nil {
			m.spoil(err)
			break
		}
	}
	tx.resume(tx, ch, f.wal, m)
	return nil
}

// resume makes a channel go on with its journal.
func (h *Host) resume(tx Tx, ch *channel, w *wal, m *memory) {
	ch.wal, ch.last = w, m.lastLogged()
	if m.damage != nil {
		// Clients may have seen what is lost, and what follows may come anew: they
		// are given states. The sequence has begun above all that they know.
		ch.log.floor = h.seq.last
	} else {
		es, floor := m.replay()
		ch.log.floor = floor
		for _, e := range es {
			ch.log.add(e)
		}
	}
	for id, o := range m.Origins {
		ch.accepted.set(id, o)
	}
	for o := range m.undone {
		ch.accepted.remove(o.ClientID, o.ClientSeq)
	}
	for _, e := range m.log {
		o := e.env.Origin
		if e.kind == recInput {
			o = &e.input.origin
		}
		if o == nil || m.undone[*o] {
			continue
		}
		if cl := h.clients[o.ClientID]; cl != nil && e.seq >= cl.since {
			ch.accepted.note(o.ClientID, cl.since, o.ClientSeq, e.seq)
		}
	}
	if m.damage != nil {
		h.log.Warn("a journal was damaged", "channel", ch.uri, "err", m.damage)
		if _, is := ch.body.(*term); !is {
			h.checkpoint(tx, ch, false)
		}
	}
}

// adoptAll makes all terminals, oldest first. The caller holds no lock.
func (h *Host) adoptAll(ctx context.Context, children []keeper.Info, terms map[string]*found) []*adopted {
	all := make([]*adopted, len(children))
	each(len(children), func(i int) {
		info := children[i]
		f := terms[info.ID]
		if f != nil && f.memory.removed { // The last host was about to end it.
			h.finish(info.ID, f.wal)
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
func (h *Host) finish(proc string, w *wal) {
	tx := h.lock()
	names := w.close()
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
		h.discard(names...)
	}()
}

// rejoin makes an adopted terminal known.
func (tx Tx) rejoin(a *adopted) {
	t := a.t
	for n := 2; tx.channels[a.uri] != nil; n++ { // Only the keeper's notes can be at odds.
		a.uri = fmt.Sprintf("%s:/%s-%d", "ahp-terminal", t.proc, n)
	}
	if tx.nameTaken(auth.Operator, t.meta.Name, a.uri) != "" {
		t.meta.Name = "" // the keeper's note is older than what the others have
	}
	t.ch = tx.newChannel(tx, a.uri, t)
	tx.terms = append(tx.terms, t)
	defer tx.retitle(t)
	defer tx.noteQueue(tx, t)
	tx.procs.terms[t.proc] = t
	defer tx.retake(t)
	if a.m != nil && a.m.state != nil {
		tx.resume(tx, t.ch, a.wal, a.m)
	} else {
		t.ch.wal = a.wal
	}
	if t.ch.wal == nil {
		tx.flush(tx, t)
		return
	}
	// What was not typed must not be accepted for the next host either.
	if a.damage != nil || a.m == nil || a.m.state == nil || len(a.m.undone) > 0 {
		more, _ := tx.checkpoint(tx, t.ch, false)
		tx.deliver(tx, t.ch, more)
		return
	}
	tx.flush(tx, t)
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
func (tx Tx) noteClient(cl *client) {
	r, err := newRecord(recClient, tx.seq.last, cl.record())
	if err != nil {
		return
	}
	tx.applyAll(tx, tx.root.ch, nil, []journal.Record{r})
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
func (tx Tx) restoreWindows() {
	seqs := map[*client][]int64{}
	for _, ch := range tx.channels {
		for id, o := range ch.accepted {
			cl := tx.clients[id]
			if cl == nil || o.Since != cl.since {
				continue
			}
			o.each(windowSize, func(seq int64) { seqs[cl] = append(seqs[cl], seq) })
		}
	}
	for cl, all := range seqs {
		slices.Sort(all)
		for _, seq := range all {
			cl.window.note(seq, done{})
		}
	}
}
