package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
)

// What the seat belt refuses is in the audit log (the status line: ui, TestRefusalsAreSaid).
func TestRefusalsAreSeen(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	a := newAgent(w, "claude")
	for range 2 {
		a.blocked("sudo: nobody", "run_command", m{"line": "sudo make install"})
	}
	w.Eventually("the audit log", func() bool {
		b, err := os.ReadFile(filepath.Join(w.Dir, ".local/state/tandemux/audit.log"))
		return err == nil && strings.Contains(string(b), "Command blocked for security reasons")
	})
}
