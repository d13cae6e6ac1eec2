package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tandemux/ahp"
	"tandemux/internal/soak"
)

// TestRecoveryTime measures how long fifty terminals, each with a megabyte and more
// of history and some of them printing, are without a host that was killed, up to
// the answer of the next one; and until a client has what it missed.
func TestRecoveryTime(t *testing.T) {
	soak.Only(t, "it measures")
	const rounds = 20
	m := startMortal(t)
	c, mirror := m.client("owner")
	const terminals = 50
	for i := range terminals {
		uri := fmt.Sprint("ahp-terminal:/r", i)
		script := `i=0; while [ $i -lt 15000 ]; do i=$((i+1)); echo "line $i of a terminal with a history, as a build or a test prints it"; done; echo ready; `
		if i < 5 {
			script += `while sleep 0.02; do echo tick; done`
		} else {
			script += `exec cat`
		}
		m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
			Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "owner"}, Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", script}},
		}, nil)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if err := c.Subscribe(ctx, uri); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	for i := range terminals {
		m.shows(mirror, fmt.Sprint("ahp-terminal:/r", i), "ready")
	}
	time.Sleep(2 * time.Second) // let the last checkpoints be whole
	m.took = nil
	var back []time.Duration
	for i := range rounds {
		m.kill()
		began := time.Now()
		m.revive()
		c.Retry()
		mark := fmt.Sprintf("mark-%d-", i)
		uri := fmt.Sprint("ahp-terminal:/r", 5+i%45)
		m.types(c, uri, mark+"\n")
		m.until("the mark is back", func() bool {
			s, _ := mirror.Terminal(uri)
			have := text(s)
			return strings.Contains(have[max(0, len(have)-4096):], mark)
		})
		back = append(back, time.Since(began))
	}
	for _, d := range [][]time.Duration{m.took, back} {
		slices.Sort(d)
		t.Logf("p50 %v, p99 %v, longest %v", d[len(d)/2], d[len(d)*99/100], d[len(d)-1])
	}
	m.leaveNothing(c)
}

// TestQuietMemory: half a minute after a flood the keeper holds only what a next
// host needs, and that is all there.
func TestQuietMemory(t *testing.T) {
	soak.Only(t, "it takes most of a minute")
	m := startMortal(t)
	c, mirror := m.client("owner")
	const uri = "ahp-terminal:/flood"
	m.call(c, ahp.MethodCreateTerminal, ahp.CreateTerminalParams{
		Channel: uri, Claim: ahp.Claim{Kind: ahp.ClaimClient, ClientID: "owner"},
		Meta: &ahp.CreateMeta{Command: []string{"sh", "-c", `yes "some output" | head -c 20000000; echo ready; exec cat`}},
	}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := c.Subscribe(ctx, uri); err != nil {
		t.Fatal(err)
	}
	m.shows(mirror, uri, "ready")
	used := func() (kib int64) {
		m.blocks(func(_ string, blocks int64) { kib += blocks / 2 })
		return kib
	}
	before := used()
	deadline := time.Now().Add(90 * time.Second)
	for used() > before/2 {
		if time.Now().After(deadline) {
			t.Fatalf("%d KiB after %d", used(), before)
		}
		time.Sleep(time.Second)
	}
	after := used()
	m.kill()
	m.revive()
	c.Retry()
	m.types(c, uri, "still\n")
	m.shows(mirror, uri, "still")
	s, _ := mirror.Terminal(uri)
	if n := strings.Count(text(s), "some output"); n < 1000 {
		t.Errorf("%d lines are left", n)
	}
	t.Logf("%d KiB, then %d", before, after)
	m.leaveNothing(c)
}

// blocks gives the size in blocks of each memory file that the keeper holds, as
// its process shows them.
func (m *mortal) blocks(f func(name string, blocks int64)) {
	m.t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", m.keeperPid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		link, _ := os.Readlink(name)
		if !strings.Contains(link, "tandemux-journal") {
			continue
		}
		var st unix.Stat_t
		if unix.Stat(name, &st) == nil {
			f(link, st.Blocks)
		}
	}
}
