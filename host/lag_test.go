package host_test

import (
	"fmt"
	"testing"

	"tandemux/ahp"
	"tandemux/host"
	"tandemux/internal/soak"
)

// TestStalledViewersShareMemory: what waits for viewers that read nothing is kept
// once for all of them, and is bounded by how far a viewer may be behind, however
// many they are and however much is printed (100 subscribers, memory flat;
// docs/contributing/decisions.md §33).
func TestStalledViewersShareMemory(t *testing.T) { // alone: it looks at the heap
	soak.Long(t, "it looks at memory under a load")
	const lag, viewers = 2 << 20, 12
	w := start(t, func(c *host.Config) { c.Engine, c.Limits.LagBytes, c.Limits.StallTime = "native", lag, patience })
	w.buffer = 4
	const uri = "ahp-terminal:/t"
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", `read x; yes "$(seq 1 30 | tr '\n' ' ')"`)
	for i := range viewers {
		v := w.connect(fmt.Sprint("viewer-", i))
		v.initialize()
		v.subscribe(uri)
		v.stall()
	}
	before := heap()
	p.dispatch(uri, 1, ahp.TerminalInput{Data: "\n"})
	most := uint64(0)
	for range 6 { // MiB; the sockets of the stalled take 200 KiB each
		for total := 0; total < 1<<20; {
			raw, _, err := p.next()
			if err != nil {
				t.Fatal(err)
			}
			total += len(raw)
			p.out[uri] = nil
		}
		most = max(most, heap())
	}
	// Beside what waits: the terminal's history and log, a buffer for each socket.
	const besides = 12<<20 + viewers*128<<10
	if most > before+lag+besides {
		t.Errorf("the heap grew from %d to %d KiB, at most %d more", before>>10, most>>10, (lag+besides)>>10)
	}
	t.Logf("heap %d KiB, at most %d KiB", before>>10, most>>10)
}
