package main

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"

	"tandemux/internal/soak"
)

// besideEnv names the test that a process of this binary is for.
const besideEnv = "TANDEMUX_TEST_BESIDE"

// beside runs a test that sets its process's environment in a process of its own, at the same
// time as others, and reports that it did: the test is over then. In a soak, where tests
// follow each other and are watched, it stays in this one.
func beside(t *testing.T) bool {
	t.Helper()
	switch by := os.Getenv(besideEnv); {
	case by == t.Name() || soak.Time(t) > 0:
		return false
	case by != "": // a pattern with | may name both, and each would begin the other again and again
		t.Skip("this process is for " + by)
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := "^" + t.Name() + "$"
	if _, part, cut := strings.Cut(flag.Lookup("test.run").Value.String(), "/"); cut {
		run += "/" + part
	}
	cmd := exec.Command(self, append(os.Args[1:len(os.Args):len(os.Args)], "-test.run="+run, "-test.count=1", "-test.v", "-test.testlogfile=")...)
	cmd.Env = append(os.Environ(), besideEnv+"="+t.Name())
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	switch {
	case err != nil:
		t.Fatal(err)
	case strings.Contains(string(out), "--- SKIP: "+t.Name()+" "):
		t.SkipNow()
	}
	return true
}
