package lease

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"tandemux/internal/fault"
)

// State is where a task is.
type State string

// The states of a Record.
const (
	Idle      State = "IDLE"
	Pending   State = "PENDING"
	Claimed   State = "CLAIMED"
	Begun     State = "BEGUN"
	Cancelled State = "CANCELLED"
	Failed    State = "FAILED"
)

// Final reports whether no state can follow.
func (s State) Final() bool { return s == Cancelled || s == Failed }

// Held reports whether a host has the lease.
func (s State) Held() bool { return s == Claimed || s == Begun }

// Policy is what becomes of work that was begun when its host is lost.
type Policy string

// The policies.
const (
	// Fail has it fail, and the person send it again: it was not done twice.
	Fail Policy = "fail"
	// Again has another host do it again.
	Again Policy = "again"
)

// Bounds of a record.
const (
	// MaxWork is how much may wait.
	MaxWork = 100
	// maxEnds is how many ends are kept: whatever is asked for twice is so within that many.
	maxEnds = 64
	// maxReason bounds a reason, in bytes.
	maxReason = 2 << 10
)

// OutcomeLost is how work ended whose host was lost.
const OutcomeLost = "interrupted"

// End is how a piece of work ended.
type End struct {
	Work    string `json:"work"`
	Host    string `json:"host,omitempty"`
	Lease   uint64 `json:"lease,omitempty"` // whose holder said so; 0: it was lost or dropped
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
}

// Record is what is kept of a task.
type Record struct {
	State  State  `json:"state"`
	Policy Policy `json:"policy"`
	// Host has the lease, or had it last; Home is the only one that may: what was made
	// is there.
	Host string `json:"host,omitempty"`
	Home string `json:"home,omitempty"`
	// Lease is the number of the last, Renewed how often it was renewed.
	Lease   uint64 `json:"lease,omitempty"`
	Renewed uint64 `json:"renewed,omitempty"`
	// Work is what is to be done, by its ids; the lease is for the first.
	Work []string `json:"work,omitempty"`
	// Ends are the last, newest last.
	Ends   []End  `json:"ends,omitempty"`
	Reason string `json:"reason,omitempty"` // why it failed
	// Task is what was asked for, and Note what its host says of it: others' documents.
	Task json.RawMessage `json:"task,omitempty"`
	Note json.RawMessage `json:"note,omitempty"`
}

// Verb is what is done to a record.
type Verb string

// The verbs. Of those of a holder, the lease must be the record's.
const (
	Send   Verb = "send"   // there is more work
	Claim  Verb = "claim"  // a host gets the lease
	Begin  Verb = "begin"  // the holder is about to begin the work
	Renew  Verb = "renew"  // the holder lives
	Note   Verb = "note"   // the holder says how it is
	Finish Verb = "finish" // the holder says that the work has ended
	Refuse Verb = "refuse" // the holder can't make the task, nor could others
	Return Verb = "return" // the holder has no room for it after all
	Redo   Verb = "redo"   // the holder has stopped it, and never begins it again
	Lose   Verb = "lose"   // the holder is silent
	Cancel Verb = "cancel" // somebody stops it for good
)

// Op is a change that somebody asks for.
type Op struct {
	Verb    Verb            `json:"verb"`
	Host    string          `json:"host,omitempty"`
	Lease   uint64          `json:"lease,omitempty"`
	Renewed uint64          `json:"renewed,omitempty"` // of Lose: as it was when nothing was heard
	Work    string          `json:"work,omitempty"`
	Outcome string          `json:"outcome,omitempty"`
	Reason  string          `json:"reason,omitempty"`
	Note    json.RawMessage `json:"note,omitempty"`
}

// Stale is why a change is refused: the task has gone on without who asks for it.
var Stale = fault.New(http.StatusConflict, "the task has gone on")

// change is a verb: who may ask for it, and what it does.
type change struct {
	from   []State
	holder bool
	// was reports that it was done before, and need not be again.
	was func(Record, Op) bool
	do  func(*Record, Op) error
}

var changes = map[Verb]change{
	Send: {from: []State{Idle, Pending, Claimed, Begun}, was: knows, do: func(r *Record, op Op) error {
		if len(r.Work) >= MaxWork {
			return Stale.Errorf("%d events of the task wait already", len(r.Work))
		}
		r.Work = append(slices.Clone(r.Work), op.Work)
		if r.State == Idle {
			r.State = Pending
		}
		return nil
	}},
	Claim: {from: []State{Pending}, do: func(r *Record, op Op) error {
		if op.Host == "" || r.Home != "" && r.Home != op.Host {
			return Stale.Errorf("the task is %q's, not %q's", r.Home, op.Host)
		}
		r.State, r.Host, r.Renewed = Claimed, op.Host, 0
		r.Lease++
		return nil
	}},
	Begin: {from: []State{Claimed}, holder: true, was: func(r Record, op Op) bool { return r.State == Begun && r.has(op) }, do: func(r *Record, _ Op) error {
		r.State = Begun
		r.Renewed++ // who was about to take a silent holder's lease is too late
		return nil
	}},
	Renew: {from: []State{Claimed, Begun}, holder: true, do: func(r *Record, _ Op) error {
		r.Renewed++
		return nil
	}},
	Note: {from: []State{Claimed, Begun}, holder: true, do: func(*Record, Op) error { return nil }},
	Finish: {from: []State{Begun}, holder: true, was: func(r Record, op Op) bool {
		return slices.ContainsFunc(r.Ends, func(e End) bool { return e.Lease == op.Lease && e.Host == op.Host })
	}, do: func(r *Record, op Op) error {
		r.Home = r.Host
		if r.end(op.Outcome, op.Reason); len(r.Ends) > 0 {
			r.Ends[len(r.Ends)-1].Lease = op.Lease
		}
		return nil
	}},
	Refuse: {from: []State{Claimed}, holder: true, was: func(r Record, op Op) bool { return r.State == Failed && r.last(op) }, do: func(r *Record, op Op) error {
		r.Reason = clip(op.Reason)
		r.drop(Failed, "failed", op.Reason)
		return nil
	}},
	Return: {from: []State{Claimed}, holder: true, was: returned, do: func(r *Record, _ Op) error {
		r.State = Pending
		return nil
	}},
	// Not by Return: one that is late would take what was begun since.
	Redo: {from: []State{Begun}, holder: true, was: returned, do: func(r *Record, op Op) error {
		if r.Policy != Again {
			return r.stale(op)
		}
		r.State = Pending
		return nil
	}},
	Lose: {from: []State{Claimed, Begun}, do: func(r *Record, op Op) error {
		switch {
		case op.Lease != r.Lease, op.Renewed != r.Renewed:
			return r.stale(op)
		case r.State == Claimed || r.Policy == Again:
			r.State = Pending
		default:
			r.end(OutcomeLost, cmp.Or(op.Reason, fmt.Sprintf("the host %s was lost while it worked on this: send again", r.Host)))
		}
		return nil
	}},
	Cancel: {from: []State{Idle, Pending, Claimed, Begun}, was: func(r Record, _ Op) bool { return r.State == Cancelled }, do: func(r *Record, _ Op) error {
		r.drop(Cancelled, "cancelled", "")
		return nil
	}},
}

// Apply returns the record after op, or an error and the record unchanged.
func Apply(r Record, op Op) (Record, error) {
	c, is := changes[op.Verb]
	switch {
	case !is:
		return r, Stale.Errorf("a task has no change %q", clip(string(op.Verb)))
	case c.was != nil && c.was(r, op):
		return r, nil
	case c.holder && !r.has(op), !slices.Contains(c.from, r.State):
		return r, r.stale(op)
	}
	next := r
	if err := c.do(&next, op); err != nil {
		return r, err
	}
	if op.Note != nil {
		next.Note = op.Note
	}
	return next, nil
}

// returned reports whether a lease was given back.
func returned(r Record, op Op) bool { return r.State == Pending && r.last(op) }

// has reports whether op's host has the lease that op names.
func (r *Record) has(op Op) bool { return r.last(op) && r.State.Held() }

// last reports whether op's host has, or had, the record's latest lease, and op names it.
func (r *Record) last(op Op) bool { return op.Lease == r.Lease && op.Host == r.Host }

// Over reports whether a lease is over according to this record, which may be outdated.
func (r *Record) Over(lease uint64) bool {
	return r.Lease > lease || r.Lease == lease && !r.State.Held()
}

func (r *Record) stale(op Op) error {
	if op.Lease != 0 {
		return Stale.Errorf("%s: the lease %d of %s is over; the task is %s", op.Verb, op.Lease, cmp.Or(op.Host, "its host"), r.State)
	}
	return Stale.Errorf("%s: the task is %s", op.Verb, r.State)
}

// knows reports whether op's work waits already, or is among the ends that are kept.
func knows(r Record, op Op) bool {
	return slices.Contains(r.Work, op.Work) || slices.ContainsFunc(r.Ends, func(e End) bool { return e.Work == op.Work })
}

// end ends the first of the work.
func (r *Record) end(outcome, reason string) {
	if r.State = Idle; len(r.Work) == 0 {
		return
	}
	ends := append(slices.Clone(r.Ends), End{Work: r.Work[0], Host: r.Host, Outcome: outcome, Reason: clip(reason)})
	r.Ends = ends[max(0, len(ends)-maxEnds):]
	r.Work = slices.Clone(r.Work[1:])
	if len(r.Work) > 0 {
		r.State = Pending
	}
}

// drop ends all work with the task.
func (r *Record) drop(state State, outcome, reason string) {
	for len(r.Work) > 0 {
		r.end(outcome, reason)
	}
	r.State = state
}

// Ended is how work ended, if it has and that is kept.
func (r *Record) Ended(work string) (End, bool) {
	i := slices.IndexFunc(r.Ends, func(e End) bool { return e.Work == work })
	if i < 0 {
		return End{}, false
	}
	return r.Ends[i], true
}

// clip bounds a text of others.
func clip(s string) string { return s[:min(len(s), maxReason)] }
