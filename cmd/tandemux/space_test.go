//go:build linux && cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLittleSpace: a limit of addresses that is too low is said in a sentence.
func TestLittleSpace(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "tandemux")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	for _, limit := range []string{"204800", "614400", "1228800"} { // KiB
		out, err := exec.Command("sh", "-c", "ulimit -v "+limit+"; exec "+program+" ls").CombinedOutput()
		if text := string(out); err == nil || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "tandemux: the limit of address space ") {
			t.Errorf("with %s KiB: %v: %.300s", limit, err, text)
		}
	}
}
