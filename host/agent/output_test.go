package agent

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestOutput: what was said in time is read after it, nobody else's pipe is waited for, and
// one who never stops is not read for ever.
func TestOutput(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	o := NewOutput(r)
	defer o.Close()
	want := strings.Repeat("word", 4000)
	if _, err := w.WriteString(want); err != nil {
		t.Fatal(err)
	}
	r.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // as long after Ended
	if got, err := io.ReadAll(o); err != nil || string(got) != want {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
	o.late = 0
	r.SetReadDeadline(time.Unix(1, 0)) //nolint:errcheck // again
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := w.WriteString(want); err != nil {
				return
			}
		}
	}()
	if n, err := io.Copy(io.Discard, o); err != nil || n > 2*maxLate {
		t.Errorf("%d bytes, %v", n, err)
	}
	o.Close()
	<-ended
}
