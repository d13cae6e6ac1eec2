package host

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/auth"
	"tandemux/host/guard"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/host/keeper"
	"tandemux/host/terminal"
)

// term is the body of a terminal's channel: what the host knows beyond what
// package terminal does. All but the immutable members is guarded by h.mu.
type term struct {
	h     *Host
	ch    *channel
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
	requests []*dispatched
	waits    []*wait
	asked    *ask        // an agent's question for it; nil when there is none
	typed    time.Time   // when the last input came
	begun    time.Time   // see inactivity.go
	idle     *time.Timer // see inactivity.go; nil when it does not run
	slot     *guard.Slot // its place under its agent's quota; nil for others
	place    string      // that of an earlier host's slot
	feed     *feeder     // nil when no command is fed
	used     *agentTerm  // an agent's use of it; nil when there is none
	ended    func(Tx, ahp.TerminalExited)
	read     time.Time // when the pty was read last; see giveWay

	attention attention

	offset  uint64            // how far the pty's output has been taken
	takes   int               // counts what was taken
	shown   int64             // counts what changed the content
	scratch []change          // reused
	dirty   bool              // facts have changed since they were journalled
	unborn  *journal.Journal  // the journal while there is no channel
	record  [1]journal.Record // reused
	runs    []ranKey          // with a key, the newest last
	queue   []record.Input    // inputs that are not written, and doubtful ones of an earlier host
}

// reduce keeps everything but the content.
func (t *term) reduce(a ahp.Action) {
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

func (t *term) settle(tx Tx) { t.flush(tx) }

func (t *term) state(tx Tx) any { return t.stateWithin(tx, math.MaxInt) }

// stateWithin is the state with at most about limit bytes of content.
func (t *term) stateWithin(tx Tx, limit int) any {
	for {
		pending, k, content := t.t.ContentWithin(min(limit, terminal.MaxWire))
		if t.applyTaken(tx, pending, k) {
			s := t.value
			s.Content = content
			return s
		}
	}
}

// claim transfers the terminal to a claim of p's; by is nil when the claim follows
// the keyboard. The caller has asked the policy.
func (t *term) claim(tx Tx, to ahp.Claim, by *dispatched, p *auth.Principal) {
	h := t.h
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
	h.apply(tx, t.ch, ahp.TerminalClaimed{Claim: to}, by)
	t.watchIdle(tx)
	t.recolor(tx)
}

// returnLoans gives back what a client that has gone got by typing: to the client
// of the same person that had it, if that is there. So a command line that types
// a line and ends leaves the terminal with the one in whose pane it is.
func (h *Host) returnLoans(tx Tx, gone *client, p *auth.Principal) {
	for _, t := range h.terms {
		c := t.value.Claim
		if t.lender == "" || c.Kind != ahp.ClaimClient || c.ClientID != gone.id {
			continue
		}
		if back, ok := t.h.clients[t.lender]; ok && back.principal == p.ID && len(back.conns) > 0 {
			t.claim(tx, ahp.Claim{Kind: ahp.ClaimClient, ClientID: back.id}, nil, p)
			t.lender, t.dirty = "", true
		}
	}
}

// flush applies what the terminal has gathered.
func (t *term) flush(tx Tx) {
	h := t.h
	if h.dead || t.ch == nil {
		return
	}
	actions, k := t.t.Take()
	t.applyTaken(tx, actions, k)
}

// applyTaken applies what was taken from a terminal. It reports whether that is
// still all: not so when a checkpoint had to be made, which takes again.
func (t *term) applyTaken(tx Tx, actions []ahp.Action, k terminal.Taken) bool {
	h := t.h
	t.takes++
	takes := t.takes
	moved := k.Offset != t.offset
	t.offset = k.Offset
	if len(actions) > 0 || moved || k.Facts != nil || len(k.Stream) > 0 {
		h.marks = k.Records(h.marks[:0])
		changes := t.changes(tx, actions)
		h.applyAll(tx, t.ch, changes, h.marks)
		clear(changes) // what they hold is others' from here on
	}
	t.release()
	return takes == t.takes || h.fenced
}

// changes says whose the terminal's actions are.
func (t *term) changes(tx Tx, actions []ahp.Action) []change {
	all := t.scratch[:0]
	for _, a := range actions {
		c := change{action: a}
		switch a := a.(type) {
		case ahp.TerminalTitleChanged:
			if t.auto = a.Title; t.meta.Name != "" {
				t.h.listSoon(tx) // which alone tells it
				continue
			}
		case ahp.TerminalResized, ahp.TerminalCleared:
			if len(t.requests) > 0 {
				c.by, t.requests = t.requests[0], t.requests[1:]
			}
			if j := t.ch.journal; j != nil { // What did not fit may do now.
				j.Retry = journal.Retry{}
			}
		case ahp.TerminalExited:
			if t.value.Lifecycle.Exited() { // An earlier host said so.
				continue
			}
		}
		all = append(all, c)
	}
	if len(all) <= maxFrames {
		t.scratch = all
	}
	return all
}

// answerWaits answers those who wait for an action. It applies nothing.
func (t *term) answerWaits(tx Tx, a ahp.Action) {
	defer func() { t.h.contain("answer those who wait", recover(), "process", t.proc) }()
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
func (t *term) follow(tx Tx, a ahp.Action) {
	defer func() { t.h.contain("follow an action", recover(), "process", t.proc) }()
	if tell := told[a.ActionType()]; tell != nil {
		tell(tx, t, a)
		return
	}
	t.noteAttention(tx, a)
	t.h.sessions.followWork(tx, t, a)
	if x, ok := a.(ahp.TerminalExited); ok && t.ended != nil {
		t.ended(tx, x)
	}
}

// capture implements captured.
func (t *term) capture(tx Tx, bare bool, buf *[]byte) (pending []change, marks, records []journal.Record) {
	actions, k, records := t.t.Checkpoint(bare, buf)
	t.takes++
	t.offset = k.Offset
	return slices.Clone(t.changes(tx, actions)), k.Records(nil), append(records, t.queueRecord())
}

// shape implements captured.
func (t *term) shape() any { return t.value }

// release implements captured.
func (t *term) release() {
	if !t.h.dead {
		t.t.Released(t.offset)
	}
}

// wake is what terminals call when output is due. It is no lock of theirs that
// it runs under.
func (t *term) wake() {
	h := t.h
	defer func() {
		if h.contain("apply output", recover(), "process", t.proc) {
			h.locked(func(tx Tx) { t.h.resync(tx, t.ch) })
		}
	}()
	h.turn(func(tx Tx) {
		if t.ch != nil && h.channels[t.ch.uri] == t.ch {
			t.flush(tx)
		}
	})
}

// termAt finds a terminal.
func (h *Host) termAt(tx Tx, uri ahp.URI) (*term, bool) {
	ch, ok := h.channels[uri]
	if !ok {
		return nil, false
	}
	t, ok := ch.body.(*term)
	return t, ok
}

// addTerm makes a started terminal known, with its journal.
func (h *Host) addTerm(tx Tx, uri ahp.URI, t *term, j *journal.Journal) {
	t.ch = h.newChannel(tx, uri, t)
	t.ch.journal = j
	h.terms = append(h.terms, t)
	t.watchIdle(tx)
	t.recolor(tx)
	if j != nil {
		more, _ := h.checkpoint(tx, t.ch, false)
		h.deliver(tx, t.ch, more)
	}
	t.flush(tx)
	t.h.listChanged(tx)
}

// removeTerm forgets a terminal; its process may still be ending. Subscribers
// see it exit, then nothing more.
func (t *term) removeTerm(tx Tx) {
	h := t.h
	t.flush(tx)
	t.endWaits(tx) // Before what would look to them like an exit.
	if !t.value.Lifecycle.Exited() {
		h.apply(tx, t.ch, ahp.TerminalExited{}, nil)
	}
	t.letAgentGo(tx)
	t.setFeed(tx, nil)
	h.activity.forget(tx, t)
	h.removeChannel(tx, t.ch)
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
	tx := h.lock()
	names := t.journal(tx).Close()
	tx.unlock()
	if forgotten {
		h.journals.Discard(names...)
	}
}

// journal is the terminal's journal, nil when it has none.
func (t *term) journal(tx Tx) *journal.Journal {
	if t.ch == nil {
		return t.unborn
	}
	return t.ch.journal
}

// forget has the keeper forget a process and reports whether it has.
func (h *Host) forget(ctx context.Context, proc string) bool {
	tx := h.lock()
	delete(h.procs.terms, proc)
	delete(h.procs.early, proc)
	tx.unlock()
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
