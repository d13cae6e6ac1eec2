//go:build race

package host_test

// slow says that this build takes several times as long.
const slow = true
