package journal

import (
	"bytes"
	"testing"
	"time"
)

// TestLend: who reads a checkpoint's memory is told to read it no more while it is what it was,
// whatever is about to become of it.
func TestLend(t *testing.T) {
	t.Parallel()
	s := &Shelf{Dir: t.TempDir(), Now: time.Now}
	state := []Record{{Type: "state", Data: bytes.Repeat([]byte("state "), 5000)}}
	for name, end := range map[string]func(j *Journal) error{
		"another checkpoint": func(j *Journal) error { return j.Checkpoint(state, false) },
		"its end":            func(j *Journal) error { j.Close(); return nil },
		"a larger one":       func(j *Journal) error { s.Larger(j, "", "larger", 1<<20); return nil },
		"others that read":   func(j *Journal) error { j.Lend(func([]byte) {}); return nil },
	} {
		j, err := s.make("lent", 1<<20, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Checkpoint(state, false); err != nil {
			t.Fatal(err)
		}
		var lent []byte
		told := 0
		j.Lend(func(saved []byte) {
			if saved != nil {
				lent = saved
				return
			}
			if told++; !bytes.Contains(lent, state[0].Data) {
				t.Errorf("%s: the memory has changed before", name)
			}
		})
		if err := j.Append(Record{Type: "more", Data: state[0].Data}); err != nil || told > 0 {
			t.Errorf("%s: told %d times before, %v", name, told, err)
		}
		if err := end(j); err != nil || told != 1 || len(lent) == 0 {
			t.Errorf("%s: told %d times of %d bytes, %v", name, told, len(lent), err)
		}
		j.Close()
	}
}
