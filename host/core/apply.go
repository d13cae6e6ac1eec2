package core

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandemux/ahp"
	"tandemux/host/auth"
	"tandemux/host/journal"
	"tandemux/host/journal/record"
	"tandemux/internal/statefile"
)

// By is the connection and the numbered dispatch that an action came with.
type By struct {
	Link   *Link
	Origin ahp.Origin
}

// Change is an action to apply. By is nil for the host's own.
type Change struct {
	Action ahp.Action
	By     *By
	// Inner actions stay in the host: they have no number and are neither reduced nor sent.
	Inner bool
}

// Apply is ApplyAll for one action.
func (tx Tx) Apply(ch *Channel, a ahp.Action, by *By) {
	tx.ApplyAll(ch, []Change{{Action: a, By: by}}, nil)
}

// ApplyAll is the one place where state changes. It numbers and reduces the actions,
// writes them and marks to the channel's journal, and only then sends them.
func (tx Tx) ApplyAll(ch *Channel, changes []Change, marks []journal.Record) {
	c := tx.c
	if c.fenced {
		return
	}
	// An action may apply further actions, which must not reuse this scratch memory.
	scratch := c.frames
	c.frames = nil
	frames, ok := tx.persist(ch, tx.number(ch, scratch[:0], changes), marks)
	if ok {
		tx.deliver(ch, frames)
		tx.renew(ch)
		tx.showScreens(ch)
	}
	clear(frames)
	if cap(frames) <= maxFrames {
		c.frames = frames[:0]
	}
}

// maxFrames bounds the scratch memory that Core.frames keeps.
const maxFrames = 64

// number numbers and reduces actions, and appends them to frames.
func (tx Tx) number(ch *Channel, frames []frame, changes []Change) []frame {
	for _, c := range changes {
		f := frame{by: c.By, inner: c.Inner, env: ahp.Envelope{Channel: ch.URI, Action: c.Action}}
		if !c.Inner {
			f.env.ServerSeq = tx.NextSeq()
			ch.last = f.env.ServerSeq
			if c.By != nil {
				origin := c.By.Origin
				f.env.Origin = &origin
				ch.Accepted.Note(origin.ClientID, c.By.Link.Client.Since, origin.ClientSeq, ch.last)
			}
			ch.Body.Reduce(c.Action)
		}
		frames = append(frames, f)
	}
	return frames
}

// deliver sends applied actions to the subscribers and tells the body of each. Follow and
// Options.Applied, which may apply more actions, are called after all of them are sent.
func (tx Tx) deliver(ch *Channel, frames []frame) {
	w, _ := ch.Body.(Watcher)
	for i := range frames {
		f := &frames[i]
		if !f.inner {
			tx.publish(ch, f)
		}
		if w != nil {
			w.Told(tx, f.env.Action)
		}
	}
	if w != nil {
		for i := range frames {
			w.Follow(tx, frames[i].env.Action)
		}
	}
	if applied := tx.c.o.Applied; applied != nil {
		for i := range frames {
			applied(tx, ch, frames[i].env.Action)
		}
	}
}

func (tx Tx) publish(ch *Channel, f *frame) {
	tx.c.log(ch, f.env)
	sent := f.by == nil
	skips := tx.skips(ch, f.env.Action)
	for _, l := range ch.links {
		if skips && slices.Contains(ch.skim.links, l) {
			continue
		}
		tx.sendFrame(l, f)
		sent = sent || l == f.by.Link
	}
	if !sent { // the sender gets its echo, subscribed or not (AHP, Actions)
		tx.sendFrame(f.by.Link, f)
	}
	f.release()
}

// Answer sends an action to its sender only: the echo of input, or, with a reason, a
// refusal. It changes no state and is not logged.
func (tx Tx) Answer(uri ahp.URI, a ahp.Action, by *By, reason string) {
	f := frame{env: ahp.Envelope{
		Channel: uri, Action: a, ServerSeq: tx.NextSeq(), Origin: new(by.Origin), RejectionReason: reason,
	}}
	tx.sendFrame(by.Link, &f)
}

// Shown is what a principal may see of an action, nil for nothing.
func (tx Tx) Shown(p *auth.Principal, a ahp.Action) ahp.Action {
	shown, _ := tx.c.o.Shown(tx, p, a)
	return shown
}

// Notify sends a notification to those of a channel's subscribers that may see everything.
// It is neither stored nor replayed (AHP, Subscriptions).
func (tx Tx) Notify(ch *Channel, method string, params any) {
	var encoded [3][]byte
	for _, l := range ch.links {
		if l.Principal.Bounded() {
			continue
		}
		b := encoded[l.Profile]
		if b == nil {
			text, err := ahp.Encode(l.Profile, params)
			if err != nil {
				tx.c.o.Log.Error("encode a notification", "method", method, "err", err)
				return
			}
			b = Notification(method, text)
			encoded[l.Profile] = b
		}
		tx.Send(l, b)
	}
}

// sequence is the host's one counter. It never hands out a number twice, also
// not across restarts (AHP, Lifecycle): it starts above the clock, and above a mark
// in the state directory that lies ahead of every number handed out.
type sequence struct {
	last int64 // the last number handed out
	mark int64 // the mark in the state directory
	path string
}

const (
	// seqPerMilli is how many numbers a millisecond of the clock has. 2^53, the highest
	// integer that JavaScript represents exactly, is reached in 2248.
	seqPerMilli = 1 << 10
	// seqBlock is how far ahead of the last number a new mark is.
	seqBlock = 1 << 24
	maxSeq   = record.MaxSeq
)

func newSequence(dir string, now time.Time) (sequence, error) {
	s := sequence{path: filepath.Join(dir, "seq")}
	text, err := os.ReadFile(s.path)
	if err != nil && !os.IsNotExist(err) {
		return s, fmt.Errorf("read the sequence mark: %w", err)
	}
	// A damaged mark counts as 0: the clock is ahead of the mark unless it was set back.
	mark, _ := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if mark > record.Highest {
		return s, fmt.Errorf("the sequence mark in %s is out of range: remove the file", s.path)
	}
	s.last = max(now.UnixMilli()*seqPerMilli, mark, 0)
	return s, nil
}

// advance writes a new mark.
func (s *sequence) advance() error {
	mark := s.last + seqBlock
	if err := statefile.Write(s.path, []byte(strconv.FormatInt(mark, 10)+"\n")); err != nil {
		return fmt.Errorf("write the sequence mark: %w", err)
	}
	s.mark = mark
	return nil
}

// Seq is the last number that was handed out.
func (tx Tx) Seq() int64 { return tx.c.seq.last }

// NextSeq hands out the next number.
func (tx Tx) NextSeq() int64 {
	s := &tx.c.seq
	s.last++
	if s.last >= s.mark {
		// This happens once in 16 million actions. If it fails, numbers can repeat only
		// if the clock is set back as well.
		if err := s.advance(); err != nil {
			tx.c.o.Log.Error("advance the sequence", "err", err)
			s.mark += seqBlock
		}
	}
	tx.c.reached.Store(s.last)
	return s.last
}

// Reached is the last number that was handed out. It needs no lock.
func (c *Core) Reached() int64 { return c.reached.Load() }

// Saw raises the counter to a number that an earlier host handed out.
func (tx Tx) Saw(seq int64) { tx.c.seq.last = max(tx.c.seq.last, seq) }
