package terminal

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tandemux/ahp"
	"tandemux/host/journal"
	"tandemux/host/terminal/output"
	"tandemux/internal/pace"
)

// TestOutputInPieces: much output becomes several actions, cut between
// characters, in order and complete.
func TestOutputInPieces(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "x", strings.Repeat("x", maxData), strings.Repeat("x", maxData+1), "x" + strings.Repeat("漢é😀", maxData/3)} {
		var p pending
		p.output([]byte(text))
		var got strings.Builder
		all := p.take()
		for i, a := range all {
			piece := a.(ahp.TerminalData).Data
			if len(piece) > maxData || i < len(all)-1 && len(piece) < maxData-3 {
				t.Errorf("piece %d of %d has %d bytes", i, len(all), len(piece))
			}
			if strings.ToValidUTF8(piece, "?") != piece {
				t.Errorf("piece %d is cut within a character", i)
			}
			got.WriteString(piece)
		}
		if got.String() != text {
			t.Errorf("of %d bytes %d came, or others", len(text), got.Len())
		}
		if !p.empty() || p.size != 0 {
			t.Errorf("something is left: %+v", p)
		}
	}
}

// TestPendingFollowsTheStore: output that comes in pieces is one action where it lies
// in one place, and complete, in order, where it does not.
func TestPendingFollowsTheStore(t *testing.T) {
	t.Parallel()
	var p pending
	var s output.Store
	var want strings.Builder
	for i := range 3000 {
		b := s.Add([]byte(strings.Repeat("é", i%97)))
		want.Write(b)
		p.output(b)
		if p.size != want.Len() {
			t.Fatalf("%d bytes are counted of %d", p.size, want.Len())
		}
	}
	var got strings.Builder
	all := p.take()
	for _, a := range all {
		got.WriteString(a.(ahp.TerminalData).Data)
	}
	if got.String() != want.String() || len(all) > 2*want.Len()/maxData+10 {
		t.Errorf("%d of %d bytes in %d actions", got.Len(), want.Len(), len(all))
	}
}

// TestWakes: nothing of a start waits for the end of a frame, neither what is pending by then
// and a new size, nor what a shell writes in a few pieces; a flood is woken for once in a frame.
func TestWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q queue
		begun := time.Now()
		var woken []time.Duration
		q.landing, q.half, q.in = &journal.Landing{}, 1, &input{}
		q.bound, q.room.L = 1<<20, &q.mu
		q.wake.timer = stopped(q.wakeLate)
		q.call = func() {
			woken = append(woken, time.Since(begun))
			q.Take()
		}
		q.running.Store(true)
		print := func(later bool) {
			q.mu.Lock()
			q.pending.output([]byte("x"))
			due := q.due(later)
			q.mu.Unlock()
			q.wakeUp(due)
			synctest.Wait()
		}
		print(true) // the start
		print(true) // a size
		for range pace.Burst {
			print(false)
		}
		want := slices.Repeat([]time.Duration{0}, pace.Burst)
		if !slices.Equal(woken, want) {
			t.Errorf("woken after %v, want %v", woken, want)
		}
		for time.Since(begun) < 10*pace.Interval {
			time.Sleep(time.Millisecond)
			print(false)
		}
		for i := range 10 {
			want = append(want, time.Duration(i+1)*pace.Interval)
		}
		if !slices.Equal(woken, want) {
			t.Errorf("woken after %v, want %v", woken, want)
		}
	})
}
