package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/internal/client"
	"tandemux/internal/jsonrpc"
	"tandemux/internal/wsrpc"
)

// lines prints 10,000 lines of 120 columns and then a text that is given in
// octal, so that the command's own line has none of it.
const lines = `for i in $(seq 10000); do printf '%08d %0111d\n' $i $i; done; printf `

// attach is the time from the start of the interface until four panes with
// 10,000 lines each show their last line.
func (b *bench) attach(k kind) error {
	if k.detach == "" {
		return nil
	}
	s, err := b.open(k)
	if err != nil {
		return err
	}
	defer s.close()
	const end = "⓿"
	for i := range 4 {
		s.send(lines + "'" + octal(end) + "\\n'\r") // on a line of its own: a resized shell writes its prompt anew
		if err := s.wait(end, 30*time.Second); err != nil {
			return fmt.Errorf("fill pane %d: %w", i+1, err)
		}
		if i < 3 {
			s.press(k.splits[i])
		}
	}
	var all, busy []time.Duration
	for range b.runs {
		if err := s.leave(k); err != nil {
			return err
		}
		before, _ := s.work()
		if err := s.start(k.argv[0], "attach"); err != nil {
			return err
		}
		if err := s.waitCount(end, 4, 20*time.Second); err != nil {
			return fmt.Errorf("look at 4 panes: %w", err)
		}
		all = append(all, time.Since(s.born))
		after, _ := s.work()
		busy = append(busy, after-before)
		s.drain(500 * time.Millisecond)
	}
	b.note(k, "attach to 4 panes with 10,000 lines each, ms / processor time", "%.0f / %.1f", quantile(all, .5), quantile(busy, .5))
	return nil
}

// terminals is what terminals cost the host: with a full history each, and 200
// idle ones to look at from the command line.
func (b *bench) terminals(k kind) error {
	if k.name != "tandemux" {
		return nil
	}
	s, err := b.open(k)
	if err != nil {
		return err
	}
	defer s.close()
	h, ok := s.host()
	if !ok {
		return fmt.Errorf("the host is not there")
	}
	const full = 10
	before, interface0 := h.pss(), s.memory()-h.pss()
	var id string
	for range full {
		if id, err = s.command(b.tandemux, "new", "--background", "--size", "120x40", "--", "sh", "-c", lines+`done; sleep 1000`); err != nil {
			return err
		}
		if _, err := s.command(b.tandemux, "wait", id, "--text", "done", "--timeout", "30s"); err != nil {
			return err
		}
	}
	time.Sleep(2 * rest) // The host packs histories and collects garbage.
	b.note(k, "each terminal with 10,000 lines of 120: host, MiB", "%.1f", mib(h.pss()-before)/full)
	b.note(k, "the same: interface and keeper, MiB", "%.1f", mib(s.memory()-h.pss()-interface0)/full)
	for range 200 - full {
		if id, err = s.command(b.tandemux, "new", "--background", "--", "sleep", "1000"); err != nil {
			return err
		}
	}
	for _, argv := range [][]string{{"ls"}, {"read", "--screen", id}} {
		var all []time.Duration
		for range 20 {
			start := time.Now()
			if _, err := s.command(append([]string{b.tandemux}, argv...)...); err != nil {
				return err
			}
			all = append(all, time.Since(start))
		}
		b.note(k, "200 terminals: tandemux "+strings.Join(argv[:len(argv)-len(argv)/2], " ")+", ms", "%.0f", quantile(all, .5))
	}
	return nil
}

// fanout is how fast one terminal prints with so many subscribers, and what the
// host's memory does.
func (b *bench) fanout(k kind) error {
	if k.name != "tandemux" {
		return nil
	}
	path, err := b.file("ascii")
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	for _, n := range []int{1, 10, 100} {
		if err := b.fanoutTo(k, n, path, float64(info.Size())/1e6); err != nil {
			return fmt.Errorf("%d subscribers: %w", n, err)
		}
	}
	return nil
}

// viewer counts what arrives of a terminal's output.
type viewer struct {
	bytes     atomic.Int64
	snapshots atomic.Int64
	ended     sync.Once
	done      chan struct{}
}

func (v *viewer) end() { v.ended.Do(func() { close(v.done) }) }

const last = "\u2058" // printed at the end

// Snapshot comes at first, and again to a viewer that could not keep up.
func (v *viewer) Snapshot(s ahp.Snapshot) {
	v.snapshots.Add(1)
	if bytes.Contains(s.State, []byte(last)) || bytes.Contains(s.Text, []byte(last)) {
		v.end()
	}
}

// Action is output that was missed, too.
func (v *viewer) Action(e ahp.Envelope) {
	if d, is := e.Action.(ahp.TerminalData); is {
		v.Data(e.Channel, []byte(d.Data), e.ServerSeq)
	}
}

func (v *viewer) Gone(ahp.URI)                {}
func (v *viewer) Status(client.Status, error) {}

func (v *viewer) Data(_ ahp.URI, data []byte, _ int64) {
	v.bytes.Add(int64(len(data)))
	if tail := data[max(0, len(data)-64):]; strings.Contains(string(tail), last) {
		v.end()
	}
}

// ours is this process's own processor time.
func ours() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &u) //nolint:errcheck // then it is zero
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (b *bench) fanoutTo(k kind, n int, path string, size float64) error {
	s, err := b.open(k)
	if err != nil {
		return err
	}
	defer s.close()
	const times = 6 // 100 MB
	id, err := s.command(b.tandemux, "new", "--background", "--", "sh", "-c",
		"read x; for i in 1 2 3 4 5 6; do cat "+path+"; done; printf '"+octal(last)+"'; sleep 1000")
	if err != nil {
		return err
	}
	out, err := s.command(b.tandemux, "ls", "--json")
	if err != nil {
		return err
	}
	var rows []struct{ ID, URI string }
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		return err
	}
	uri := ""
	for _, r := range rows {
		if r.ID == id {
			uri = r.URI
		}
	}
	viewers := make([]*viewer, n)
	for i := range viewers {
		v := &viewer{done: make(chan struct{})}
		viewers[i] = v
		c, err := client.Connect(context.Background(), client.Options{Sink: v, Wants: client.Wants{Print: v}, Reconnect: true, Dial: func(ctx context.Context) (jsonrpc.Transport, error) {
			return wsrpc.Dial(ctx, wsrpc.Target{URL: "unix://" + s.home + "/run/tandemux/host.sock"})
		}})
		if err != nil {
			return err
		}
		defer c.Close()
		if err := c.Subscribe(context.Background(), uri); err != nil {
			return err
		}
	}
	h, _ := s.host()
	before, most := h.pss(), int64(0)
	cpu, _ := h.work()
	own := ours()
	if _, err := s.command(b.tandemux, "send", id, "--enter", "go"); err != nil {
		return err
	}
	start := time.Now()
	for _, v := range viewers {
		for open := true; open; {
			select {
			case <-v.done:
				open = false
			case <-time.After(200 * time.Millisecond):
				most = max(most, h.pss())
				if time.Since(start) > 3*time.Minute {
					return errTimeout
				}
			}
		}
	}
	took := time.Since(start).Seconds()
	used, _ := h.work()
	cpu, own = used-cpu, ours()-own
	again, got := int64(0), int64(0)
	for _, v := range viewers {
		again += v.snapshots.Load() - 2 // of the root and of the terminal
		got += v.bytes.Load()
	}
	b.note(k, fmt.Sprintf("cat 100 MB to %d subscribers, MB/s; host's memory before, most, MiB; fresh starts; output each had, MB; processor time of host, viewers, s", n),
		"%.1f; %.0f, %.0f; %d; %.0f; %.1f, %.1f",
		size*times/took, mib(before), mib(most), again, float64(got)/1e6/float64(n), cpu.Seconds(), own.Seconds())
	return nil
}
