package mcp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandemux/internal/hosttest"
)

// What the seat belt refuses is seen: by tandemux ls, by tandemux doctor, and in the
// audit log (the status line: ui, TestRefusalsAreSaid).
func TestRefusalsAreSeen(t *testing.T) {
	t.Parallel()
	w := hosttest.New(t, "")
	a := newAgent(w, "claude")
	for range 2 {
		a.blocked("sudo: nobody", "run_command", m{"line": "sudo make install"})
	}
	ls := w.Command("ls")
	var errs bytes.Buffer
	ls.Stderr = &errs
	out, err := ls.Output()
	w.Must(err)
	want := "claude: sudo make install (nobody is here to allow it: sudo) at "
	if !strings.Contains(errs.String(), "not allowed: "+want) || !strings.Contains(errs.String(), ", 2 times") {
		t.Errorf("ls says %s and %s", out, errs.String())
	}
	if got := w.Tandemux("doctor"); !strings.Contains(got, want) {
		t.Errorf("doctor says %s", got)
	}
	w.Eventually("the audit log", func() bool {
		b, err := os.ReadFile(filepath.Join(w.Dir, ".local/state/tandemux/audit.log"))
		return err == nil && strings.Contains(string(b), "Command blocked for security reasons")
	})
}
