package terminals

import (
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"tandemux/ahp"
	"tandemux/emulator"
	"tandemux/host/activity"
	"tandemux/host/auth"
	"tandemux/host/claims"
	"tandemux/host/core"
	"tandemux/host/guard"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/host/keeper"
	"tandemux/host/requests"
	"tandemux/host/terminal"
	"tandemux/internal/jsonrpc"
)

// Terminal is the body of a terminal's channel: what the host knows of it beyond package
// terminal. The lock guards all members but the immutable ones.
type Terminal struct {
	ts *Terminals
	ch *core.Channel
	process
	Term *terminal.Terminal // set before the terminal has a channel, then immutable
	// follower has its own lock.
	follower follower

	// Value has no content. Term has that, so that appending output copies nothing.
	Value ahp.TerminalState
	// auto is the title while the terminal has no name; see name.go.
	auto string
	Meta ahp.TerminalMeta // Cwd and Layouts are filled in by infos
	holding
	typing
	taking
	idling
	counted

	watchers  []Watcher
	feed      *Feeder // feeds the command's stdin, or nil
	attention activity.Terminal

	dirty  bool             // facts have changed since they were journalled
	unborn *journal.Journal // the journal while there is no channel
}

// process is what a terminal runs. All but the last two members are immutable.
type process struct {
	proc  string // the keeper's id
	shell string // the shell's path, empty for a command
	// sandbox is the session in whose sandbox the process runs, empty for most.
	sandbox ahp.URI
	// engine names the emulator.
	engine   string
	identity keeper.Identity // set together with Terminal.Term
	keeper   *keeper.Client  // the keeper of the process, or nil
	orphaned atomic.Bool     // see keeper.go
}

// holding is who holds a terminal.
type holding struct {
	claims.Owner
	last claims.Last
	// colors are the last that Term was given.
	colors emulator.Colors
	used   User // the agent below the host that uses the terminal, or nil
}

// typing is what clients do to a terminal.
type typing struct {
	// requests is the origins of clients' resizes and clears whose actions have not been
	// taken from Term yet, in order.
	requests []*core.By
	typed    time.Time         // when the last input came
	line     guard.Typed       // the incomplete line that an agent has typed
	runs     []ranKey          // runs with a key, the newest last
	queue    []record.Input    // inputs that are not written, and doubtful ones of an earlier host
	record   [1]journal.Record // reused
}

// taking is how far a terminal's output has been taken from Term.
type taking struct {
	read    time.Time     // when the pty was read last; see giveWay
	offset  uint64        // offset in the pty's output up to which it was taken
	takes   int           // counts takes
	scratch []core.Change // reused
}

// idling is since when a terminal has nothing to do; see inactivity.go.
type idling struct {
	begun   time.Time
	present time.Time   // when its agent was connected last
	idle    *time.Timer // nil while it does not run
}

// counted is a terminal's place under its agent's quota.
type counted struct {
	slot  *guard.Slot // nil if the terminal counts in no quota
	place string      // name of the slot in an earlier host
}

// Watcher sees what a terminal does, in order, until Unwatch.
type Watcher interface {
	// Told and Follow are core.Watcher's.
	Told(tx core.Tx, a ahp.Action)
	Follow(tx core.Tx, a ahp.Action)
	// Gone is called when the terminal is removed.
	Gone(tx core.Tx)
}

// User is an agent below the host that uses a terminal.
type User interface {
	// Taken is called when another principal has claimed the terminal.
	Taken(tx core.Tx, from, to ahp.Claim)
}

// Watch adds a watcher.
func (t *Terminal) Watch(tx core.Tx, w Watcher) { t.watchers = append(t.watchers, w) }

// Unwatch removes a watcher.
func (t *Terminal) Unwatch(tx core.Tx, w Watcher) {
	t.watchers = slices.DeleteFunc(t.watchers, func(o Watcher) bool { return o == w })
	t.begun = time.Now()
}

// UsedBy sets the agent below the host that uses a new terminal, and the agent's label.
func (t *Terminal) UsedBy(tx core.Tx, u User, label string) { t.used, t.Meta.Agent = u, label }

// URI is the URI of the terminal's channel. It needs no lock.
func (t *Terminal) URI() ahp.URI { return t.ch.URI }

// Shell is the path of the terminal's shell, empty for a command. It needs no lock.
func (t *Terminal) Shell() string { return t.shell }

// Last is the number of the last action.
func (t *Terminal) Last(core.Tx) int64 { return t.ch.Last() }

// Since returns the actions after a number; ok is false when some of them are no longer known.
// The result is valid until the next action.
func (t *Terminal) Since(tx core.Tx, seq int64) (es []ahp.Envelope, ok bool) { return t.ch.Since(seq) }

// Removed reports whether the terminal was removed.
func (t *Terminal) Removed(tx core.Tx) bool { return tx.Channel(t.ch.URI) != t.ch }

// ExitCode is the exit code of the process (128+n for signal n), nil while it is not known.
func (t *Terminal) ExitCode(core.Tx) *int {
	if e, ok := t.Term.Exited(); ok && !e.Unknown {
		return &e.Code
	}
	return t.Value.Lifecycle.ExitCode
}

// PresentLine applies what is pending, and returns the cursor's line up to the cursor.
func (t *Terminal) PresentLine(tx core.Tx) (line string) {
	for !t.Drain(tx, func() (pending []ahp.Action, k terminal.Taken) {
		pending, k, line = t.Term.PresentLine()
		return pending, k
	}) {
	}
	return line
}

// Reduce implements core.Body. It folds everything but the content, which is Term's.
func (t *Terminal) Reduce(a ahp.Action) {
	switch a.(type) {
	case ahp.TerminalData, ahp.TerminalCleared:
		return
	case ahp.TerminalCommandExecuted:
		t.noteCommand(a)
	case ahp.TerminalCommandFinished:
		t.noteCommand(a)
		t.clearFollower()
	case ahp.TerminalExited:
		t.clearFollower()
		t.slot.End()
		t.begun = time.Now()
		if t.Term == nil { // it is being restored
			break
		}
		if e, ok := t.Term.Exited(); ok {
			t.Meta.Signal = e.Signal
		}
	}
	t.Value = ahp.ReduceTerminal(t.Value, a)
	t.Value.Content = nil
}

func (t *Terminal) Settle(tx core.Tx) { t.Flush(tx) }

func (t *Terminal) State(tx core.Tx) any { return t.StateWithin(tx, math.MaxInt) }

// StateWithin is the state with at most about limit bytes of content.
func (t *Terminal) StateWithin(tx core.Tx, limit int) any {
	var content []ahp.Part
	for !t.Drain(tx, func() (pending []ahp.Action, k terminal.Taken) {
		pending, k, content = t.Term.Content(min(limit, terminal.MaxWire))
		return pending, k
	}) {
	}
	s := t.Value
	s.Content = content
	return s
}

// Screen implements core.Skimmed.
func (t *Terminal) Screen(tx core.Tx) any { return t.StateWithin(tx, 0) }

// Held is who holds the terminal.
func (t *Terminal) Held() claims.Holding {
	return claims.Holding{Claim: t.Value.Claim, HandBack: t.Meta.HandBack, Owner: t.Owner, Last: t.last}
}

// MayType decides terminal/input (claims.Holding.MayType).
func (t *Terminal) MayType(tx core.Tx, p *auth.Principal, clientID string) (follow bool, refusal string) {
	if t.Value.Lifecycle.Exited() {
		return false, "the terminal's process has ended"
	}
	return t.Held().MayType(p, clientID, t.ts.Host.SessionOwner(tx, t.Value.Claim.Session) != "")
}

// Claim transfers the terminal to a claim of p's; by is nil when the claim follows the
// keyboard. The caller has checked that p may.
func (t *Terminal) Claim(tx core.Tx, to ahp.Claim, by *core.By, p *auth.Principal) {
	from := t.Value.Claim
	t.last = claims.Last{Before: tx.Seq(), By: p.ID}
	tx.Changes(t.ch, tx.Channel(ahp.RootURI), p.ID)
	if t.transfer(tx, to, by, p); t.used != nil {
		t.used.Taken(tx, from, to)
	}
}

// transfer is Claim, but an agent that uses the terminal keeps it.
func (t *Terminal) transfer(tx core.Tx, to ahp.Claim, by *core.By, p *auth.Principal) {
	next := t.Held().Transfer(to, p, by == nil)
	// Set these before the action, which may send the list of terminals at once.
	t.Owner, t.Meta.HandBack, t.Meta.Principal = next.Owner, next.HandBack, next.Told(to)
	t.noteAgent(to, p)
	t.dirty = true
	tx.Apply(t.ch, ahp.TerminalClaimed{Claim: next.Claim}, by)
	t.watchIdle(tx)
	t.recolor(tx)
}

// ForgetHandBack removes the session claim that the terminal could be handed back to.
func (t *Terminal) ForgetHandBack(tx core.Tx) {
	t.Meta.HandBack, t.HandBackHolder, t.dirty = nil, "", true
	tx.ApplyAll(t.ch, nil, nil)
	t.ts.Changed(tx)
}

// returnLoans gives back terminals that a client which has gone got by typing. They go to the
// client of the same person that had them, if that is connected. So after a CLI command that
// types a line, the terminal belongs again to the interface whose pane shows it.
func (ts *Terminals) returnLoans(tx core.Tx, gone *core.Client, p *auth.Principal) {
	for _, t := range ts.all {
		c := t.Value.Claim
		if t.Lender == "" || c.Kind != ahp.ClaimClient || c.ClientID != gone.ID {
			continue
		}
		if back := tx.Client(t.Lender); back != nil && back.Owner == p.ID && back.Here() {
			who := p
			for l := range back.Links() {
				who = l.Principal
			}
			t.Claim(tx, ahp.Claim{Kind: ahp.ClaimClient, ClientID: back.ID}, nil, who)
			t.Lender, t.dirty = "", true
		}
	}
}

// Flush applies what is pending in the terminal.
func (t *Terminal) Flush(tx core.Tx) {
	if tx.Closed() || t.ch == nil {
		return
	}
	t.Drain(tx, t.Term.Take)
}

// Drain applies what read takes from the terminal. It first makes sure that the journal has
// room: if too much is pending, it makes a checkpoint, which includes that. It returns false
// if, while the actions were applied, more was taken, so that other results of read are
// outdated.
func (t *Terminal) Drain(tx core.Tx, read func() ([]ahp.Action, terminal.Taken)) bool {
	t.Term.Bound(tx.Room(t.ch) / (1 + len(t.ch.URI)/256)) // each record has the URI in it
	actions, k := read()
	if k.Full {
		tx.MakeRoom(t.ch)
		t.Term.Bound(math.MaxInt) // for what came after the checkpoint
		actions, k = read()
	}
	return t.applyTaken(tx, actions, k)
}

// applyTaken applies what was taken from the terminal. Its result is Drain's.
func (t *Terminal) applyTaken(tx core.Tx, actions []ahp.Action, k terminal.Taken) bool {
	ts := t.ts
	t.takes++
	takes := t.takes
	moved := k.Offset != t.offset
	t.offset = k.Offset
	if len(actions) > 0 || moved || k.Facts != nil || len(k.Stream) > 0 {
		ts.marks = k.Records(ts.marks[:0])
		changes := t.changes(tx, actions)
		tx.ApplyAll(t.ch, changes, ts.marks)
		clear(changes) // keep no references
	}
	t.Captured(tx)
	return takes == t.takes || tx.Fenced()
}

// maxChanges bounds taking.scratch.
const maxChanges = 64

// changes attaches the origins to actions that were taken from the terminal.
func (t *Terminal) changes(tx core.Tx, actions []ahp.Action) []core.Change {
	all := t.scratch[:0]
	for _, a := range actions {
		c := core.Change{Action: a, Inner: inner(a)}
		switch a := a.(type) {
		case ahp.TerminalTitleChanged:
			if t.auto = a.Title; t.Meta.Name != "" {
				t.ts.ListSoon(tx) // only the list shows it
				continue
			}
		case ahp.TerminalResized, ahp.TerminalCleared:
			r, _ := a.(ahp.TerminalResized)
			if len(t.requests) > 0 && !r.Own {
				c.By, t.requests = t.requests[0], t.requests[1:]
			}
			if j := t.ch.Journal; j != nil { // what did not fit may fit now
				j.Retry = journal.Retry{}
			}
		case ahp.TerminalExited:
			if t.Value.Lifecycle.Exited() { // an earlier host has applied it
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

// Told implements core.Watcher.
func (t *Terminal) Told(tx core.Tx, a ahp.Action) {
	defer func() { requests.Contain(t.ts.Log, "answer those who wait", recover(), "process", t.proc) }()
	switch a.(type) {
	case ahp.TerminalCommandFinished, ahp.TerminalExited:
		t.SetFeed(tx, nil)
	}
	for _, w := range slices.Clone(t.watchers) {
		w.Told(tx, a)
	}
}

// Follow implements core.Watcher.
func (t *Terminal) Follow(tx core.Tx, a ahp.Action) {
	defer func() { requests.Contain(t.ts.Log, "follow an action", recover(), "process", t.proc) }()
	var typed time.Time
	if t.ts.typist.into == t {
		typed = t.ts.typist.at
	}
	t.ts.Activity.Follow(tx, t.ch.URI, &t.attention, a, typed)
	if listed[a.ActionType()] {
		defer t.ts.Changed(tx)
	}
	switch a.(type) {
	case ahp.TerminalClaimed, ahp.TerminalExited:
		t.ts.Host.FollowWork(tx, t.Value, t.work())
	}
	for _, w := range slices.Clone(t.watchers) {
		w.Follow(tx, a)
	}
}

// inner reports whether an action stays in the host (core.Change.Inner).
func inner(a ahp.Action) bool {
	switch a.(type) {
	case terminal.Declined, terminal.Ready, terminal.Noticed:
		return true
	}
	return false
}

// Capture implements core.Captured.
func (t *Terminal) Capture(tx core.Tx, bare bool, buf *[]byte) (pending []core.Change, marks, records []journal.Record) {
	actions, k, records := t.Term.Checkpoint(bare, buf)
	t.takes++
	t.offset = k.Offset
	return slices.Clone(t.changes(tx, actions)), k.Records(nil), append(records, t.queueRecord())
}

// Pack implements core.Captured.
func (t *Terminal) Pack() (more bool) { return t.Term.Pack() }

// Share implements core.Captured.
func (t *Terminal) Share(saved []byte) { t.Term.Share(saved) }

// Shape implements core.Captured.
func (t *Terminal) Shape() any { return t.Value }

// Captured implements core.Captured.
func (t *Terminal) Captured(tx core.Tx) {
	if !tx.Closed() {
		t.Term.Released(t.offset)
	}
}

// Process implements core.Captured.
func (t *Terminal) Process() (id string, maxJournal int) { return t.proc, t.ts.Limits.JournalBytes }

// wake is terminal.Config.Wake. It is called with no lock of the terminal's held.
func (t *Terminal) wake() {
	ts := t.ts
	defer func() {
		if requests.Contain(ts.Log, "apply output", recover(), "process", t.proc) {
			// After the panic some subscribers may lack an action: they come back for the state.
			ts.Core.Locked(func(tx core.Tx) {
				if t.ch != nil {
					tx.Resync(t.ch, jsonrpc.CloseFailed, "the host failed at what this connection watches: reconnect")
				}
			})
		}
	}()
	ts.Core.Do(func(tx core.Tx) {
		if t.ch != nil && tx.Channel(t.ch.URI) == t.ch {
			t.Flush(tx)
		}
	})
}

// work is the terminal as a chat's background work.
func (t *Terminal) work() ahp.BackgroundWork {
	return ahp.BackgroundWork{
		ID: t.ch.URI, Label: t.Value.Title, StartedAt: ahp.InstantOf(t.Meta.Created), Kind: ahp.WorkShell,
		Command: strings.Join(t.Meta.Command, " "), Terminal: t.ch.URI,
	}
}

// addTerm gives a started terminal its channel and journal.
func (ts *Terminals) addTerm(tx core.Tx, uri ahp.URI, t *Terminal, j *journal.Journal) {
	t.ch = tx.NewChannel(uri, t)
	t.ch.Journal = j
	ts.all = append(ts.all, t)
	t.watchIdle(tx)
	t.recolor(tx)
	tx.Checkpoint(t.ch)
	t.Flush(tx)
	t.ts.Changed(tx)
}

// removeTerm removes a terminal; its process may still be ending. Subscribers see it exit, then
// nothing more.
func (t *Terminal) removeTerm(tx core.Tx) {
	ts := t.ts
	t.Flush(tx)
	for _, w := range slices.Clone(t.watchers) { // before they see an exit
		w.Gone(tx)
	}
	if !t.Value.Lifecycle.Exited() {
		tx.Apply(t.ch, ahp.TerminalExited{}, nil)
	}
	t.slot.End()
	if t.idle != nil {
		t.idle.Stop()
		t.idle = nil
	}
	t.SetFeed(tx, nil)
	ts.Activity.Forget(tx, t.ch.URI)
	tx.RemoveChannel(t.ch)
	if i := slices.Index(ts.all, t); i >= 0 {
		ts.all = slices.Delete(ts.all, i, i+1)
	}
	ts.Changed(tx)
}
