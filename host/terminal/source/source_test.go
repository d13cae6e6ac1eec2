package source

import (
	"testing"

	"tandemux/host/journal"
)

// What a flood was read into stays while little comes in between, and goes back when that
// goes on, or nothing comes.
func TestTrimAfterFlood(t *testing.T) {
	t.Parallel()
	o := journal.Options{Area: 4096, Slots: 1}
	_, l, err := journal.Create(make([]byte, o.Size()), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{0, 1} {
		s := Source{Landing: l}
		for range 20 {
			s.Trim(trimAfter)
			s.Trim(1)
		}
		if s.busy.Load() == 0 {
			t.Error("it goes back in the middle of a flood")
		}
		for range 20 - 19*(1-after) {
			s.Trim(after)
		}
		if s.Busy() {
			t.Errorf("after %d bytes at a time it stays", after)
		}
	}
}
