package memtrim

import (
	"os"
	"strings"
	"testing"
)

// TestProgram: the program goes on with its pages unmapped.
func TestProgram(t *testing.T) {
	before := mapped(t)
	if err := unmapProgram(); err != nil {
		t.Fatal(err)
	}
	after := mapped(t)
	if after >= before {
		t.Errorf("%d KiB of the program are mapped, %d before", after, before)
	}
	t.Logf("%d KiB, then %d KiB", before, after)
	for _, s := range []string{"", "400000", "4-", "-4", "9-4", "x-y"} {
		if _, _, err := addresses(s); err == nil {
			t.Errorf("%q is a range", s)
		}
	}
}

// mapped is how much of files is mapped into this process, in KiB.
func mapped(t *testing.T) (kib int) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "RssFile:" {
			for _, c := range f[1] {
				kib = 10*kib + int(c-'0')
			}
		}
	}
	return kib
}
