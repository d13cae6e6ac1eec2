package acp

import (
	"os"
	"testing"

	"tandemux/internal/acptest"
	"tandemux/internal/leak"
)

// The test binary is the scripted agent, too.
func TestMain(m *testing.M) {
	if script, ok := os.LookupEnv("ACPTEST_SCRIPT"); ok {
		os.Exit(acptest.Main(script))
	}
	leak.Main(m)
}
