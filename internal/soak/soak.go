package soak

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Time is how long each test that goes on at random does so: TANDEMUX_SOAK, such as
// "10m"; 0, once through, where it is not set.
func Time(t testing.TB) time.Duration {
	t.Helper()
	s := os.Getenv("TANDEMUX_SOAK")
	if s == "" {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		t.Fatalf("TANDEMUX_SOAK: %q is no time, such as 10m", s)
	}
	return d
}

// Size is how many of something a test takes: few, or many in a soak.
func Size(t testing.TB, few, many int) int {
	t.Helper()
	if Time(t) > 0 {
		return many
	}
	return few
}

// Short is how many of something a test takes with -short, as `make test` has it, and else.
func Short(short, full int) int {
	if testing.Short() {
		return short
	}
	return full
}

// Long skips a test with -short.
func Long(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("long: %s: make test-long runs it", why)
	}
}

// Only skips a test that is worth its time in a soak alone.
func Only(t testing.TB, why string) {
	t.Helper()
	if Time(t) == 0 {
		t.Skipf("%s: make soak runs it", why)
	}
}

// Seed is by chance, and logged; TANDEMUX_SEED repeats a run.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv("TANDEMUX_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("TANDEMUX_SEED=%d", seed)
	return seed
}
