package host_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/emulator/engine"
	"tandemux/host"
)

// BenchmarkFanout measures one terminal's output on its way through pty,
// emulator, sequencer and sockets to its viewers. MB/s counts what the program
// writes, once; the holder is one of the viewers and sets the pace.
func BenchmarkFanout(b *testing.B) {
	for _, name := range engine.Names() {
		for _, viewers := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("engine=%s/viewers=%d", name, viewers), func(b *testing.B) { fanout(b, name, viewers) })
		}
	}
}

func fanout(b *testing.B, engine string, viewers int) {
	const uri, size = "ahp-terminal:/t", 4 << 20
	w := start(b, func(c *host.Config) {
		c.Limits.QueueBytes = 256 << 20
		c.Engine = engine
	})
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", fmt.Sprintf(
		`stty -echo -onlcr; while read x; do yes "some words of output, as a build prints them" | head -c %d; printf '\nEND\n'; done`, size))
	p.output(uri, "") // subscribed
	var got atomic.Int64
	var all sync.WaitGroup
	rounds := make([]chan struct{}, viewers)
	for i := range viewers {
		v := p
		if i > 0 {
			v = w.connect(fmt.Sprintf("viewer-%d", i))
			v.initialize()
			v.subscribe(uri)
		}
		rounds[i] = make(chan struct{})
		go func() {
			for range rounds[i] {
				for {
					raw, ok := <-v.in
					if !ok {
						b.Errorf("%s: closed: %v", v.name, v.err)
						break
					}
					got.Add(int64(len(raw)))
					if strings.Contains(string(raw[max(0, len(raw)-200):]), "END") {
						break
					}
				}
				all.Done()
			}
		}()
	}
	b.SetBytes(size)
	b.ResetTimer()
	for n := range b.N {
		all.Add(viewers)
		for _, r := range rounds {
			r <- struct{}{}
		}
		p.dispatch(uri, int64(n+1), ahp.TerminalInput{Data: "\n"})
		all.Wait()
	}
	b.StopTimer()
	b.ReportMetric(float64(got.Load())/b.Elapsed().Seconds()/(1<<20), "sent-MiB/s")
	for _, r := range rounds {
		close(r)
	}
}

// BenchmarkEcho measures a keystroke after a pause: dispatch, pty, the
// program's echo, back.
func BenchmarkEcho(b *testing.B) {
	const uri = "ahp-terminal:/t"
	w := start(b)
	p := w.connect("p")
	p.initialize()
	p.create(uri, "sh", "-c", `stty raw -echo; printf ready; cat`)
	p.output(uri, "ready")
	b.ResetTimer()
	for n := range b.N {
		b.StopTimer()
		time.Sleep(12 * time.Millisecond) // longer than output is gathered for
		b.StartTimer()
		p.dispatch(uri, int64(n+1), ahp.TerminalInput{Data: "x"})
		p.envelope("the echo", func(e ahp.Envelope) bool {
			_, ok := e.Action.(ahp.TerminalData)
			return ok
		})
	}
}
