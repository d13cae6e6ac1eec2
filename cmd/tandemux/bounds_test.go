package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"tandemux/emulator"
	"tandemux/host/task/registry"
)

// TestBoundsAreWritten: pages give bounds that packages have no table of as they are.
// Those of connections, terminals and sessions are host's (TestLimitsAreWritten).
func TestBoundsAreWritten(t *testing.T) {
	for page, want := range map[string]string{
		"programs.md":  fmt.Sprintf("| clipboard | OSC 52, writing only, up to %d MiB, ", emulator.MaxClipboard>>20),
		"deploying.md": fmt.Sprintf("%d,%03d files and %d MiB at most", registry.MaxCodeFiles/1000, registry.MaxCodeFiles%1000, registry.MaxCodeBytes>>20),
	} {
		text, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(text)), " "), want) {
			t.Errorf("docs/%s does not say %q", page, want)
		}
	}
}
