package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/host/task/registry"
	"tandemux/host/task/store"
)

// TestBoundsAreWritten: pages give bounds that packages have no table of as they are.
// Those of connections, terminals and sessions are host's (TestLimitsAreWritten).
func TestBoundsAreWritten(t *testing.T) {
	for _, said := range [][2]string{
		{"from-tmux.md", fmt.Sprintf("| clipboard | OSC 52, writing only, up to %d MiB |", emulator.MaxClipboard>>20)},
		{"tasks.md", fmt.Sprintf("| messages that wait, of a task | %s | | a message | %d MiB | | `--params` | %d KiB |",
			thousands(store.MaxPending), store.MaxContent>>20, store.MaxParams>>10)},
		{"http.md", fmt.Sprintf("newest %s events, or %d MiB", thousands(store.MaxStream), store.MaxStreamRaw>>20)},
		{"deploying.md", fmt.Sprintf("%s files and %d MiB at most", thousands(registry.MaxCodeFiles), registry.MaxCodeBytes>>20)},
		{"deploying.md", "newest " + thousands(store.MaxLogs) + " lines are kept"},
	} {
		page, want := said[0], said[1]
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
			t.Errorf("docs/%s does not say %q", page, want)
		}
	}
}

func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
