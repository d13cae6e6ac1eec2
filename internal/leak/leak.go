package leak

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// Patience is how long goroutines may take to end after the last test.
const Patience = 5 * time.Second

// Apart runs the tests with a home directory and one for temporary files of their own, which go
// at the end with all that killed programs have left in them.
func Apart(m interface{ Run() int }) int {
	dir, err := os.MkdirTemp("", "t") // sockets want short paths
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	// For other users, too, as the system's is.
	if err := errors.Join(os.Chmod(dir, 0o777|os.ModeSticky), os.Setenv("TMPDIR", dir)); err != nil {
		panic(err)
	}
	if err := ownHome(filepath.Join(dir, "home")); err != nil {
		panic(err)
	}
	// git bisect and git's hooks say by these which repository theirs is; a test's git is to have its own.
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"} {
		os.Unsetenv(name) //nolint:errcheck // it has no = in it
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // a fifth of the time of tests that talk a lot is the collector's
	}
	return m.Run()
}

// ownHome makes a home directory without what shells read at their start, which may take
// long or wait, as pyenv does for its lock. Go has its cache where it was.
func ownHome(home string) error {
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil // nor has Go, then
	}
	config, _ := os.UserConfigDir()
	for name, value := range map[string]string{
		"GOCACHE": filepath.Join(cache, "go-build"), "GOPATH": filepath.Join(os.Getenv("HOME"), "go"), "GOENV": filepath.Join(config, "go", "env"),
	} {
		if os.Getenv(name) == "" {
			os.Setenv(name, value) //nolint:errcheck // it has no = in it
		}
	}
	return errors.Join(os.Mkdir(home, 0o755), os.Setenv("HOME", home))
}

// Main runs the tests Apart, then exits with 1 when goroutines that the tests started
// are still there after Patience.
func Main(m *testing.M) {
	before := Now()
	code := Apart(m)
	if code == 0 {
		if left := Wait(before, Patience); len(left) > 0 {
			fmt.Fprintf(os.Stderr, "leak: %d goroutines left:\n\n%s\n", len(left), strings.Join(left, "\n\n"))
			code = 1
		}
	}
	os.Exit(code)
}

// InMemory is Main, with -short with the temporary files in memory where there is room for
// them: of tests that have git write, half of the time is the disk's. Not for tests whose
// sandboxes need of these files what they are not given: their /dev is their own. A git that a
// test calls tidies up nothing.
func InMemory(m *testing.M) {
	for name, value := range map[string]string{"COUNT": "1", "KEY_0": "maintenance.auto", "VALUE_0": "false"} {
		os.Setenv("GIT_CONFIG_"+name, value) //nolint:errcheck // else it costs time
	}
	flag.Parse()
	if dir := memory(); testing.Short() && dir != "" && os.Getenv("TMPDIR") == "" {
		os.Setenv("TMPDIR", dir) //nolint:errcheck // else they are on the disk
	}
	Main(m)
}

// Wait waits until no goroutine runs that is not in before, for at most d, and
// returns the stacks of those that do.
func Wait(before map[string]string, d time.Duration) []string {
	deadline := time.Now().Add(d)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		var left []string
		for id, stack := range Now() {
			if _, old := before[id]; !old {
				left = append(left, stack)
			}
		}
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		time.Sleep(pause)
	}
}

// Now gives the goroutines that run, for Wait: "goroutine 7" with its stack, without those of
// the runtime and the testing package.
func Now() map[string]string {
	buf := make([]byte, 1<<16)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	found := map[string]string{}
	for _, g := range bytes.Split(buf, []byte("\n\n")) {
		stack := strings.TrimSpace(string(g))
		id, _, _ := strings.Cut(stack, " [")
		if stack != "" && !ignored(stack) {
			found[id] = stack
		}
	}
	return found
}

// ignored names goroutines that no test owns.
func ignored(stack string) bool {
	for _, s := range []string{
		"tandemux/internal/leak.Now(", // the caller
		"testing.(*M).startAlarm",
		"testing.(*F).Fuzz",
		"testing.runFuzzing",
		"os/signal.signal_recv",
		"os/signal.loop",
		"runtime.ensureSigM",
		"runtime/trace.Start",
		"internal/fuzz.",
		"tandemux/internal/memtrim.init.", // one for the process
	} {
		if strings.Contains(stack, s) {
			return true
		}
	}
	return false
}
