package core

import (
	"fmt"
	"hash/maphash"
	"strings"

	"tandemux/ahp"
)

// replayLog keeps a channel's latest actions for clients that reconnect. Its bytes and its
// entries are bounded; the oldest go first.
type replayLog struct {
	maxBytes, maxCount int

	// floor: the log is complete after this sequence number. A client that has seen floor
	// or more can be sent the rest.
	floor   int64
	entries []ahp.Envelope // ascending; entries[:head] are dropped
	head    int
	bytes   int
}

func (l *replayLog) add(e ahp.Envelope) {
	l.entries = append(l.entries, e)
	l.bytes += actionBytes(e.Action)
	l.keep(l.maxBytes)
}

// keep drops the oldest entries until at most so many bytes are left.
func (l *replayLog) keep(bytes int) {
	for l.bytes > bytes || len(l.entries)-l.head > l.maxCount {
		gone := &l.entries[l.head]
		l.floor = gone.ServerSeq
		l.bytes -= actionBytes(gone.Action)
		*gone = ahp.Envelope{}
		l.head++
	}
	if l.head > 32 && l.head > len(l.entries)/2 {
		n := copy(l.entries, l.entries[l.head:])
		clear(l.entries[n:])
		l.entries = l.entries[:n]
		l.head = 0
	}
}

// compact copies the text of output, so that the larger block that it is a part of can be
// collected.
func (l *replayLog) compact() {
	for i := range l.entries {
		if d, is := l.entries[i].Action.(ahp.TerminalData); is {
			d.Data = strings.Clone(d.Data)
			l.entries[i].Action = d
		}
	}
}

// since returns the actions after seq; ok is false when some of them were dropped. The
// result is valid until the next add.
func (l *replayLog) since(seq int64) (es []ahp.Envelope, ok bool) {
	if seq < l.floor {
		return nil, false
	}
	all := l.entries[l.head:]
	lo, hi := 0, len(all)
	for lo < hi {
		if m := (lo + hi) / 2; all[m].ServerSeq <= seq {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return all[lo:], true
}

// log adds an action to the channel's replay log. While all logs together exceed ReplayAll,
// it halves the largest.
func (c *Core) log(ch *Channel, e ahp.Envelope) {
	before := ch.log.bytes
	ch.log.add(e)
	c.replay += ch.log.bytes - before
	for c.replay > c.o.ReplayAll {
		largest := &ch.log
		c.replay = 0 // it is an upper bound, as channels are removed
		for _, other := range c.channels {
			c.replay += other.log.bytes
			if other.log.bytes > largest.bytes {
				largest = &other.log
			}
		}
		if c.replay > c.o.ReplayAll {
			c.replay -= largest.bytes
			largest.keep(largest.bytes / 2)
			c.replay += largest.bytes
		}
	}
}

// A client numbers its dispatches (clientSeq). After a lost connection it may send those
// without an answer again, under their old numbers (AHP, Lifecycle). Clients differ: some
// continue their numbers, others count from 1 on each connection and repeat nothing. A new
// dispatch taken for a repetition would be acknowledged and not carried out; a repetition
// must not be carried out twice. So:
//
//   - initialize begins a numbering.
//   - After a reconnect that says tandemux/continues the numbers continue, 1 included.
//   - After a reconnect that does not, a first number of 1 begins a new numbering,
//     whatever it dispatches: the same letters may be typed again. A client that repeats
//     its number 1 has to say that it continues.
//   - A dispatch is a repetition if its number, channel and action are those of an earlier
//     one. If only the number is, all numbers from before this connection are forgotten.

// window remembers what became of a client's latest dispatches.
type window struct {
	done  map[int64]done
	order []int64             // ring of done's keys, the oldest at next
	texts map[outcome]outcome // interned refusals, maxTexts at most
	next  int
	floor int64 // the highest number that was forgotten
}

// done is a dispatch that was decided.
type done struct {
	outcome
	print uint64 // Print of channel and action, 0 if unknown
	by    int64  // Link.id of its connection, 0 if it was an earlier host's
}

// outcome is the reason of a refusal, "" for an accepted dispatch.
type outcome string

const (
	windowSize = 1024
	maxTexts   = 32
	maxText    = 512 // bytes kept of a refusal
)

func newWindow() *window { return &window{done: map[int64]done{}} }

// forgotten reports whether a dispatch may have been decided so long ago that its outcome
// is no longer known.
func (w *window) forgotten(seq int64) bool { return seq <= w.floor }

// note remembers the outcome of a dispatch.
func (w *window) note(seq int64, d done) {
	if len(w.order) < windowSize {
		w.order = append(w.order, seq)
	} else {
		old := w.order[w.next]
		delete(w.done, old)
		w.floor = max(w.floor, old)
		w.order[w.next] = seq
		w.next = (w.next + 1) % windowSize
	}
	d.outcome = w.intern(d.outcome)
	w.done[seq] = d
}

// only is a window of only what one connection has sent.
func (w *window) only(by int64) *window {
	n := newWindow()
	for i := range w.order {
		seq := w.order[(w.next+i)%len(w.order)]
		if d := w.done[seq]; d.by == by {
			n.note(seq, d)
		}
	}
	return n
}

// intern bounds the memory of refusals, as a client can cause any number of them.
func (w *window) intern(o outcome) outcome {
	if o == "" {
		return ""
	}
	o = outcome(strings.ToValidUTF8(string(o[:min(len(o), maxText)]), ""))
	have, ok := w.texts[o]
	switch {
	case ok:
		return have
	case len(w.texts) >= maxTexts:
		return "refused before"
	case w.texts == nil:
		w.texts = map[outcome]outcome{}
	}
	w.texts[o] = o
	return o
}

var printSeed = maphash.MakeSeed()

// Print is a hash of a dispatch's channel and action, never 0.
func Print(uri ahp.URI, a ahp.Action) uint64 {
	var m maphash.Hash
	m.SetSeed(printSeed)
	m.WriteString(uri)                       //nolint:errcheck // it never fails
	if in, ok := a.(ahp.TerminalInput); ok { // each key
		m.WriteString("\x00input\x00") //nolint:errcheck // as above
		m.WriteString(in.Data)         //nolint:errcheck // as above
	} else if b, err := ahp.EncodeAction(ahp.V1, a); err == nil {
		m.WriteByte(0) //nolint:errcheck // as above
		m.Write(b)     //nolint:errcheck // as above
	}
	return max(m.Sum64(), 1)
}

// Numbered notes the first number that a link sends.
func (tx Tx) Numbered(l *Link, seq int64) {
	if l.numbered {
		return
	}
	l.numbered = true
	if seq == 1 && l.Resumed && !l.Continues {
		tx.renumber(l)
	}
}

// renumber forgets the client's dispatches from before this link.
func (tx Tx) renumber(l *Link) {
	l.window = l.window.only(l.id)
	l.Client.window, l.Client.Since = l.window, tx.NextSeq()
	tx.NoteClient(l.Client)
}

// Processed reports whether a dispatch repeats one that was decided, and the reason if
// that was refused. It refuses a number that was used for another dispatch on this link.
func (tx Tx) Processed(l *Link, seq int64, print uint64) (refusal string, yes bool) {
	was, known := l.window.done[seq]
	switch {
	case known && (was.print == 0 || was.print == print):
		return string(was.outcome), true
	case known && was.by == l.id:
		return fmt.Sprintf("clientSeq %d was used for something else on this connection: number each dispatch anew", seq), true
	case known:
		tx.renumber(l)
	case l.window.forgotten(seq) && (l.Continues || !l.Resumed):
		return "", true
	case l.window.forgotten(seq):
		tx.renumber(l)
	}
	return "", false
}

// Decided remembers the outcome of a dispatch.
func (tx Tx) Decided(l *Link, seq int64, print uint64, refusal string) {
	l.window.note(seq, done{outcome(refusal), print, l.id})
}

// Doubt makes the host refuse an accepted dispatch when the client sends it again.
func (tx Tx) Doubt(cl *Client, seq int64, refusal string) {
	if d, ok := cl.window.done[seq]; ok {
		d.outcome = cl.window.intern(outcome(refusal))
		cl.window.done[seq] = d
	}
}
