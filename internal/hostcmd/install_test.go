package hostcmd

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadProbe(t *testing.T) {
	for _, c := range []struct{ said, platform, there, fails string }{
		{"Linux\nx86_64\n", "linux/amd64", "none now", ""},
		{"welcome\nLinux\naarch64\n/usr/bin/tandemux\ntandemux version 1.2\n", "linux/arm64", "/usr/bin/tandemux tandemux version 1.2 now", ""},
		{"Darwin\narm64\n", "darwin/arm64", "none now", ""},
		{"Linux\nriscv64\n", "", "", `its processor is "riscv64"`},
		{"FreeBSD\namd64\n", "", "", "no system that tandemux runs on"},
		{"", "", "", "no system"},
		{"Linux", "", "", "no system"},
	} {
		platform, there, err := readProbe(c.said)
		if platform != c.platform || there != c.there || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%q: %q, %q, %v", c.said, platform, there, err)
		}
	}
}

// TestPlatformOf: programs are told apart by what they are, not by their names.
func TestPlatformOf(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := platformOf(self); err != nil || got != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("this program is for %q, %v", got, err)
	}
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := platformOf(script); err == nil {
		t.Errorf("a script is for %s", got)
	}
}

// FuzzProbe: whatever a machine says, its answer is one of the kinds that there are.
func FuzzProbe(f *testing.F) {
	f.Add("Linux\nx86_64\n/usr/bin/tandemux\n\x1b[2Jtandemux version 1\n")
	f.Fuzz(func(t *testing.T, said string) {
		platform, there, err := readProbe(said)
		if err == nil && (strings.Count(platform, "/") != 1 || strings.ContainsAny(there, "\x1b\n")) {
			t.Fatalf("%q: %q, %q", said, platform, there)
		}
	})
}
