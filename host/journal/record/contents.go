package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"tandemux/ahp"
	"tandemux/host/journal"
)

// Contents is what a journal says of its channel. Records in it lie in the
// journal's memory, the rest shares nothing with it.
type Contents struct {
	Head
	State   json.RawMessage  // nil when there was no checkpoint
	Private json.RawMessage  // as of the checkpoint
	Special []journal.Record // of the checkpoint: those of the channel's kind
	Log     []Entry          // after it
	After   []journal.Record // the same as they are
	Removed bool
	Before  string // of TypeBefore
	// Unaccepted are inputs that were accepted, and nothing of them typed; Typed
	// finds them.
	Unaccepted map[ahp.Origin]bool
	Newest     int64 // the highest sequence number
	// Damage is what was left out, nil when nothing was.
	Damage error

	earlier []ahp.Envelope // before the checkpoint, without a hole up to it
}

// Entry is one of a log.
type Entry struct {
	Type  string // the record's
	Seq   int64
	Env   ahp.Envelope    // of an action; its Action is nil otherwise
	Input Input           // of TypeInput and TypeRefused
	Data  json.RawMessage // of TypePrivate and TypeClient
	queue []Input         // of TypeQueue
}

// Read decodes a journal. It never fails: what makes no sense is left out, with all
// that follows it in the log, and said in Damage.
func Read(r journal.Recovered) *Contents {
	c := &Contents{Damage: r.Damage}
	if r.Dropped > 0 {
		c.Spoil(fmt.Errorf("the journal of %q was full: %d changes are missing", r.Name, r.Dropped))
	}
	for _, rec := range r.State {
		if err := c.readState(rec); err != nil {
			c.Spoil(fmt.Errorf("the checkpoint of %q: %s: %w", r.Name, rec.Type, err))
		}
	}
	for _, rec := range r.Earlier {
		c.count(rec.Seq)
		e, err := c.readEntry(rec)
		switch {
		case err != nil: // What comes before it can't be replayed.
			c.earlier = nil
		case e.Env.Action != nil:
			c.earlier = append(c.earlier, e.Env)
		}
	}
	for i, rec := range r.Records {
		e, err := c.readEntry(rec)
		if err != nil {
			c.Spoil(fmt.Errorf("the log of %q: %s: %w", r.Name, rec.Type, err))
			c.After = r.Records[:i]
			return c
		}
		c.count(rec.Seq)
		c.Removed = c.Removed || rec.Type == TypeRemoved
		c.Log = append(c.Log, e)
	}
	c.After = r.Records
	return c
}

// Spoil adds to Damage.
func (c *Contents) Spoil(err error) { c.Damage = errors.Join(c.Damage, err) }

// count takes part in finding the highest number; one that is out of range is
// none.
func (c *Contents) count(seq int64) {
	if seq <= Highest {
		c.Newest = max(c.Newest, seq)
	}
}

// readState takes a record of the checkpoint.
func (c *Contents) readState(rec journal.Record) (err error) {
	c.count(rec.Seq)
	if rec.Version > Version {
		return nil
	}
	switch rec.Type {
	case TypeChannel:
		err = json.Unmarshal(rec.Data, &c.Head)
		c.count(c.Last)
	case TypeState:
		c.State = slices.Clone(rec.Data)
	case TypePrivate:
		c.Private = slices.Clone(rec.Data)
	default:
		c.Special = append(c.Special, rec)
	}
	return err
}

// readEntry takes a record of the log.
func (c *Contents) readEntry(rec journal.Record) (e Entry, err error) {
	e = Entry{Type: rec.Type, Seq: rec.Seq}
	if rec.Version > Version {
		return e, nil
	}
	switch rec.Type {
	case TypeData:
		e.Env = ahp.Envelope{Channel: c.Channel, Action: ahp.TerminalData{Data: string(rec.Data)}, ServerSeq: rec.Seq}
	case TypeAction:
		if err = json.Unmarshal(rec.Data, &e.Env); err == nil && e.Env.Action == nil {
			err = errors.New("it has no action")
		}
		e.Env.Channel, e.Env.ServerSeq = c.Channel, rec.Seq
	case TypeInput, TypeRefused:
		e.Input, err = readInput(rec.Data)
	case TypeQueue:
		e.queue, err = readQueue(rec.Data)
	case TypePrivate, TypeClient:
		e.Data = slices.Clone(rec.Data)
	case TypeBefore:
		c.Before = string(rec.Data)
	}
	return e, err
}

// Fresh says that the journal was never written to but by who made it: the
// terminal's host died before it had made the first checkpoint.
func (c *Contents) Fresh() bool {
	return c.State == nil && c.Damage == nil && !slices.ContainsFunc(c.Log, func(e Entry) bool { return e.Type != TypeBefore })
}

// LastLogged is the number of the last action that the log has.
func (c *Contents) LastLogged() int64 {
	for _, e := range slices.Backward(c.Log) {
		if e.Env.Action != nil {
			return e.Seq
		}
	}
	return c.Last
}

// Replay gives the actions that clients may have missed, and the number that
// they must have seen for it.
func (c *Contents) Replay() (es []ahp.Envelope, floor int64) {
	floor = c.Last
	// What was in a checkpoint but found no room in the log before it is a hole.
	if n := len(c.earlier); n > 0 && c.earlier[n-1].ServerSeq == c.Last {
		es, floor = c.earlier, c.earlier[0].ServerSeq-1
	}
	for _, e := range c.Log {
		if e.Env.Action != nil {
			es = append(es, e.Env)
		}
	}
	return es, floor
}

// Typed gives what is to be typed again, of what a terminal's journal has and of
// how far the last host had come, and whose input may be lost. rest is what was
// being written behind done.
func (c *Contents) Typed(begun, done uint64, rest string) (waiting []Input, doubtful []ahp.Origin) {
	for _, in := range c.inputs() {
		start := in.End - in.Size
		if in.Data == "" && in.End > done && start >= done && begun == done && in.End > 0 {
			if in.End-done > uint64(len(rest)) { // The client alone has it, and sends it again.
				c.Unaccepted[in.Origin] = true
				continue
			}
		}
		if behind := done + uint64(len(rest)); in.Data == "" && in.End > done && in.End <= behind && begun == done {
			in.Data = rest[max(start, done)-done : in.End-done]
			waiting = append(waiting, in)
			continue
		}
		lost := in.End == 0 || begun > done && in.End > done && start < begun || in.Data == "" && in.End > begun
		if lost && in.Origin.ClientID != "" {
			doubtful = append(doubtful, in.Origin)
		}
		if in.Data != "" && in.End > begun {
			in.Data = in.Data[max(start, begun)-start:]
			waiting = append(waiting, in)
		}
	}
	return waiting, doubtful
}

// inputs are those of which the journal does not say that they are written.
func (c *Contents) inputs() (all []Input) {
	c.Unaccepted = map[ahp.Origin]bool{}
	for _, rec := range c.Special {
		if rec.Type == TypeQueue && rec.Version <= Version {
			all, _ = readQueue(rec.Data) // A damaged one is none.
		}
	}
	for _, e := range c.Log {
		switch in := e.Input; e.Type {
		case TypeQueue:
			all = e.queue
		case TypeRefused:
			c.Unaccepted[in.Origin] = true
			all = slices.DeleteFunc(all, func(x Input) bool { return x.Origin == in.Origin && x.End == in.End })
		case TypeInput:
			if n := len(all); n > 0 && all[n-1].End == in.End && all[n-1].Origin == in.Origin { // the same with its bytes
				all = all[:n-1]
			}
			all = append(all, in)
		}
	}
	return all
}
