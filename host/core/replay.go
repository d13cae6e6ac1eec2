package core

import (
	"fmt"
	"hash/maphash"
	"strings"

	"tandemux/ahp"
)

// replayLog keeps a channel's latest actions for clients that come back. It is
// bounded in bytes of text and in entries; the oldest go first.
type replayLog struct {
	maxBytes, maxCount int

	// floor is the sequence number below which the log has a hole: a client
	// that has seen floor or more can be given the rest.
	floor   int64
	entries []ahp.Envelope // ascending; entries[:head] are gone
	head    int
	bytes   int
}

func (l *replayLog) add(e ahp.Envelope) {
	l.entries = append(l.entries, e)
	l.bytes += weight(e.Action)
	l.keep(l.maxBytes)
}

// keep forgets the oldest but for so many bytes.
func (l *replayLog) keep(bytes int) {
	for l.bytes > bytes || len(l.entries)-l.head > l.maxCount {
		gone := &l.entries[l.head]
		l.floor = gone.ServerSeq
		l.bytes -= weight(gone.Action)
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

// compact takes the text of output out of the memory that it shares with what is no longer kept.
func (l *replayLog) compact() {
	for i := range l.entries {
		if d, is := l.entries[i].Action.(ahp.TerminalData); is {
			d.Data = strings.Clone(d.Data)
			l.entries[i].Action = d
		}
	}
}

// since gives the actions after seq; ok is false when some of them are gone.
// The result is valid until the next add.
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

// log adds an action to the channel's replay log. Where all of them together are too
// much, the largest is halved.
func (c *Core) log(ch *Channel, e ahp.Envelope) {
	before := ch.log.bytes
	ch.log.add(e)
	c.replay += ch.log.bytes - before
	for c.replay > c.o.ReplayAll {
		largest := &ch.log
		c.replay = 0 // It may have been less: channels go.
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

// A client numbers what it dispatches (clientSeq), and may send what it has no answer
// for again after a lost connection, under its old number (AHP, Lifecycle). Clients
// differ: some go on with their numbers, others count from 1 on each connection and
// send nothing again. What is new must not be taken for a repetition, as it would
// be acknowledged and not done; what is a repetition must not be done twice. So:
//
//   - initialize begins a numbering.
//   - After a reconnect that says tandemux/continues the numbers go on, 1 included.
//   - After one that does not, a first number of 1 begins a numbering, whatever is in
//     it: the same letters may be typed again. A client that sends its number 1 again
//     has to say that it continues.
//   - A repetition is one whose channel and action are those of its number. At the
//     first other one all that was numbered before this connection is forgotten.

// window remembers what became of a client's latest dispatches.
type window struct {
	done  map[int64]done
	order []int64             // ring of the keys, oldest at next
	texts map[outcome]outcome // each refusal once, maxTexts at most
	next  int
	floor int64 // the highest number forgotten
}

// done is a dispatch that was decided.
type done struct {
	outcome
	print uint64 // of channel and action, 0 where not known
	by    int64  // the connection: Link.id, 0 of an earlier host
}

// outcome is the refusal, empty for an accepted dispatch.
type outcome string

const (
	windowSize = 1024
	maxTexts   = 32
	maxText    = 512 // bytes of a refusal that are remembered
)

func newWindow() *window { return &window{done: map[int64]done{}} }

// forgotten reports whether a dispatch may have been decided so long ago that what
// became of it isn't known any more.
func (w *window) forgotten(seq int64) bool { return seq <= w.floor }

// note remembers what became of a dispatch.
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

// only is the window with nothing but what one connection has sent.
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

// intern keeps refusals, which a client can cause as many of as it likes, from
// taking much memory.
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

// Print is a number that two dispatches have in common if they are the same.
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

// renumber forgets what a client has numbered before this link.
func (tx Tx) renumber(l *Link) {
	l.window = l.window.only(l.id)
	l.Client.window, l.Client.Since = l.window, tx.NextSeq()
	tx.NoteClient(l.Client)
}

// Processed reports whether a dispatch repeats one that was decided, and what became
// of that: a refusal, or "". A number that was used for something else on this very link
// is refused.
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

// Decided remembers what became of a dispatch.
func (tx Tx) Decided(l *Link, seq int64, print uint64, refusal string) {
	l.window.note(seq, done{outcome(refusal), print, l.id})
}

// Doubt has a dispatch that was accepted refused when the client sends it again.
func (tx Tx) Doubt(cl *Client, seq int64, refusal string) {
	if d, ok := cl.window.done[seq]; ok {
		d.outcome = cl.window.intern(outcome(refusal))
		cl.window.done[seq] = d
	}
}
