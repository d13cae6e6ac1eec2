package host

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/activity"
	"tandemux/host/auth"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/host/keeper"
	"tandemux/host/requests"
	"tandemux/host/terminal"
	"tandemux/internal/jsonrpc"
)

// term is the body of a terminal's channel: what the host knows beyond what
// package terminal does. All but the immutable members is guarded by the lock.
type term struct {
	h     *Host
	ch    *core.Channel
	proc  string // the keeper's id, immutable
	shell string // the shell's path, empty for a command; immutable
	// sandbox is the session in whose sandbox the process runs, empty for most;
	// immutable.
	sandbox ahp.URI
	// engine names the emulator; immutable.
	engine string
	// identity is the process's, immutable once there is t.
	identity keeper.Identity
	keeper   *keeper.Client // that holds the process; nil when none does
	orphaned atomic.Bool    // see orphan.go
	t        *terminal.Terminal
	// follower must miss no output; it has a lock of its own.
	follower follower

	// value has no content: that is t's, so that appending output never copies
	// what is there.
	value ahp.TerminalState
	// auto is what the terminal is called while it has no name; see name.go.
	auto string
	meta ahp.TerminalMeta // Cwd and Layouts are filled in by infos
	// holder is the principal behind the claim: the client's, or the one that
	// drives the session. handBackHolder is that of meta.HandBack.
	holder         string
	handBackHolder string
	// lender is the client that the claim followed the keyboard away from; "" when
	// somebody has claimed since.
	lender string
	// colors are those that t was told last.
	colors emulator.Colors
	// requests are the clients' resizes and clears that t has yet to put into
	// the stream of actions, in order.
	requests []*core.By
	waits    []*wait
	asked    *ask        // an agent's question for it; nil when there is none
	typed    time.Time   // when the last input came
	begun    time.Time   // see inactivity.go
	idle     *time.Timer // see inactivity.go; nil when it does not run
	slot     *guard.Slot // its place under its agent's quota; nil for others
	place    string      // that of an earlier host's slot
	feed     *feeder     // nil when no command is fed
	used     *agentTerm  // an agent's use of it; nil when there is none
	ended    func(core.Tx, ahp.TerminalExited)
	read     time.Time // when the pty was read last; see giveWay

	attention activity.Terminal

	offset  uint64            // how far the pty's output has been taken
	takes   int               // counts what was taken
	shown   int64             // counts what changed the content
	scratch []core.Change     // reused
	dirty   bool              // facts have changed since they were journalled
	unborn  *journal.Journal  // the journal while there is no channel
	record  [1]journal.Record // reused
	runs    []ranKey          // with a key, the newest last
	queue   []record.Input    // inputs that are not written, and doubtful ones of an earlier host
}

// reduce keeps everything but the content.
func (t *term) Reduce(a ahp.Action) {
	switch a.(type) {
	case ahp.TerminalData, ahp.TerminalCleared:
		t.shown++
		return
	case ahp.TerminalCommandExecuted:
		t.noteCommand(a)
	case ahp.TerminalCommandFinished:
		t.noteCommand(a)
		t.unfollowed()
	case ahp.TerminalExited:
		t.unfollowed()
		t.slot.End()
		if t.t == nil { // being restored
			break
		}
		if e, ok := t.t.Exited(); ok {
			t.meta.Signal = e.Signal
		}
	}
	t.value = ahp.ReduceTerminal(t.value, a)
	t.value.Content = nil
}

func (t *term) Settle(tx core.Tx) { t.flush(tx) }

func (t *term) State(tx core.Tx) any { return t.stateWithin(tx, math.MaxInt) }

// stateWithin is the state with at most about limit bytes of content.
func (t *term) stateWithin(tx core.Tx, limit int) any {
	var content []ahp.Part
	for !t.drain(tx, func() (pending []ahp.Action, k terminal.Taken) {
		pending, k, content = t.t.Content(min(limit, terminal.MaxWire))
		return pending, k
	}) {
	}
	s := t.value
	s.Content = content
	return s
}

// claim transfers the terminal to a claim of p's; by is nil when the claim follows
// the keyboard. The caller has asked the policy.
func (t *term) claim(tx core.Tx, to ahp.Claim, by *core.By, p *auth.Principal) {
	from := t.value.Claim
	if t.transfer(tx, to, by, p); t.used != nil {
		t.used.taken(from, to)
	}
}

// transfer is claim where an agent that uses the terminal does not lose it.
func (t *term) transfer(tx core.Tx, to ahp.Claim, by *core.By, p *auth.Principal) {
	from, back := t.value.Claim, t.meta.HandBack
	holder := p.ID
	switch {
	case to.Kind == ahp.ClaimClient:
		if from.Kind == ahp.ClaimSession {
			t.meta.HandBack, t.handBackHolder = &from, t.holder
		}
	case sameSession(from, to): // narrowed or widened: the driver stays
		holder, to = t.holder, keepChat(from, to)
	case back != nil && sameSession(*back, to):
		holder, to = t.handBackHolder, keepChat(*back, to)
	}
	if to.Kind == ahp.ClaimSession {
		t.meta.HandBack, t.handBackHolder = nil, ""
	}
	t.lender = ""
	if by == nil && from.Kind == ahp.ClaimClient {
		t.lender = from.ClientID
	}
	// Before the action, which may send the list of terminals at once.
	t.holder, t.meta.Principal = holder, clientPrincipal(to, holder)
	t.noteAgent(to, p)
	t.dirty = true
	tx.Apply(t.ch, ahp.TerminalClaimed{Claim: to}, by)
	t.watchIdle(tx)
	t.recolor(tx)
}

// returnLoans gives back what a client that has gone got by typing: to the client
// of the same person that had it, if that is there. So a command line that types
// a line and ends leaves the terminal with the one in whose pane it is.
func (h *Host) returnLoans(tx core.Tx, gone *core.Client, p *auth.Principal) {
	for _, t := range h.terms {
		c := t.value.Claim
		if t.lender == "" || c.Kind != ahp.ClaimClient || c.ClientID != gone.ID {
			continue
		}
		if back := tx.Client(t.lender); back != nil && back.Owner == p.ID && back.Here() {
			t.claim(tx, ahp.Claim{Kind: ahp.ClaimClient, ClientID: back.ID}, nil, p)
			t.lender, t.dirty = "", true
		}
	}
}

// flush applies what the terminal has gathered.
func (t *term) flush(tx core.Tx) {
	if tx.Closed() || t.ch == nil {
		return
	}
	t.drain(tx, t.t.Take)
}

// drain applies what read takes from the terminal. The journal has room for it before
// it is taken: a checkpoint takes what there is too much of. It reports whether what
// else read gave is still of the latest instant: not so when something that follows
// from an action has taken again.
func (t *term) drain(tx core.Tx, read func() ([]ahp.Action, terminal.Taken)) bool {
	t.t.Bound(tx.Room(t.ch) / (1 + len(t.ch.URI)/256)) // each record has the URI in it
	actions, k := read()
	if k.Full {
		tx.MakeRoom(t.ch)
		t.t.Bound(math.MaxInt) // what came meanwhile
		actions, k = read()
	}
	return t.applyTaken(tx, actions, k)
}

// applyTaken applies what was taken from the terminal, and reports what drain does.
func (t *term) applyTaken(tx core.Tx, actions []ahp.Action, k terminal.Taken) bool {
	h := t.h
	t.takes++
	takes := t.takes
	moved := k.Offset != t.offset
	t.offset = k.Offset
	if len(actions) > 0 || moved || k.Facts != nil || len(k.Stream) > 0 {
		h.marks = k.Records(h.marks[:0])
		changes := t.changes(tx, actions)
		tx.ApplyAll(t.ch, changes, h.marks)
		clear(changes) // what they hold is others' from here on
	}
	t.Captured(tx)
	return takes == t.takes || tx.Fenced()
}

// maxChanges bounds term.scratch.
const maxChanges = 64

// changes says whose the terminal's actions are.
func (t *term) changes(tx core.Tx, actions []ahp.Action) []core.Change {
	all := t.scratch[:0]
	for _, a := range actions {
		c := core.Change{Action: a, Inner: told[a.ActionType()] != nil}
		switch a := a.(type) {
		case ahp.TerminalTitleChanged:
			if t.auto = a.Title; t.meta.Name != "" {
				t.h.listSoon(tx) // which alone tells it
				continue
			}
		case ahp.TerminalResized, ahp.TerminalCleared:
			if len(t.requests) > 0 {
				c.By, t.requests = t.requests[0], t.requests[1:]
			}
			if j := t.ch.Journal; j != nil { // What did not fit may do now.
				j.Retry = journal.Retry{}
			}
		case ahp.TerminalExited:
			if t.value.Lifecycle.Exited() { // An earlier host said so.
				continue
			}
		}
		all = append(all, c)
	}
	if len(all) <= maxChanges {
		t.scratch = all
	}
	return all
}

// Told answers those who wait for an action. It applies nothing.
func (t *term) Told(tx core.Tx, a ahp.Action) {
	defer func() { requests.Contain(t.h.log, "answer those who wait", recover(), "process", t.proc) }()
	switch a.(type) {
	case terminal.Declined:
		for _, w := range slices.Clone(t.waits) {
			w.declined(tx)
		}
		return
	case ahp.TerminalCommandFinished, ahp.TerminalExited:
		t.setFeed(tx, nil)
	}
	if len(t.waits) > 0 {
		t.observe(tx, a)
	}
	if t.used != nil {
		t.used.see(tx, a)
	}
}

// follow does what else follows from an action.
func (t *term) Follow(tx core.Tx, a ahp.Action) {
	defer func() { requests.Contain(t.h.log, "follow an action", recover(), "process", t.proc) }()
	if tell := told[a.ActionType()]; tell != nil {
		tell(tx, t, a)
		return
	}
	t.attend(tx, a)
	if listed[a.ActionType()] {
		defer t.h.listChanged(tx)
	}
	switch a.(type) {
	case ahp.TerminalClaimed, ahp.TerminalExited:
		t.h.sessions.FollowWork(tx, t.value, t.work())
	}
	if x, ok := a.(ahp.TerminalExited); ok && t.ended != nil {
		t.ended(tx, x)
	}
}

// attend has people told of an action that they may want to know of.
func (t *term) attend(tx core.Tx, a ahp.Action) {
	var typed time.Time
	if t.h.typist.into == t {
		typed = t.h.typist.at
	}
	t.h.activity.Follow(tx, t.ch.URI, &t.attention, a, typed)
}

// capture implements captured.
func (t *term) Capture(tx core.Tx, bare bool, buf *[]byte) (pending []core.Change, marks, records []journal.Record) {
	actions, k, records := t.t.Checkpoint(bare, buf)
	t.takes++
	t.offset = k.Offset
	return slices.Clone(t.changes(tx, actions)), k.Records(nil), append(records, t.queueRecord())
}

// shape implements captured.
func (t *term) Shape() any { return t.value }

// release implements captured.
func (t *term) Captured(tx core.Tx) {
	if !tx.Closed() {
		t.t.Released(t.offset)
	}
}

// Process implements core.Captured.
func (t *term) Process() (id string, maxJournal int) { return t.proc, t.h.limits.JournalBytes }

// resync has everybody who watches the terminal come back for its state: a panic may
// have kept an action from some of them.
func (t *term) resync(tx core.Tx) {
	if t.ch != nil {
		tx.Resync(t.ch, jsonrpc.CloseFailed, "the host failed at what this connection watches: reconnect")
	}
}

// wake is what terminals call when output is due. It is no lock of theirs that
// it runs under.
func (t *term) wake() {
	h := t.h
	defer func() {
		if requests.Contain(h.log, "apply output", recover(), "process", t.proc) {
			h.core.Locked(func(tx core.Tx) { t.resync(tx) })
		}
	}()
	h.core.Do(func(tx core.Tx) {
		if t.ch != nil && tx.Channel(t.ch.URI) == t.ch {
			t.flush(tx)
		}
	})
}

// work is the terminal as a chat's background work.
func (t *term) work() ahp.BackgroundWork {
	return ahp.BackgroundWork{
		ID: t.ch.URI, Label: t.value.Title, StartedAt: ahp.InstantOf(t.meta.Created), Kind: ahp.WorkShell,
		Command: strings.Join(t.meta.Command, " "), Terminal: t.ch.URI,
	}
}

// termAt finds a terminal.
func termAt(tx core.Tx, uri ahp.URI) (*term, bool) {
	ch := tx.Channel(uri)
	if ch == nil {
		return nil, false
	}
	t, ok := ch.Body.(*term)
	return t, ok
}

// addTerm makes a started terminal known, with its journal.
func (h *Host) addTerm(tx core.Tx, uri ahp.URI, t *term, j *journal.Journal) {
	t.ch = tx.NewChannel(uri, t)
	t.ch.Journal = j
	h.terms = append(h.terms, t)
	t.watchIdle(tx)
	t.recolor(tx)
	tx.Checkpoint(t.ch)
	t.flush(tx)
	t.h.listChanged(tx)
}

// removeTerm forgets a terminal; its process may still be ending. Subscribers
// see it exit, then nothing more.
func (t *term) removeTerm(tx core.Tx) {
	h := t.h
	t.flush(tx)
	t.endWaits(tx) // Before what would look to them like an exit.
	if !t.value.Lifecycle.Exited() {
		tx.Apply(t.ch, ahp.TerminalExited{}, nil)
	}
	t.letAgentGo(tx)
	t.setFeed(tx, nil)
	h.activity.Forget(tx, t.ch.URI)
	tx.RemoveChannel(t.ch)
	if i := slices.Index(h.terms, t); i >= 0 {
		h.terms = slices.Delete(h.terms, i, i+1)
	}
	h.listChanged(tx)
}

// processes follows the keeper's children: which of them belong to which
// terminal, and how they ended.
type processes struct {
	terms map[string]*term
	// early holds exits of children that ended while they were being made into
	// a terminal; nil marks one that has not.
	early map[string]*keeper.Exit
}

// end kills a removed terminal's process and lets go of everything. The journal
// goes last: it says that the terminal is no more.
func (t *term) end(ctx context.Context) {
	h := t.h
	if err := t.t.Kill(ctx); err != nil {
		h.log.Warn("end terminal", "process", t.proc, "err", err)
	}
	t.t.Close()
	forgotten := h.forget(ctx, t.proc)
	<-t.t.Done()
	tx := h.core.Lock()
	names := t.journal(tx).Close()
	tx.Unlock()
	if forgotten {
		h.journals.Discard(names...)
	}
}

// journal is the terminal's journal, nil when it has none.
func (t *term) journal(tx core.Tx) *journal.Journal {
	if t.ch == nil {
		return t.unborn
	}
	return t.ch.Journal
}

// forget has the keeper forget a process and reports whether it has.
func (h *Host) forget(ctx context.Context, proc string) bool {
	tx := h.core.Lock()
	delete(h.procs.terms, proc)
	delete(h.procs.early, proc)
	tx.Unlock()
	ctx, cancel := context.WithTimeout(ctx, spawnTime)
	defer cancel()
	err := h.keeper().Forget(ctx, proc)
	if err == nil || errors.Is(err, keeper.ErrUnknown) {
		return true
	}
	if !h.isClosing() {
		h.log.Warn("forget process", "process", proc, "err", err)
	}
	return false
}
