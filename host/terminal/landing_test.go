package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandemux/ahp"
	"tandemux/host/journal"
)

// landed has a terminal read into a landing of few slots.
func landed(t *testing.T, slots int) (*journal.Landing, func(*Config)) {
	t.Helper()
	o := journal.Options{Area: 4096, Slots: slots}
	_, l, err := journal.Create(make([]byte, o.Size()), o)
	if err != nil {
		t.Fatal(err)
	}
	return l, func(c *Config) { c.Landing, c.Emulator, c.delays.escape = l, null{}, time.Hour }
}

// The reader waits for what was taken to be released, however few slots there
// are, and nothing is lost by that.
func TestReleased(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 2, 8} {
		const lines = 150000
		l, config := landed(t, slots)
		h := start(t, fmt.Sprintf("stty -opost -echo; read x; seq %d; read x; exit 0", lines), startOptions{config: config, manual: true})
		h.input("\n")
		// It is taken and not released: the landing fills up.
		var offsets []uint64
		h.poll("the landing to be full", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			actions, k := h.term.Take()
			h.note(actions)
			offsets = append(offsets, k.Offset)
			h.term.queue.mu.Lock()
			defer h.term.queue.mu.Unlock()
			return h.term.starved
		})
		at := offsets[len(offsets)-1]
		h.term.screen.Lock()
		if n := h.term.offset; n < l.Size()/2 || n > l.Size() {
			t.Errorf("%d slots: %d bytes were read into %d", slots, n, l.Size())
		}
		h.term.screen.Unlock()
		if l.Released() != 0 {
			t.Errorf("released up to %d", l.Released())
		}
		h.term.Released(at)
		h.poll("the rest", func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			actions, k := h.term.Take()
			h.note(actions)
			h.term.Released(k.Offset)
			return strings.HasSuffix(h.data.String(), fmt.Sprintf("\n%d\n", lines))
		})
		h.input("\n")
		// The shell may echo Enter before stty has run.
		if got := strings.TrimLeft(h.output(), "\r\n"); strings.Count(got, "\n") != lines || !strings.HasPrefix(got, "1\n2\n3\n") {
			t.Errorf("%d slots: %d bytes came, not all", slots, len(got))
		}
	}
}

// Output of which nothing is left for anybody, marks of someone else, say, wakes
// the holder, too, before the landing is full of it.
func TestOnlyMarks(t *testing.T) {
	t.Parallel()
	_, config := landed(t, 4)
	const marks = 100000
	h := start(t, fmt.Sprintf(`stty -opost -echo; read x; yes $'\e]7501;wrong;C;1\a\e]7501;wrong;D;1\a' | head -n %d | tr -d '\n'; echo done; read x`, marks), startOptions{config: config, manual: true})
	h.input("\n")
	seen := 0
	for !strings.Contains(h.output(), "done\n") {
		h.await("a call of Wake", func() bool { return len(h.wakes) > seen })
		h.mu.Lock()
		seen = len(h.wakes)
		actions, k := h.term.Take()
		h.note(actions)
		h.term.Released(k.Offset)
		h.mu.Unlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, a := range h.actions {
		if _, echo := a.(ahp.TerminalEchoChanged); echo {
			continue
		}
		if d, ok := a.(ahp.TerminalData); !ok || strings.Trim(d.Data, "\r\n") != "done" && strings.Trim(d.Data, "\r\n") != "" {
			t.Errorf("%.100v", a)
		}
	}
}

// A terminal that printed much and then nothing, not even a prompt, gives its landing back
// when it is packed, and reads on.
func TestLandingAtRest(t *testing.T) {
	t.Parallel()
	_, config := landed(t, 8)
	h := start(t, `stty -opost -echo; read x; seq 100000; read x; echo more; read x`, startOptions{config: config, manual: true})
	until := func(end string) {
		t.Helper()
		h.input("\n")
		h.poll(end, func() bool {
			h.mu.Lock()
			defer h.mu.Unlock()
			actions, k := h.term.Take()
			h.note(actions)
			h.term.Released(k.Offset)
			return strings.HasSuffix(h.data.String(), end)
		})
	}
	until("\n100000\n")
	h.poll("the landing to be given back", func() bool {
		h.term.Pack()
		return !h.term.source.Busy() && h.term.source.Parked()
	})
	until("\nmore\n")
}
