package core

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandemux/ahp"
)

// TestSequenceNeverGoesBack restarts a sequence under clocks that run, stand
// still and are set back: no number comes twice.
func TestSequenceNeverGoesBack(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	last := int64(0)
	for _, clock := range []time.Time{now, now, now.Add(time.Hour), now.Add(-24 * time.Hour), time.Unix(0, 0), now.Add(2 * time.Hour)} {
		s, err := newSequence(dir, clock)
		if err == nil {
			err = s.advance()
		}
		if err != nil {
			t.Fatal(err)
		}
		if s.last < last {
			t.Fatalf("with the clock at %v the sequence starts at %d, after %d was used", clock, s.last, last)
		}
		c := &Core{seq: s}
		c.seq.last += seqBlock - 2 // as if so many had been used
		tx := c.Lock()
		for range 5 { // passes the mark
			if n := tx.NextSeq(); n <= last {
				t.Fatalf("%d after %d", n, last)
			} else {
				last = n
			}
		}
		tx.Unlock()
		if last > maxSeq {
			t.Fatalf("%d is more than JavaScript can count", last)
		}
	}
}

func TestSequenceSurvivesDamage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "seq"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := newSequence(dir, time.Now())
	if err != nil || s.last == 0 {
		t.Fatal(s, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "seq"), []byte("9223372036854775807"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newSequence(dir, time.Now()); err == nil {
		t.Fatal("a mark beyond all numbers was taken")
	}
}

// TestLittleOutputIsNotShared: it has memory of its own, of its size.
func TestLittleOutputIsNotShared(t *testing.T) {
	f := frame{env: ahp.Envelope{Channel: "ahp-terminal:/t", Action: ahp.TerminalData{Data: "x"}}}
	if b, err := f.bytes(ahp.Profile(0)); err != nil || f.outputs[0] != nil || cap(b) > 8<<10 {
		t.Errorf("one byte of output takes %d, shared: %v, %v", cap(b), f.outputs[0] != nil, err)
	}
}
