package core

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tandemux/ahp"
)

// TestReplayLog holds the log against a list that forgets nothing: whatever the
// log says it has since a number is exactly what the list has, and what it
// keeps stays within its bounds.
func TestReplayLog(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		l := replayLog{maxBytes: 1 + rnd.IntN(20000), maxCount: 1 + rnd.IntN(50), floor: 100}
		var all []ahp.Envelope
		seq := int64(100)
		for range 300 {
			seq += 1 + rnd.Int64N(3)
			e := ahp.Envelope{ServerSeq: seq, Action: ahp.TerminalData{Data: strings.Repeat("x", rnd.IntN(1000))}}
			l.add(e)
			all = append(all, e)
			bytes := 0
			for _, e := range l.entries[l.head:] {
				bytes += actionBytes(e.Action)
			}
			if bytes != l.bytes || bytes > l.maxBytes || len(l.entries)-l.head > l.maxCount {
				t.Fatalf("log has %d bytes (says %d) in %d entries; bounds %d, %d", bytes, l.bytes, len(l.entries)-l.head, l.maxBytes, l.maxCount)
			}
			from := 95 + rnd.Int64N(seq-95+3)
			got, ok := l.since(from)
			if !ok {
				if from >= l.floor {
					t.Fatalf("since(%d) refused, floor %d", from, l.floor)
				}
				continue
			}
			var want []ahp.Envelope
			for _, e := range all {
				if e.ServerSeq > from {
					want = append(want, e)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("since(%d) gave %d actions, want %d", from, len(got), len(want))
			}
			for i := range got {
				if got[i] != want[i] {
					t.Fatalf("since(%d)[%d] is %v, want %v", from, i, got[i], want[i])
				}
			}
		}
	}
}

// TestReplayLogKeepsNoMemory makes sure that evicted actions can be collected.
func TestReplayLogKeepsNoMemory(t *testing.T) {
	l := replayLog{maxBytes: 1 << 20, maxCount: 10}
	for i := range 100_000 {
		l.add(ahp.Envelope{ServerSeq: int64(i), Action: ahp.TerminalData{Data: "x"}})
	}
	if c := cap(l.entries); c > 1000 {
		t.Errorf("the log of 10 entries holds an array of %d", c)
	}
}

// knows reports whether a number was decided, as far as the window can tell.
func (w *window) knows(seq int64) bool {
	_, ok := w.done[seq]
	return ok || w.forgotten(seq)
}

// TestWindow checks that a clientSeq is processed once, also when it is long
// forgotten, and that gaps may be filled later.
func TestWindow(t *testing.T) {
	w := newWindow()
	for seq := int64(1); seq <= 3*windowSize; seq += 2 { // odd ones
		if w.knows(seq) {
			t.Fatalf("%d was never processed", seq)
		}
		w.note(seq, done{})
	}
	w.note(3*windowSize+1, done{outcome: "refused"})
	for _, seq := range []int64{1, 3, 2*windowSize + 1, 3*windowSize - 1} {
		if !w.knows(seq) {
			t.Errorf("%d was processed, but counts as new", seq)
		}
	}
	if d := w.done[3*windowSize+1]; d.outcome != "refused" {
		t.Errorf("the refusal is %q", d.outcome)
	}
	if w.knows(3*windowSize - 2) {
		t.Error("a gap within the window counts as processed")
	}
	if len(w.done) != windowSize || len(w.order) != windowSize {
		t.Errorf("the window holds %d and %d", len(w.done), len(w.order))
	}
}

// TestWindowForgetsTexts: a client that is refused for ever new reasons costs no
// more than one that is not.
func TestWindowForgetsTexts(t *testing.T) {
	w := newWindow()
	for i := range int64(5000) {
		w.note(i+1, done{outcome: outcome(strings.Repeat(string(rune('a'+i%7)), int(i)))})
	}
	size := 0
	for _, o := range w.texts {
		size += len(o)
	}
	if len(w.texts) > maxTexts || size > maxTexts*maxText {
		t.Errorf("%d texts of %d bytes", len(w.texts), size)
	}
	if d := w.done[5000]; d.outcome == "" {
		t.Errorf("the last refusal is %q", d.outcome)
	}
}

// The replay logs of all channels have a bound together; the largest gives way, and a
// client is given the rest of it or told that some is gone, as ever.
func TestReplayAll(t *testing.T) {
	t.Parallel()
	c := &Core{o: Options{ReplayBytes: 64 << 10, ReplayCount: 1000, ReplayAll: 200 << 10}, channels: map[ahp.URI]*Channel{}}
	tx := c.Lock()
	defer tx.Unlock()
	quiet := tx.NewChannel("quiet", nil)
	c.log(quiet, ahp.Envelope{ServerSeq: 1, Action: ahp.TerminalData{Data: "x"}})
	var busy []*Channel
	for i := range 10 {
		busy = append(busy, tx.NewChannel(string(rune('a'+i)), nil))
	}
	seq := int64(1)
	for range 3000 {
		for _, ch := range busy {
			seq++
			c.log(ch, ahp.Envelope{ServerSeq: seq, Action: ahp.TerminalData{Data: strings.Repeat("y", int(seq%300))}})
		}
		all := 0
		for _, ch := range c.channels {
			all += ch.log.bytes
		}
		if all > 200<<10 {
			t.Fatalf("%d bytes in all logs", all)
		}
	}
	if es, ok := quiet.Since(0); !ok || len(es) != 1 {
		t.Errorf("the quiet channel has lost its own: %d, %v", len(es), ok)
	}
	for _, ch := range busy {
		if ch.log.bytes < 200<<10/40 {
			t.Errorf("%s has %d bytes left", ch.URI, ch.log.bytes)
		}
		if _, ok := ch.Since(ch.log.floor - 1); ok {
			t.Errorf("%s gives what it has not", ch.URI)
		}
		if es, ok := ch.Since(ch.log.floor); !ok || len(es) == 0 || es[0].ServerSeq <= ch.log.floor {
			t.Errorf("%s gives %d since its floor, %v", ch.URI, len(es), ok)
		}
	}
}

// A channel at rest keeps the end of its replay log: whoever missed a little is told that,
// whoever missed more is given the state.
func TestReplayAtRest(t *testing.T) {
	t.Parallel()
	c := &Core{o: Options{ReplayBytes: 1 << 20, ReplayCount: 1000, ReplayAll: 4 << 20}, channels: map[ahp.URI]*Channel{}, captured: make([]byte, 1<<20)}
	tx := c.Lock()
	defer tx.Unlock()
	ch := tx.NewChannel("a", nil)
	text := strings.Repeat("x", 10<<10)
	for seq := range int64(90) {
		c.log(ch, ahp.Envelope{ServerSeq: seq + 1, Action: ahp.TerminalData{Data: text}})
	}
	rest(tx, ch)
	if ch.log.bytes > restReplay || c.captured != nil {
		t.Errorf("%d bytes of a log and %d of a checkpoint stay", ch.log.bytes, len(c.captured))
	}
	if es, ok := ch.Since(86); !ok || len(es) != 4 || es[0].ServerSeq != 87 {
		t.Errorf("who missed four is given %d, %v", len(es), ok)
	}
	if _, ok := ch.Since(10); ok {
		t.Error("who missed 80 is given a replay, with a hole")
	}
}
