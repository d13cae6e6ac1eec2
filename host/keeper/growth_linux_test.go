package keeper

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"tandemux/internal/soak"
)

// private is a process's memory of its own, in bytes.
func private(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Private_Dirty:"); ok {
			kb, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kb << 10
		}
	}
	t.Fatal("no figure for the memory")
	return 0
}

// TestGrowth: a thousand terminals that came and went leave nothing: no memory, no
// descriptor, no goroutine.
func TestGrowth(t *testing.T) {
	t.Parallel()
	n := soak.Size(t, 300, 3000)
	k := startKeeper(t, "/usr/bin/env", "GOGC=25") // as tandemux keeper runs
	c := k.dial()
	ctx := context.Background()
	cycle := func(i int) {
		id := fmt.Sprint("ahp-terminal:/", i)
		s := shell(id, "exit 3")
		s.Note = make([]byte, 1<<10)
		p, err := c.Spawn(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		p.Pty.Close()
		if err := c.Store(ctx, id, memory(t, "x")); err != nil {
			t.Fatal(err)
		}
		if e := exit(t, c); e.ID != id || e.Code != 3 {
			t.Fatalf("exit = %+v", e)
		}
		if err := c.Forget(ctx, id); err != nil {
			t.Fatal(err)
		}
		if err := c.Discard(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 { // until its pools are full
		cycle(i)
	}
	files, goroutines, before := k.files(), k.goroutines(), private(t, k.cmd.Process.Pid)
	for i := range n {
		cycle(100 + i)
	}
	after := private(t, k.cmd.Process.Pid)
	t.Logf("%d terminals later: %d kB of its own, %d kB before", n, after>>10, before>>10)
	if got := k.files(); got != files {
		t.Errorf("%d descriptors, %d before", got, files)
	}
	if got := k.goroutines(); got != goroutines {
		t.Errorf("%d goroutines, %d before", got, goroutines)
	}
	if after > before+2<<20 && !raceEnabled {
		t.Errorf("it grew by %d kB", (after-before)>>10)
	}
}
