package main

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLittleSpace: a limit of addresses that is too low is said in a sentence. Below some
// 700 MiB Go's runtime ends before any code of ours.
func TestLittleSpace(t *testing.T) {
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &was); err != nil {
		t.Skip(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_AS, &was) //nolint:errcheck // it is the soft limit
	if err := enoughSpace(); err != nil {
		t.Skip(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: leastSpace - 1, Max: was.Max}); err != nil {
		t.Skip(err)
	}
	if err := enoughSpace(); err == nil || !strings.Contains(err.Error(), "1535 MiB, and tandemux needs 1536: raise it with `ulimit -v unlimited`") {
		t.Errorf("%v", err)
	}
}
